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


def describe(item: kapi.NdItem, groups, places):
    """The guide's program, but that it prints what it finds (G 1061 to 1079)."""
    i = item.get_global_id(0)
    groups[i] = item.get_group().get_group_id(0)
    places[i] = sub_group.group_id() * sub_group.max_size() + sub_group.local_id()


@pattern.problem
def places_of_items(rng, n, work_group_size):
    if n % work_group_size:
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {work_group_size}")
    return Problem(groups=output(n, np.int32), places=output(n, np.int32), bytes_moved=8 * n)


@pattern.reference
def expected(p):
    # neither depends on how the work-group is cut into sub-groups
    groups, places = np.indices((p.n // p.work_group_size, p.work_group_size))
    return {"groups": groups.ravel(), "places": places.ravel()}


def launcher(session, p, work_group_size, **options):
    in_sub_groups = kernel(**options)(describe)
    return lambda: session.launch(in_sub_groups, kapi.NdRange((p.n,), (work_group_size,)), p.groups, p.places)


@pattern.naive
def size_by_compiler(session, p, work_group_size):
    """The compiler chooses the size, by the device and by rules of its own."""
    return launcher(session, p, work_group_size)


@pattern.optimized(requires=("sub_group_size=32",))
def lanes_32(session, p, work_group_size):
    """The kernel requires sub-groups of 32 lanes, as the guide's."""
    return launcher(session, p, work_group_size, sub_group_size=32)


@pattern.intermediate(requires=("sub_group_size=16",))
def lanes_16(session, p, work_group_size):
    """It requires sub-groups of 16."""
    return launcher(session, p, work_group_size, sub_group_size=16)


@pattern.intermediate(requires=("sub_group_size=8",))
def lanes_8(session, p, work_group_size):
    """It requires sub-groups of 8, which newer GPUs no longer have."""
    return launcher(session, p, work_group_size, sub_group_size=8)
