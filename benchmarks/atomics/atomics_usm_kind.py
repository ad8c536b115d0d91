"""Let atomics update device memory: a discrete GPU need not support them in memory of the host."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="atomics_usm_kind",
    catalogue=("E41",),
    guide="Synchronization among Threads in a Kernel / Atomic Operations on USM Data",
    lesson="Keep what atomics update in device memory: in host memory they need not work, or cross the bus.",
    presets={
        "smoke": {"n": (1 << 12, 4093)},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 20, per_lane=8)}},
        "guide": {"n": 1 << 20},
    },
    own_sizes="the guide has no program",
    axes={"work_group_size": (256,)},
)

BINS = 1024


@kernel
def count(item: kapi.NdItem, x, counts):
    i = item.get_global_id(0)
    if i < x.shape[0]:
        kapi.AtomicRef(counts, x[i]).fetch_add(np.int32(1))


@pattern.problem
def numbers(rng, n):
    return Problem(
        x=rng.integers(0, BINS, n, dtype=np.int32),
        counts=output(BINS, np.int32),
        bytes_moved=4 * n + 4 * BINS,
        operations=n,
        operation_kind="int32",
    )


@pattern.reference
def expected(p):
    return {"counts": np.bincount(p.x, minlength=BINS)}


def count_in(session, p, work_group_size, usm):
    """A histogram whose bins lie in one kind of memory; what is counted is in device memory always."""
    bins = session.alloc(BINS, np.int32, usm=usm)
    groups = ceil_div(p.n, work_group_size)

    def timed():
        session.fill(bins, 0)
        session.launch(count, kapi.NdRange((groups * work_group_size,), (work_group_size,)), p.x, bins)
        session.copy(p.counts, bins)

    return timed


# Where the device itself says that it cannot, the variant is skipped, and the guide's claim holds. What the guide says
# besides, that host and device may not use shared memory at the same time (G 3805), is no variant: where it is not
# supported, whatever it did would prove nothing.
# The guide says it of discrete GPUs (G 3802), and nothing in dpctl says which those are: on others it may run.
@pattern.naive(
    claim=Claim("error", kind="usm_atomic_host", on=("gpu",), strength="ours", source="G 3804"),
    requires=("usm_host", "usm_atomic_host"),
)
def in_host_memory(session, p, work_group_size):
    """Host USM, so that the host can read the counts without a copy."""
    return count_in(session, p, work_group_size, "host")


@pattern.intermediate(requires=("usm_shared",))
def in_shared_memory(session, p, work_group_size):
    """Shared USM, which moves to the device that uses it."""
    return count_in(session, p, work_group_size, "shared")


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 3807"))
def in_device_memory(session, p, work_group_size):
    """Device USM."""
    return count_in(session, p, work_group_size, "device")
