"""Send the next work before the last is over: a device whose queue runs dry lowers its clock."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, inout, kernel
from xebench import kernel_api as kapi

pattern = Pattern(
    name="keep_queue_full",
    catalogue=("keep_queue_full_clock",),
    guide="Media / Optimizing Media Operations",
    lesson="A full queue keeps the clock up: kernels themselves take longer after a pause, beside the pause itself.",
    presets={
        "smoke": {"n": (1 << 10, 1021), "frames": 3, "steps": 20},
        "default": {
            "n": {"cpu": 1 << 14, "gpu": fit(1 << 18, per_lane=4)},
            "frames": 8,
            "steps": {"cpu": 400, "gpu": 2000},
        },
        "guide": {"n": 1920 * 1080, "frames": 30, "steps": 400},
    },
    own_sizes="the guide names no sizes: a second of full HD",
    metric="device",  # the time in kernels alone: gaps between them are no part of it
    stand_in="The guide speaks of the clock of media engines. PyAV reaches these (FFmpeg with Intel's oneVPL), but "
    "without a GPU its h264_qsv opens no session, so nothing could be tried. The clock of the compute engine is looked "
    "at instead, by the times of kernels after a pause.",
)

PAUSE_S = 0.005  # "a few milliseconds", in which a device has time to lower its clock


@kernel
def work(item: kapi.Item, x, steps):
    i = item.get_id(0)
    value = x[i]
    for _ in range(steps):
        value = value * np.int32(1103515245) + np.int32(12345)
    x[i] = value


@pattern.problem
def numbers(rng, n, frames, steps):
    return Problem(
        x=inout(rng.integers(0, 1 << 30, n, dtype=np.int32)),
        bytes_moved=2 * 4 * n * frames,
        operations=2 * steps * frames * n,
        operation_kind="int32",
    )


@pattern.reference
def expected(p):
    # a step is x -> a x + b modulo 2**32; all of them together are one such step
    factor, summand = 1, 0
    for _ in range(p.steps * p.frames):
        factor, summand = factor * 1103515245 % 2**32, (summand * 1103515245 + 12345) % 2**32
    return {"x": (p.x.view(np.uint32) * np.uint32(factor) + np.uint32(summand)).view(np.int32)}


def frames(session, p, between):
    for _ in range(p.frames):
        session.launch(work, kapi.Range(p.n), p.x, p.steps)
        between()


@pattern.naive
def wait_for_each_frame(session, p):
    """The host waits for a frame before it sends the next: the queue is empty for as long as that takes."""
    frames(session, p, between=session.wait)


@pattern.antipattern(claim=Claim("slower", strength="implied", on=("gpu",), source="G 22003"))
def pause_after_each_frame(session, p):
    """And then it has work of its own, for which a sleep stands: the queue is empty for milliseconds."""

    def pause():
        session.wait()
        session.pause(PAUSE_S)

    frames(session, p, between=pause)


# The guide speaks of engines that lower their clock when they wait for long: a gap of microseconds is ours.
@pattern.optimized(
    claim=(
        Claim("faster", against="pause_after_each_frame", strength="implied", on=("gpu",), source="G 22003"),
        Claim("faster", on=("gpu",)),
    )
)
def deep_queue(session, p):
    """All frames are sent at once."""
    frames(session, p, between=lambda: None)
