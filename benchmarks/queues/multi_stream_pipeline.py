"""Process several independent streams of frames at once: the frames of one stream wait for each other."""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

from ..common.staging import host_array

pattern = Pattern(
    name="multi_stream_pipeline",
    catalogue=("multi_stream_pipeline",),
    guide="Media / Media Pipeline Parallelism",
    lesson="Frames of a stream depend on each other, streams do not: give each its own queue, and wait at the end.",
    presets={
        "smoke": {"pixels": (1 << 10, 1021), "frames": 2, "streams": 2},
        "default": {"pixels": {"cpu": 1 << 14, "gpu": 1 << 18}, "frames": 6, "streams": 4},
        "guide": {"pixels": 1920 * 1080, "frames": 10, "streams": 4},
    },
    own_sizes="the guide names no sizes: full HD",
    stand_in="The guide's streams are videos, which media engines decode. PyAV reaches these (FFmpeg with Intel's "
    "oneVPL), but without a GPU its h264_qsv opens no session, so nothing could be tried. A kernel between two copies "
    "takes the place of a decoder.",
    metric="span",
    requires=("usm_host",),
)


@kernel
def blend(item: kapi.Item, frame, state):
    i = item.get_id(0)
    state[i] = np.float32(0.5) * (state[i] + frame[i])


@pattern.problem
def videos(rng, pixels, frames, streams):
    return Problem(
        # whole numbers and halves of them, few times: sums are exact
        video=rng.integers(0, 256, (streams, frames, pixels), dtype=np.uint8).astype(np.float32),
        shown=output((streams, frames, pixels), np.float32, host=True),
        host_bytes=2 * 4 * streams * frames * pixels,
        operations=2 * streams * frames * pixels,
        operation_kind="fp32",
    )


@pattern.reference
def expected(p):
    state, shown = np.zeros_like(p.video[:, 0]), np.empty_like(p.video)
    for frame in range(p.frames):
        state = np.float32(0.5) * (state + p.video[:, frame])
        shown[:, frame] = state
    return {"shown": shown}


def play(session, p, queues, *, frame_by_frame, wait_after_each=False):
    """The sample: frames are copied in, blended with those before, and copied out; each stream by its queue.

    Args:
        queues: one for each stream.
        frame_by_frame: take the next frame of every stream in turn, else one stream after another.
        wait_after_each: the host waits for each frame.
    """
    shape = p.streams, p.frames, p.pixels
    source, source_view = host_array(session, shape, np.float32)
    result, result_view = host_array(session, shape, np.float32)
    source_view[:] = p.host.video
    frames, states = ([session.alloc(p.pixels, np.float32) for _ in queues] for _ in range(2))
    order = [(stream, frame) for stream in range(p.streams) for frame in range(p.frames)]
    if frame_by_frame:
        order.sort(key=lambda place: place[1])

    def sample():
        for state, queue in zip(states, queues, strict=True):
            session.fill(state, 0, queue=queue)
        for stream, frame in order:
            queue = queues[stream]
            session.copy(frames[stream], source[stream, frame], queue=queue)
            session.launch(blend, kapi.Range(p.pixels), frames[stream], states[stream], queue=queue)
            session.copy(result[stream, frame], states[stream], queue=queue)
            if wait_after_each:
                session.wait()
        session.wait()
        p.shown[:] = result_view

    return sample


@pattern.naive
def one_stream_frame_by_frame(session, p):
    """One stream after another, and the host waits for each frame before it sends the next."""
    return play(session, p, [session.new_queue()] * p.streams, frame_by_frame=False, wait_after_each=True)


@pattern.intermediate(claim=Claim("faster", strength="implied", source="G 22001"))
def one_stream_without_waiting(session, p):
    """The host waits at the end alone, but all frames are in one row."""
    return play(session, p, [session.new_queue()] * p.streams, frame_by_frame=False)


@pattern.optimized(claim=Claim("faster", against="one_stream_without_waiting", strength="implied", source="G 21987"))
def queue_for_each_stream(session, p):
    """Frames of several streams are in flight, and the queue of each keeps its own in order."""
    return play(session, p, [session.new_queue() for _ in range(p.streams)], frame_by_frame=True)
