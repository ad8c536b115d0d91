"""Add a scaled vector to another on several devices: each is sent its part, and sends its result back.

The guide's AXPY is of double precision, which not every GPU has and the lesson is not about.
"""

import numpy as np

from xebench import Claim, Figure, Pattern, Problem, output

from ..common import onemkl, parts, staying_parts

pattern = Pattern(
    name="axpy_devices",
    catalogue=("E87", "mkl_axpy_split_devices"),
    guide="Multiple Stacks / Scaling oneMKL in OpenMP",
    lesson="Half of a vector for each of two devices: each has half to compute, and half to receive and to send.",
    presets={
        "smoke": {"n": (1 << 12, 4093)},
        "default": {"n": {"cpu": 1 << 20, "gpu": 1 << 24}},
        "guide": {"n": 150_000_000},
    },
    # the whole program with its copies, as in the guide, or the additions alone
    axes={"devices": (2,), "data": ("copied", "stays")},
    metric="wall",
    requires=("onemkl", "several_devices"),
)

FACTOR = 3


@pattern.problem
def two_vectors(rng, n, data):
    x, y = (rng.integers(0, 128, n, dtype=np.uint8).astype(np.float32) for _ in range(2))
    if data == "stays":
        return Problem(x=x, y=y, sums=output(staying_parts.SUMS, np.int32, host=True))
    return Problem(x=x, y=y, result=output(n, np.float32, host=True), host_bytes=3 * 4 * n)


@pattern.reference
def expected(p):
    result = p.y + np.float32(FACTOR) * p.x
    return {"result": result} if p.data == "copied" else {"sums": staying_parts.folded(result)}


def axpy_on(session, p, queues):
    """A sample: each queue's device is sent its part, adds, and sends it back."""
    places = parts.slices(p.n, [1] * len(queues))
    space = [
        (queue, where, *(session.alloc(where.stop - where.start, np.float32, queue=queue) for _ in range(2)))
        for queue, where in zip(queues, places, strict=True)
    ]

    def sample():
        for queue, where, x, y in space:
            session.copy(x, p.host.x[where], queue=queue)
            session.copy(y, p.host.y[where], queue=queue)
            session.call(onemkl.axpy, FACTOR, x, y, queue=queue)
            session.copy(p.result[where], y, queue=queue)

    return sample


def axpy_there(session, p, queues):
    """A sample: each queue's device adds to a copy of its part, where the result stays."""
    space = []
    for queue, where in zip(queues, parts.slices(p.n, [1] * len(queues)), strict=True):
        x, y = parts.upload(session, queue, p.host.x[where], p.host.y[where])
        space.append((queue, where.start, x, y, session.alloc(y.shape, y.dtype, queue=queue)))
    fold_all = staying_parts.folder(session, p, [(queue, first, result) for queue, first, _x, _y, result in space])

    def sample():
        for queue, _first, x, y, result in space:
            session.copy(result, y, queue=queue)
            session.call(onemkl.axpy, FACTOR, x, result, queue=queue)
        fold_all()

    return sample


def program(data):
    """The sample."""
    return {"copied": axpy_on, "stays": axpy_there}[data]


@pattern.naive
def one_device(session, p, devices, data):
    """One device has everything."""
    return program(data)(session, p, session.queues_on(devices)[:1])


@pattern.optimized(
    claim=(
        # the guide's program maps the vectors to the devices and back (G 18788 to 18805)
        Claim("faster", where={"data": "copied"}, on=("gpu",), figure=Figure(2.0, line="G 18926")),
        Claim("faster", where={"data": "stays"}, on=("gpu",), strength="implied", source="G 18926"),
    )
)
def every_device(session, p, devices, data):
    """Each device has its part, which is sent over a link of its own where it has one."""
    return program(data)(session, p, session.queues_on(devices))
