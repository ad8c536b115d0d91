"""Look at how a loop was cut into work-groups, and choose it: the size of a group, and how many there are."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, inout, kernel
from xebench import kernel_api as kapi
from xebench.dpex import work_group

pattern = Pattern(
    name="teams_of_threads",
    catalogue=("E46", "omp_nd_partition_inspection"),
    guide="Kernels / Tuning Kernels with Local and Global Work-group Sizes in OpenMP Offload Mode",
    lesson="Few large work-groups that walk through the loop make few partial sums; enough of them fill the device.",
    # OpenMP calls a work-group a team: the local size is OMP_THREAD_LIMIT, the global one that times OMP_NUM_TEAMS.
    # What to look for is a table: time over local size and teams. The guide's is a picture without numbers.
    presets={
        "smoke": {"side": (256, 251)},
        "default": {"side": {"cpu": 1024, "gpu": 1 << 13}},
        "guide": {"side": 2048},
    },
    axes={"work_group_size": (64, 256, 1024)},
    requires=("sub_groups",),
)


@kernel
def add_products(item: kapi.NdItem, a, b, c, total):
    side = a.shape[0]
    own = np.float32(0)
    k = item.get_global_id(0)
    while k < c.shape[0]:
        own += c[k] * a[k // side] * b[k % side]
        k += item.get_global_range(0)
    of_team = work_group.reduce_add(own)
    if item.get_local_id(0) == 0:
        kapi.AtomicRef(total, index=0).fetch_add(of_team)


@pattern.problem
def small_numbers(rng, side):
    """Of -1, 0 and 1: single precision, which every GPU has, adds four million such products exactly in any order."""
    a, b = (rng.choice(np.array([-1, 1], np.float32), side) for _ in range(2))
    c = rng.integers(-1, 2, side * side).astype(np.float32)
    return Problem(
        a=a,
        b=b,
        c=c,
        total=inout(np.zeros(1, np.float32)),
        bytes_moved=4 * (side * side + 2 * side),
        operations=2 * side * side,  # a row's sum is multiplied by its element of a once
    )


@pattern.reference
def expected(p):
    return {"total": [p.a @ p.c.reshape(p.side, p.side) @ p.b]}


def in_teams(number, session, p, work_group_size):
    space = kapi.NdRange((number * work_group_size,), (work_group_size,))
    session.launch(add_products, space, p.a, p.b, p.c, p.total)


@pattern.naive
def item_per_product(session, p, work_group_size):
    """A work-item for each product, as many teams as that takes."""
    in_teams(ceil_div(p.c.size, work_group_size), session, p, work_group_size)


@pattern.intermediate
def teams_120(session, p, work_group_size):
    """The guide's example of setting the variables: 120 teams."""
    in_teams(120, session, p, work_group_size)


# The guide's best point, of a GPU that it does not name: that it is best elsewhere is a question of ours.
@pattern.optimized(
    claim=tuple(
        Claim("faster", against=other, on=("gpu",), where={"work_group_size": 1024}, strength="ours", source="G 4109")
        for other in ("item_per_product", "teams_120")
    )
)
def teams_30(session, p, work_group_size):
    """The guide's best: 30 teams, with 1024 work-items each."""
    in_teams(30, session, p, work_group_size)


@pattern.optimized(claim=Claim("faster", on=("gpu",)))
def teams_that_fill(session, p, work_group_size):
    """As many teams as the device holds."""
    in_teams(max(1, session.lanes // work_group_size), session, p, work_group_size)
