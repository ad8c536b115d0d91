"""Ask for the sub-group's size and the work-item's place in it, and require a size if the kernel depends on one."""

import numpy as np
from numba_dpex import kernel_api as kapi

from harness import Pattern, Problem, output
from harness.dpex import kernel, sub_group

pattern = Pattern(
    name="subgroup_sizes",
    catalogue=("E11",),
    guide="Kernels / Sub-Groups and SIMD Vectorization",
    lesson="The compiler chooses the sub-group's size unless the kernel requires one; a good kernel is right for each.",
    presets={
        "smoke": {"n": 1 << 17},
        "default": {"n": 1 << 21},
        "guide": {"n": 32},
    },
    axes={"sub_group_size": (16,), "work_group_size": (32,)},
    requires=("sub_groups",),
)


def find_places_at(size):
    """The kernel for one required sub-group size, or for the compiler's choice if ``size`` is None."""

    @kernel(sub_group_size=size)
    def find_places(item: kapi.NdItem, places, lanes):
        i = item.get_global_id(0)
        places[i] = np.int32(sub_group.group_id() * sub_group.max_size() + sub_group.local_id())
        # one lane of each sub-group counts for all of its lanes
        counted = sub_group.size() if sub_group.local_id() == 0 else np.int32(0)
        if size is not None and sub_group.max_size() != size:
            counted = np.int32(-1)
        lanes[i] = counted

    return find_places


@pattern.problem
def work_items(rng, n, work_group_size):
    return Problem(places=output(n, np.int32), lanes=output(n, np.int32), bytes_moved=8 * n)


@pattern.reference
def expected(p):
    return {}
