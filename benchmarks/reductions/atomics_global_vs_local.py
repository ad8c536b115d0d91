"""Let a work-group count in shared local memory, and go to global memory once."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, inout, kernel
from xebench import kernel_api as kapi

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="atomics_global_vs_local",
    catalogue=("E40",),
    guide="Synchronization among Threads in a Kernel / Atomic Operations in Global and Local Address Spaces",
    lesson="Atomic updates of global memory are much slower than those of shared local memory: take one per group.",
    claim=Claim("faster", source="G 3709 to 3747"),
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        "default": {"n": {"cpu": 1 << 20, "gpu": fit(1 << 22, per_lane=128)}},
        "guide": {"n": 256 * 256},
    },
    axes={"work_group_size": (256, 512)},  # the guide's is 512
)


@kernel
def add_to_global(item: kapi.NdItem, x, total):
    i = item.get_global_id(0)
    if i < x.shape[0]:
        kapi.AtomicRef(total, index=0).fetch_add(x[i])


@kernel
def add_to_local(item: kapi.NdItem, x, total, of_group):
    i = item.get_global_id(0)
    lane = item.get_local_id(0)
    # shared local memory starts with whatever was there
    if lane == 0:
        of_group[0] = np.int32(0)
    kapi.group_barrier(item.get_group())
    if i < x.shape[0]:
        sum_of_group = kapi.AtomicRef(
            of_group,
            index=0,
            memory_scope=kapi.MemoryScope.WORK_GROUP,
            address_space=kapi.AddressSpace.LOCAL,
        )
        sum_of_group.fetch_add(x[i])
    kapi.group_barrier(item.get_group())
    if lane == 0:
        kapi.AtomicRef(total, index=0).fetch_add(of_group[0])


@pattern.problem
def numbers(rng, n):
    return Problem(
        x=rng.integers(1, 8, n, dtype=np.int32),  # small: the sum of 2**28 fits into 32 bits
        total=inout(np.zeros(1, np.int32)),
        bytes_moved=4 * n,
        operations=n,
        operation_kind="int32",
    )


@pattern.reference
def expected(p):
    return {"total": [p.x.sum()]}


def one_item_an_element(p, work_group_size):
    groups = ceil_div(p.n, work_group_size)
    return kapi.NdRange((groups * work_group_size,), (work_group_size,))


@pattern.naive
def global_atomics(session, p, work_group_size):
    """Every work-item updates one number in global memory."""
    session.launch(add_to_global, one_item_an_element(p, work_group_size), p.x, p.total)


@pattern.optimized
def local_atomics(session, p, work_group_size):
    """Every work-item updates its group's number in shared local memory; one item a group updates the global one."""
    of_group = kapi.LocalAccessor(1, np.int32)
    session.launch(add_to_local, one_item_an_element(p, work_group_size), p.x, p.total, of_group)


in_opencl(pattern, local_atomics)
