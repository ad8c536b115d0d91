"""Take large work-groups where the work-items of a group work together: fewer groups, and fewer that must meet."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, inout, kernel
from xebench import kernel_api as kapi

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="work_group_size_reduction",
    catalogue=("E44",),
    guide="Kernels / Considerations for Selecting Work-Group Size",
    lesson="Each work-group adds its sum to the total by one atomic: sixteen times as many groups are as many atomics.",
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        "default": {"n": {"cpu": 1 << 22, "gpu": fit(1 << 25, bytes_each=4)}},
        "guide": {"n": 10 << 20},  # of the guide's published program
    },
    # The guide's sub-groups are of 16, and its launches have as many work-items as the length over the work-group's
    # size: groups of 1024 leave a 64th of those of 16. In launches that fill the device only the cut differs.
    axes={"sub_group_size": "device", "items": ("length over size", "filling")},
    requires=("sub_groups",),
    state="cold",  # the guide flushes the caches between its runs
)

LARGEST = 1024  # of GPUs; a CPU device offers more, which would leave it one work-group


@kernel(sub_group_size="sub_group_size")
def sum_of_group(item: kapi.NdItem, x, total, scratch):
    lane = item.get_local_id(0)
    own = np.int32(0)
    i = item.get_global_id(0)
    while i < x.shape[0]:
        own = np.int32(own + x[i])
        i += item.get_global_range(0)
    scratch[lane] = own
    active = item.get_local_range(0)
    while active > 1:
        active = active // 2
        kapi.group_barrier(item.get_group())
        if lane < active:
            scratch[lane] += scratch[lane + active]
    if lane == 0:
        kapi.AtomicRef(total, index=0).fetch_add(scratch[0])


@pattern.problem
def integers(rng, n):
    return Problem(
        x=rng.integers(0, 4, n, dtype=np.int32),  # small: the sum of 2**29 fits into 32 bits
        total=inout(np.zeros(1, np.int32)),
        bytes_moved=4 * n,
        operations=n,
        operation_kind="int32",
    )


@pattern.reference
def expected(p):
    return {"total": [p.x.sum(dtype=np.int32)]}


def in_groups_of(size, session, p, items):
    """A launch in work-groups of this size, which is a power of two."""
    filling = ceil_div(session.lanes, LARGEST) * LARGEST
    number = filling if items == "filling" else ceil_div(p.n, size * size) * size
    scratch = kapi.LocalAccessor(size, np.int32)
    return lambda: session.launch(sum_of_group, kapi.NdRange((number,), (size,)), p.x, p.total, scratch)


@pattern.naive
def one_sub_group(session, p, sub_group_size, items):
    """A work-group is one sub-group: 16 work-items in the guide."""
    return in_groups_of(sub_group_size, session, p, items)


@pattern.intermediate
def two_sub_groups(session, p, sub_group_size, items):
    """Twice that; the guide speaks of this size, and runs the one above."""
    return in_groups_of(2 * sub_group_size, session, p, items)


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), source="G 3894, 3978"),
        Claim("faster", against="two_sub_groups", on=("gpu",), source="G 3894, 3978"),
    )
)
def largest_group(session, p, items):
    """The largest work-group that the device allows."""
    return in_groups_of(min(LARGEST, session.device.max_work_group_size), session, p, items)


in_opencl(pattern, largest_group)
