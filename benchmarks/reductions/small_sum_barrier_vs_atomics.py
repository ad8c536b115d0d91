"""Sum a small array: one work-item, atomics, or one work-group with barriers."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, inout, kernel
from xebench import kernel_api as kapi

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="small_sum_barrier_vs_atomics",
    catalogue=("E43",),
    guide="Synchronization among Threads in a Kernel / Local Barriers vs Global Atomics",
    lesson="One work-group that meets at barriers can be enough for a small sum; which way wins depends on the device.",
    # which of the three wins depends on the device, says the guide (G 3890), and of atomics alone what it expects
    claim=Claim("faster", against="global_atomics", strength="implied", source="G 3839 to 3857"),
    presets={
        "smoke": {"n": (1 << 14, 16381)},
        "default": {"n": (1 << 10, 1 << 14, 1 << 18)},
        "guide": {"n": 1024 * 256},
    },
    axes={"work_group_size": (256, 512)},  # 512, and the size, are of the guide's published program
    short_launches="the sum is small: that is the lesson",
)


@kernel
def add_serially(item: kapi.Item, x, total):
    if item.get_id(0) == 0:
        result = np.int32(0)
        for k in range(x.shape[0]):
            result = np.int32(result + x[k])
        total[0] = result


@kernel
def add_atomically(item: kapi.NdItem, x, total):
    i = item.get_global_id(0)
    if i < x.shape[0]:
        kapi.AtomicRef(total, index=0).fetch_add(x[i])


@kernel
def add_in_one_group(item: kapi.NdItem, x, total, scratch):
    lane = item.get_local_id(0)
    active = item.get_local_range(0)
    own = np.int32(0)
    for k in range(lane, x.shape[0], active):
        own = np.int32(own + x[k])
    scratch[lane] = own
    while active > 1:
        half = (active + 1) // 2
        kapi.group_barrier(item.get_group())
        if lane + half < active:
            scratch[lane] += scratch[lane + half]
        active = half
    if lane == 0:
        total[0] = scratch[0]


@pattern.problem
def numbers(rng, n):
    return Problem(
        x=rng.integers(1, 100, n, dtype=np.int32),
        total=inout(np.zeros(1, np.int32)),
        bytes_moved=4 * n,
        operations=n,
        operation_kind="int32",
    )


@pattern.reference
def expected(p):
    return {"total": [p.x.sum()]}


@pattern.naive
def one_work_item(session, p):
    """A work-item for each element, of which the first walks through the array, and the others do nothing."""
    session.launch(add_serially, kapi.Range(p.n), p.x, p.total)


@pattern.intermediate
def global_atomics(session, p, work_group_size):
    """A work-item an element; all of them update one number in global memory."""
    groups = ceil_div(p.n, work_group_size)
    session.launch(add_atomically, kapi.NdRange((groups * work_group_size,), (work_group_size,)), p.x, p.total)


@pattern.optimized
def one_work_group(session, p, work_group_size):
    """One work-group: strided sums of its own, then a tree in shared local memory."""
    scratch = kapi.LocalAccessor(work_group_size, np.int32)
    session.launch(add_in_one_group, kapi.NdRange((work_group_size,), (work_group_size,)), p.x, p.total, scratch)


in_opencl(pattern, one_work_group)
