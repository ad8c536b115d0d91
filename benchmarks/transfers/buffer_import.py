"""Let SYCL's runtime import the host memory of a buffer, which a device then copies by itself."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="buffer_import",
    catalogue=("E65",),
    guide="Host/Device Memory, Buffer and USM / Optimizing Data Transfers",
    lesson="A buffer of pageable memory is copied through a staging buffer, or by way of an import with one variable.",
    presets={
        "smoke": {"n": (1 << 14, 16381)},
        "default": {"n": {"cpu": 1 << 20, "gpu": fit(1 << 24, per_cache_byte=1 / 16)}},
        "guide": {"n": 64_000_000},  # 256 million bytes, of the section's program
    },
    metric="wall",
)


@kernel
def increment(item: kapi.Item, data):
    i = item.get_id(0)
    data[i] += np.int32(1)


@pattern.problem
def one_array(rng, n):
    return Problem(start=rng.integers(0, 1 << 30, n, dtype=np.int32), data=output(n, np.int32, host=True))


@pattern.reference
def expected(p):
    return {"data": p.start + 1}


def in_and_out(session, p):
    """A buffer goes to the device for one kernel, and comes back at the end of its scope."""
    p.data[:] = p.host.start
    with session.buffer(p.data) as data:
        session.launch(increment, kapi.Range(p.n), session.accessor(data))


@pattern.naive
def pageable(session, p):
    """The buffer's memory stays as it was allocated."""
    in_and_out(session, p)


@pattern.optimized(
    requires=("level_zero",),
    environment={"SYCL_USM_HOSTPTR_IMPORT": "1"},
    claim=Claim("faster", on=("gpu",), strength="implied", source="G 7000 to 7019"),
)
def imported(session, p):
    """The runtime makes it host USM when the buffer is made, and releases it with the buffer."""
    in_and_out(session, p)
