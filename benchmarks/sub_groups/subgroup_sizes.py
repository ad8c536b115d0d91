"""Ask for a sub-group's size and for a work-item's place in it; require a size where that helps."""

import numpy as np

from xebench import Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi
from xebench.dpex import sub_group

pattern = Pattern(
    name="subgroup_sizes",
    catalogue=("E11",),
    guide="Kernels / Sub-Groups and SIMD Vectorization",
    lesson="The compiler chooses the sub-groups' size unless the kernel requires one; ask, and be right for any size.",
    presets={
        "smoke": {"n": (1 << 17, 4093 << 5)},
        "default": {"n": {"cpu": 1 << 21, "gpu": fit(1 << 25, per_lane=16, per_cache_byte=0.5)}},
        "guide": {"n": 32},
    },
    # The guide requires 32 lanes, of the sizes 8, 16 and 32 that devices may have (G 1146). It promises nothing:
    # sometimes, not always, that helps (G 1059). `xebench isa` tells the compiler's choice.
    axes={"work_group_size": (32,)},
    requires=("sub_groups",),
)


def sum_groups_in(lanes):
    """The kernel for sub-groups of ``lanes``; None leaves the size to the compiler."""

    @kernel(sub_group_size=lanes)
    def sum_groups(item: kapi.NdItem, x, places, sums, of_sub_groups):
        i = item.get_global_id(0)
        lane = sub_group.local_id()
        number = sub_group.group_id()
        places[i] = number * sub_group.max_size() + lane
        total = sub_group.reduce_add(x[i])
        if lane == 0:
            of_sub_groups[number] = total
        kapi.group_barrier(item.get_group())
        if item.get_local_id(0) == 0:
            total = np.int32(0)
            for k in range(sub_group.num_groups()):
                total = np.int32(total + of_sub_groups[k])
            sums[item.get_group().get_group_id(0)] = total

    return sum_groups


@pattern.problem
def integers(rng, n, work_group_size):
    if n % work_group_size:
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {work_group_size}")
    return Problem(
        x=rng.integers(0, 100, n, dtype=np.int32),
        places=output(n, np.int32),
        sums=output(n // work_group_size, np.int32),
        bytes_moved=8 * n + 4 * (n // work_group_size),
    )


@pattern.reference
def expected(p):
    # neither depends on how the work-group is cut into sub-groups
    by_group = p.x.reshape(-1, p.work_group_size)
    return {"places": np.indices(by_group.shape)[1].ravel(), "sums": by_group.sum(axis=1)}


def launch_with(session, p, work_group_size, sum_groups):
    space = kapi.NdRange((p.n,), (work_group_size,))
    of_sub_groups = kapi.LocalAccessor(work_group_size, np.int32)  # enough for sub-groups of one lane
    return lambda: session.launch(sum_groups, space, p.x, p.places, p.sums, of_sub_groups)


@pattern.naive
def size_by_compiler(session, p, work_group_size):
    """The compiler chooses the size, by the device and by rules of its own."""
    return launch_with(session, p, work_group_size, sum_groups_in(None))


@pattern.optimized(requires=("sub_group_size=32",))
def lanes_32(session, p, work_group_size):
    """The kernel requires sub-groups of 32 lanes, as the guide's."""
    return launch_with(session, p, work_group_size, sum_groups_in(32))


@pattern.intermediate(requires=("sub_group_size=16",))
def lanes_16(session, p, work_group_size):
    """It requires sub-groups of 16."""
    return launch_with(session, p, work_group_size, sum_groups_in(16))


@pattern.intermediate(requires=("sub_group_size=8",))
def lanes_8(session, p, work_group_size):
    """It requires sub-groups of 8, which newer GPUs no longer have."""
    return launch_with(session, p, work_group_size, sum_groups_in(8))
