"""Streams of frames over several devices: whole streams for each device, or a part of every frame?"""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi

from ..common import parts, staying_parts

pattern = Pattern(
    name="streams_over_devices",
    catalogue=("streams_over_devices",),
    guide="Media Graphics Computing / Multi-Stream",
    lesson="A frame needs the one before, a stream needs no other: give each device streams of its own.",
    presets={
        "smoke": {"n": (1 << 10, 1021), "frames": 2, "streams": 4},
        # a launch each as long as the host's own: ten would need 13 GB on the H200
        "default": {
            "n": {"cpu": 1 << 16, "gpu": fit(1 << 22, bytes_each=8, launches=1)},
            "frames": 8,
            "streams": 4,
        },
        "guide": {"n": 1920 * 1080, "frames": 60, "streams": 8},
    },
    own_sizes="a second of video; the guide names no size",
    stand_in="The guide's frames are compressed by media engines. PyAV reaches these (FFmpeg with Intel's oneVPL), but "
    "without a GPU its h264_qsv opens no session, so nothing could be tried. A kernel in which a frame follows from "
    "the one before takes the place of a codec.",
    # the whole program with its copies, or the frames alone
    axes={"devices": (2,), "data": ("copied", "stays")},
    metric="wall",
    requires=("several_devices",),
)


# A frame follows from the one before, a neighbour's element included.
@kernel
def next_frame(item: kapi.NdItem, before, frame):
    i = item.get_global_id(0)
    if i < frame.shape[0] - 1:
        frame[i] = (before[i] + before[i + 1]) // 2


@pattern.problem
def first_frames(rng, n, streams, data):
    first = rng.integers(0, 1000, (streams, n), dtype=np.int32)
    if data == "stays":
        return Problem(first=first, sums=output(staying_parts.SUMS, np.int32, host=True))
    return Problem(first=first, last=output((streams, n), np.int32, host=True))


@pattern.reference
def expected(p):
    frame = p.first
    for _ in range(p.frames):
        frame = (frame + np.roll(frame, -1, axis=1)) // 2  # the last element's neighbour is the first
    return {"last": frame} if p.data == "copied" else {"sums": staying_parts.folded(frame.ravel())}


class Part:
    """A part of a stream's frames on one device: of this frame and the one before, each with a neighbour's element."""

    def __init__(self, session, queue, p, stream, where=slice(None)):
        row = p.host.first[stream]
        own = row[where]
        self.session, self.queue, self.n, self.place = session, queue, own.size, (stream, where)
        self.number = stream * p.n + (where.start or 0)  # of its first element, among those of all streams
        self.from_host = np.append(own, row[(where.stop or 0) % p.n])
        self.first, *self.frames = (session.alloc(self.n + 1, np.int32, queue=queue) for _ in range(3))
        self.receive()

    def receive(self):
        """Receive the first frame from the host."""
        self.session.copy(self.first, self.from_host, queue=self.queue)

    def frame(self, number):
        """A frame's array, which that of the frame after the next overwrites."""
        return self.frames[number % 2] if number else self.first

    def compute(self, number):
        """Compute a frame from the one before."""
        space, arrays = parts.items(self.n), (self.frame(number - 1), self.frame(number))
        return self.session.launch(next_frame, space, *arrays, queue=self.queue)

    def fetch(self, number, neighbour, depends=()):
        """Fetch the neighbour's first element of a frame."""
        source, target = neighbour.frame(number)[:1], self.frame(number)[-1:]
        return self.session.copy(target, source, depends=depends, queue=self.queue)


def program(session, p, streams, compute):
    """A sample: the parts of all streams, computed frame after frame, with their copies where the case has them."""
    all_parts = [part for stream in streams for part in stream]
    results = [(part.queue, part.number, part.frame(p.frames)[: part.n]) for part in all_parts]
    fold_all = staying_parts.folder(session, p, results) if p.data == "stays" else None

    def sample():
        for part in all_parts if p.data == "copied" else ():
            part.receive()
        compute()
        if fold_all:
            fold_all()
            return
        for part, (queue, _number, last) in zip(all_parts, results, strict=True):
            session.copy(p.last[part.place], last, queue=queue)

    return sample


def whole_streams(session, p, queues, shares):
    """A sample: each queue's device computes as many streams as its share asks, frame after frame."""
    streams = []
    for queue, numbers in zip(queues, parts.slices(p.streams, shares), strict=True):
        streams += [[Part(session, queue, p, number)] for number in range(p.streams)[numbers]]

    def compute():
        for frame in range(1, p.frames + 1):
            for (stream,) in streams:
                stream.compute(frame)
                stream.fetch(frame, stream)

    return program(session, p, streams, compute)


@pattern.naive
def one_device(session, p, devices):
    """The first device computes all streams."""
    return whole_streams(session, p, session.queues_on(devices)[:1], [1])


# Every frame is awaited by the other device, which needs an element of it. The guide advises against it for the quality
# of what is compressed (G 21970 to 21987), and says nothing of time.
@pattern.intermediate(claim=Claim("slower", against="streams_apart", on=("gpu",)))
def every_frame_cut(session, p, devices):
    """Each device has a part of every frame; neighbouring parts exchange an element after each."""
    queues, places = session.queues_on(devices), parts.slices(p.n, [1] * devices)
    streams = [
        [Part(session, queue, p, number, where) for queue, where in zip(queues, places, strict=True)]
        for number in range(p.streams)
    ]

    def compute():
        for own in streams:
            exchange(p, own)

    return program(session, p, streams, compute)


def exchange(p, own):
    """Compute all frames of a stream of which each part is on another device."""
    fetched = [[] for _ in own]
    for frame in range(1, p.frames + 1):
        computed = [part.compute(frame) for part in own]
        neighbours = [(k + 1) % len(own) for k in range(len(own))]
        # when the neighbour has computed the frame, and the part before has fetched what this one overwrites next
        fetched = [
            [part.fetch(frame, own[right], [computed[right], *fetched[k - 1]])]
            for k, (part, right) in enumerate(zip(own, neighbours, strict=True))
        ]


@pattern.optimized(
    claim=(
        Claim("faster", where={"data": "stays"}, on=("gpu",), source="G 21987 to 21991"),
        Claim("faster", where={"data": "copied"}, on=("gpu",), strength="implied", source="G 21987 to 21991"),
    )
)
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
        stream = Part(session, queue, p, 0)
        for frame in (1, 2):
            event = stream.compute(frame)
            event.wait()
        _submit_ns, start_ns, end_ns = event.times()
        found.append(1 / max(1, end_ns - start_ns))
    return found
