"""Let neighbouring work-items add up their numbers: by barriers of two widths, by atomics, or by a copy's event."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, inout, kernel, opencl_kernel
from xebench import kernel_api as kapi
from xebench.dpex import sub_group

pattern = Pattern(
    name="sync_mechanisms",
    catalogue=("E38",),
    guide="Synchronization among Threads in a Kernel / Overview",
    lesson="Barriers and atomics can do the same job at different cost: wait for as few as the job needs.",
    presets={
        "smoke": {"n": (1 << 12, 4093)},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 22, per_lane=128)}},
        "guide": {"n": 1 << 22},
    },
    own_sizes="the guide lists the mechanisms, without a program",
    # As many neighbours as a sub-group has lanes share a sum, so that even the narrowest barrier is wide enough.
    axes={"sub_group_size": "device", "work_group_size": (256,)},
    requires=("sub_groups",),
)

# Of the guide's list, fences are in `fence_and_counter`, accessors order kernels (`accessor_modes`), and hierarchical
# dispatch cannot be said (SYCL 2020 has given it up; a kernel with a barrier is what it meant).


@kernel(sub_group_size="sub_group_size")
def add_with_group_barriers(item: kapi.NdItem, x, sums, scratch):
    i, place, lanes = item.get_global_id(0), item.get_local_id(0), sub_group.max_size()
    scratch[place] = x[i] if i < x.shape[0] else np.int32(0)
    half = lanes // 2
    while half > 0:
        kapi.group_barrier(item.get_group())
        if sub_group.local_id() < half:
            scratch[place] += scratch[place + half]
        half //= 2
    if sub_group.local_id() == 0 and i < x.shape[0]:
        sums[i // lanes] = scratch[place]


@kernel(sub_group_size="sub_group_size")
def add_with_sub_group_barriers(item: kapi.NdItem, x, sums, scratch):
    i, place, lanes = item.get_global_id(0), item.get_local_id(0), sub_group.max_size()
    scratch[place] = x[i] if i < x.shape[0] else np.int32(0)
    half = lanes // 2
    while half > 0:
        sub_group.barrier()
        if sub_group.local_id() < half:
            scratch[place] += scratch[place + half]
        half //= 2
    if sub_group.local_id() == 0 and i < x.shape[0]:
        sums[i // lanes] = scratch[place]


@kernel(sub_group_size="sub_group_size")
def add_atomically(item: kapi.NdItem, x, sums):
    i = item.get_global_id(0)
    if i < x.shape[0]:
        kapi.AtomicRef(sums, i // sub_group.max_size()).fetch_add(x[i])


# Events of copies within a kernel need OpenCL C.
sum_copied = opencl_kernel("""
__kernel void sum_copied(__global const int *x, __global int *sums, __local int *tile, int n, int lanes) {
    const int place = get_local_id(0), first = get_group_id(0) * get_local_size(0);
    const int there = min((int)get_local_size(0), n - first);
    event_t copied = async_work_group_copy(tile, x + first, there, 0);
    wait_group_events(1, &copied);
    if (place % lanes == 0 && place < there) {
        int total = 0;
        for (int k = place; k < min(place + lanes, there); ++k)
            total += tile[k];
        sums[(first + place) / lanes] = total;
    }
}
""")


@pattern.problem
def numbers(rng, n, sub_group_size):
    sums = ceil_div(n, sub_group_size)
    return Problem(
        x=rng.integers(0, 1 << 20, n, dtype=np.int32),
        sums=inout(np.zeros(sums, np.int32)),
        bytes_moved=4 * n + 4 * sums,
        operations=n - sums,
        operation_kind="int32",
    )


@pattern.reference
def expected(p):
    return {"sums": np.add.reduceat(p.x, np.arange(0, p.n, p.sub_group_size))}


def items(p, work_group_size):
    return kapi.NdRange((ceil_div(p.n, work_group_size) * work_group_size,), (work_group_size,))


@pattern.naive
def group_barrier(session, p, work_group_size):
    """A tree in shared local memory; the whole work-group meets before each step."""
    scratch = kapi.LocalAccessor(work_group_size, np.int32)
    session.launch(add_with_group_barriers, items(p, work_group_size), p.x, p.sums, scratch)


# "significant differences in efficiency", says the guide (G 3470), and not which way: the direction is ours
@pattern.optimized(claim=Claim("faster"))
def sub_group_barrier(session, p, work_group_size):
    """The same tree; only the lanes that share a sum meet."""
    scratch = kapi.LocalAccessor(work_group_size, np.int32)
    session.launch(add_with_sub_group_barriers, items(p, work_group_size), p.x, p.sums, scratch)


@pattern.intermediate
def atomics(session, p, work_group_size):
    """Each adds its number to the sum in global memory; nobody waits for anybody."""
    session.launch(add_atomically, items(p, work_group_size), p.x, p.sums)


@pattern.intermediate
def event_of_copy(session, p, work_group_size, sub_group_size):
    """The group's numbers are copied to shared local memory; all wait for the copy's event, one a sum adds."""
    scratch = kapi.LocalAccessor(work_group_size, np.int32)
    session.launch(sum_copied, items(p, work_group_size), p.x, p.sums, scratch, p.n, sub_group_size)
