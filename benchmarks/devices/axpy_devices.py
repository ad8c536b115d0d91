"""Add a scaled vector to another on several devices: each is sent its part, and sends its result back."""

import numpy as np

from xebench import Claim, Figure, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

from ..common import parts

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
    axes={"devices": (2,)},
    metric="wall",
)

FACTOR = 3


# In place of the library's AXPY, which dpnp does not offer; of 32-bit numbers, which every device has.
@kernel
def add_scaled_to(item: kapi.NdItem, x, y):
    i = item.get_global_id(0)
    if i < y.shape[0]:
        y[i] = y[i] + np.float32(FACTOR) * x[i]


@pattern.problem
def two_vectors(rng, n):
    x, y = (rng.integers(0, 100, n, dtype=np.uint8).astype(np.float32) for _ in range(2))
    return Problem(x=x, y=y, result=output(n, np.float32, host=True), host_bytes=3 * 4 * n)


@pattern.reference
def expected(p):
    return {"result": p.y + np.float32(FACTOR) * p.x}


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
            session.launch(add_scaled_to, parts.items(y.shape[0]), x, y, queue=queue)
            session.copy(p.result[where], y, queue=queue)

    return sample


@pattern.naive
def one_device(session, p, devices):
    """One device is sent everything."""
    return axpy_on(session, p, session.queues_on(devices)[:1])


@pattern.optimized(claim=Claim("faster", on=("gpu",), figure=Figure(2.0, line="G 18926")))
def every_device(session, p, devices):
    """Each device is sent its part, over a link of its own where it has one."""
    return axpy_on(session, p, session.queues_on(devices))
