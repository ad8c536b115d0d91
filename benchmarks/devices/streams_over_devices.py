"""Streams of frames over several devices: whole streams for each device, or a part of every frame?"""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

from ..common import parts

pattern = Pattern(
    name="streams_over_devices",
    catalogue=("streams_over_devices",),
    guide="Media Graphics Computing / Multi-Stream",
    lesson="A frame needs the one before, a stream needs no other: give each device streams of its own.",
    presets={
        "smoke": {"n": (1 << 10, 1021), "frames": 2, "streams": 4},
        "default": {"n": {"cpu": 1 << 16, "gpu": 1 << 22}, "frames": 8, "streams": 4},
        "guide": {"n": 1920 * 1080, "frames": 60, "streams": 8},  # a second of video; the guide names no size
    },
    axes={"devices": (2,)},
    metric="wall",
)


# In place of a codec, which SYCL does not reach: a frame follows from the one before, a neighbour's element included.
@kernel
def next_frame(item: kapi.NdItem, before, frame):
    i = item.get_global_id(0)
    if i < frame.shape[0] - 1:
        frame[i] = (before[i] + before[i + 1]) // 2


@pattern.problem
def first_frames(rng, n, streams):
    return Problem(
        first=rng.integers(0, 1000, (streams, n), dtype=np.int32), last=output((streams, n), np.int32, host=True)
    )


@pattern.reference
def expected(p):
    frame = p.first
    for _ in range(p.frames):
        frame = (frame + np.roll(frame, -1, axis=1)) // 2  # the last element's neighbour is the first
    return {"last": frame}


class Part:
    """A part of a stream's frames on one device: of this frame and the one before, each with a neighbour's element."""

    def __init__(self, session, queue, first):
        self.session, self.queue, self.n = session, queue, first.size
        self.first = np.append(first, first[:1])
        self.frames = [session.alloc(self.n + 1, np.int32, queue=queue) for _ in range(2)]

    def begin(self):
        """Receive the first frame from the host."""
        self.session.copy(self.frames[0], self.first, queue=self.queue)

    def compute(self, number, depends=()):
        """Compute a frame from the one before."""
        before, frame = self.frames[(number - 1) % 2], self.frames[number % 2]
        return self.session.launch(next_frame, parts.items(self.n), before, frame, depends=depends, queue=self.queue)

    def hand_over(self, number, neighbour, depends=()):
        """Give the first element of a frame to the part that needs it as its neighbour's."""
        source, target = self.frames[number % 2][:1], neighbour.frames[number % 2][-1:]
        return self.session.copy(target, source, depends=depends, queue=self.queue)

    def end(self, number, target):
        """Send a frame to the host."""
        self.session.copy(target, self.frames[number % 2][: self.n], queue=self.queue)


def whole_streams(session, p, queues, shares):
    """A sample: each queue's device computes as many streams as its share asks, frame after frame."""
    streams = []
    for queue, numbers in zip(queues, parts.slices(p.streams, shares), strict=True):
        streams += [(number, Part(session, queue, p.host.first[number])) for number in range(p.streams)[numbers]]

    def sample():
        for _number, stream in streams:
            stream.begin()
        for frame in range(1, p.frames + 1):
            for _number, stream in streams:
                stream.compute(frame)
                stream.hand_over(frame, stream)
        for number, stream in streams:
            stream.end(p.frames, p.last[number])

    return sample


@pattern.naive
def one_device(session, p, devices):
    """The first device computes all streams."""
    return whole_streams(session, p, session.queues_on(devices)[:1], [1])


# Every frame is awaited by the other device, which needs an element of it.
@pattern.intermediate(
    claim=Claim("slower", against="streams_apart", on=("gpu",), strength="implied", source="G 21969 to 21987")
)
def every_frame_cut(session, p, devices):
    """Each device has a part of every frame; neighbouring parts exchange an element after each."""
    queues, places = session.queues_on(devices), parts.slices(p.n, [1] * devices)
    streams = []
    for number in range(p.streams):
        row = p.host.first[number]
        own = [Part(session, queue, row[where]) for queue, where in zip(queues, places, strict=True)]
        for part, neighbour in zip(own, own[1:] + own[:1], strict=True):
            part.first[-1] = neighbour.first[0]
        streams.append(own)

    def sample():
        for own in streams:
            exchange(p, own)
        for number, own in enumerate(streams):
            for part, where in zip(own, places, strict=True):
                part.end(p.frames, p.last[number][where])

    return sample


def exchange(p, own):
    """Compute all frames of a stream of which each part is on another device."""
    for part in own:
        part.begin()
    handed = [()] * len(own)
    for frame in range(1, p.frames + 1):
        computed = [part.compute(frame, depends) for part, depends in zip(own, handed, strict=True)]
        # the left neighbour needs it, when it no longer reads what lies there
        handed = [(own[(k + 1) % len(own)].hand_over(frame, part, [computed[k]]),) for k, part in enumerate(own)]


@pattern.optimized(claim=Claim("faster", on=("gpu",), source="G 21987 to 21991"))
def streams_apart(session, p, devices):
    """Each device has as many streams, of which it needs nothing from the others."""
    return whole_streams(session, p, session.queues_on(devices), [1] * devices)


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 21991"))
def streams_by_speed(session, p, devices):
    """Each device has as many streams as it computes in the same time; a stream is not cut."""
    queues = session.queues_on(devices)
    return whole_streams(session, p, queues, speeds(session, p, queues))


def speeds(session, p, queues):
    """Frames that each device computes in a nanosecond, alone; the second counts."""
    found = []
    for queue in queues:
        stream = Part(session, queue, p.host.first[0])
        stream.begin()
        for frame in (1, 2):
            event = stream.compute(frame)
            event.wait()
        _submit_ns, start_ns, end_ns = event.times()
        found.append(1 / max(1, end_ns - start_ns))
    return found
