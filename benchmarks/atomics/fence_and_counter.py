"""Show numbers in memory before you count yourself in: who comes last sees them behind a fence."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="fence_and_counter",
    catalogue=("E38",),
    guide="Multi-GPU and Multi-Stack Architecture and Programming / GPU Memory System",
    lesson="An atomic counter says that others have come, not that what they wrote before is to be seen: fences do.",
    presets={
        "smoke": {"n": (1 << 12, 4093)},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 22, per_lane=128)}},
        "guide": {"n": 1 << 22},
    },
    own_sizes="the guide lists the mechanisms, without a program",
    axes={"work_group_size": (256,)},
)

SHARERS = 16  # neighbouring work-items that share a sum


@kernel
def add_behind_fences(item: kapi.NdItem, x, sums, shown, arrived):
    i = item.get_global_id(0)
    shown[i] = x[i] if i < x.shape[0] else np.int32(0)
    kapi.atomic_fence(kapi.MemoryOrder.ACQ_REL, kapi.MemoryScope.DEVICE)
    before = kapi.AtomicRef(arrived, i // SHARERS).fetch_add(np.int32(1))
    if before == SHARERS - 1:
        kapi.atomic_fence(kapi.MemoryOrder.ACQ_REL, kapi.MemoryScope.DEVICE)
        total = np.int32(0)
        for k in range(SHARERS):
            total = np.int32(total + shown[i // SHARERS * SHARERS + k])
        arrived[i // SHARERS] = np.int32(0)  # for the next launch
        if i // SHARERS < sums.shape[0]:
            sums[i // SHARERS] = total


@kernel
def add_without_fences(item: kapi.NdItem, x, sums, shown, arrived):
    i = item.get_global_id(0)
    shown[i] = x[i] if i < x.shape[0] else np.int32(0)
    before = kapi.AtomicRef(arrived, i // SHARERS).fetch_add(np.int32(1))
    if before == SHARERS - 1:
        total = np.int32(0)
        for k in range(SHARERS):
            total = np.int32(total + shown[i // SHARERS * SHARERS + k])
        arrived[i // SHARERS] = np.int32(0)
        if i // SHARERS < sums.shape[0]:
            sums[i // SHARERS] = total


@pattern.problem
def numbers(rng, n):
    sums = ceil_div(n, SHARERS)
    return Problem(
        x=rng.integers(0, 1 << 20, n, dtype=np.int32),
        sums=output(sums, np.int32),
        bytes_moved=4 * n + 4 * sums,
        operations=n - sums,
        operation_kind="int32",
    )


@pattern.reference
def expected(p):
    return {"sums": np.add.reduceat(p.x, np.arange(0, p.n, SHARERS))}


def launcher(session, p, work_group_size, add):
    padded = ceil_div(p.n, work_group_size) * work_group_size
    shown, arrived = session.alloc(padded, np.int32), session.alloc(padded // SHARERS, np.int32)
    session.fill(arrived, 0)
    space = kapi.NdRange((padded,), (work_group_size,))
    return lambda: session.launch(add, space, p.x, p.sums, shown, arrived)


@pattern.naive(claim=Claim("may be wrong", on=("gpu",), strength="implied", source="G 16634, 16638"))
def counter_without_fence(session, p, work_group_size):
    """Each shows its number in memory, then counts itself in: who comes last may see the counter before the numbers."""
    return launcher(session, p, work_group_size, add_without_fences)


@pattern.optimized
def fence_and_counter(session, p, work_group_size):
    """A fence before each counts itself in, and another before the last one adds up."""
    return launcher(session, p, work_group_size, add_behind_fences)
