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

SHARERS = 16  # work-items that share a sum, each in another work-group: what a thread wrote it sees itself


@kernel
def add_behind_fences(item: kapi.NdItem, x, sums, shown, arrived):
    i = item.get_global_id(0)
    if i < shown.shape[0]:
        shown[i] = x[i] if i < x.shape[0] else np.int32(0)
        kapi.atomic_fence(kapi.MemoryOrder.ACQ_REL, kapi.MemoryScope.DEVICE)
        place = i % sums.shape[0]
        before = kapi.AtomicRef(arrived, place).fetch_add(np.int32(1))
        if before == SHARERS - 1:
            kapi.atomic_fence(kapi.MemoryOrder.ACQ_REL, kapi.MemoryScope.DEVICE)
            total = np.int32(0)
            for k in range(SHARERS):
                total = np.int32(total + shown[k * sums.shape[0] + place])
            arrived[place] = np.int32(0)  # for the next launch
            sums[place] = total


@kernel
def add_without_fences(item: kapi.NdItem, x, sums, shown, arrived):
    i = item.get_global_id(0)
    if i < shown.shape[0]:
        shown[i] = x[i] if i < x.shape[0] else np.int32(0)
        place = i % sums.shape[0]
        before = kapi.AtomicRef(arrived, place).fetch_add(np.int32(1))
        if before == SHARERS - 1:
            total = np.int32(0)
            for k in range(SHARERS):
                total = np.int32(total + shown[k * sums.shape[0] + place])
            arrived[place] = np.int32(0)
            sums[place] = total


@pattern.problem
def numbers(rng, n):
    sums = ceil_div(n, SHARERS)
    x = rng.integers(0, 1 << 20, n, dtype=np.int32)
    return Problem(x=x, sums=output(sums, np.int32), bytes_moved=4 * n + 4 * sums)


@pattern.reference
def expected(p):
    numbers = np.zeros((SHARERS, ceil_div(p.n, SHARERS)), np.int32)
    numbers.ravel()[: p.n] = p.x
    return {"sums": numbers.sum(axis=0, dtype=np.int32)}


def launcher(session, p, work_group_size, add):
    count = p.sums.size
    shown, arrived = session.alloc(SHARERS * count, np.int32), session.alloc(count, np.int32)
    session.fill(arrived, 0)
    space = kapi.NdRange((ceil_div(shown.size, work_group_size) * work_group_size,), (work_group_size,))
    return lambda: session.launch(add, space, p.x, p.sums, shown, arrived)


@pattern.naive(claim=Claim("may be wrong", on=("gpu",), strength="implied", source="G 16634, 16638"))
def counter_without_fence(session, p, work_group_size):
    """Each shows its number in memory, then counts itself in: who comes last may see the counter before the numbers."""
    return launcher(session, p, work_group_size, add_without_fences)


@pattern.optimized
def fence_and_counter(session, p, work_group_size):
    """A fence before each counts itself in, and another before the last one adds up."""
    return launcher(session, p, work_group_size, add_behind_fences)
