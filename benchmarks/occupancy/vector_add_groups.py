"""Launch as many work-groups as fill the device: fewer leave cores without work, a few more make a second round."""

from xebench import Claim, Pattern, ceil_div, fit, kernel
from xebench import kernel_api as kapi

from ..common import vector_add
from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="vector_add_groups",
    catalogue=("E08",),
    guide="Thread Mapping and GPU Occupancy / A Detailed Example",
    lesson="Occupancy is the launch's threads over the device's: count your work-groups before you tune the kernel.",
    # In the guide every work-group adds 131,072 elements of its own: more groups do more work, and from twelve on, we
    # think, the data leave the last cache, so its times (G 788 to 806) do not show occupancy. Here all variants add
    # the same elements, and the groups share them.
    presets={
        "smoke": {"n": (1 << 16, 65521), "rounds": 2},
        # the three arrays in half of the last cache or less, so that memory limits nobody
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 16, per_cache_byte=1 / 48)}, "rounds": {"cpu": 4, "gpu": 50}},
        "guide": {"n": 3 * 5 * 7 * (1 << 17), "rounds": 1000},
    },
    own_sizes="the guide's groups add elements of their own, so that each launch of it has another size",
    # The guide has 512 work-items in sub-groups of 32: 16 threads a group, and 42 groups fill its 672 threads.
    axes={"work_group_size": (512,), "sub_group_size": (32,)},
    requires=("sub_groups",),
    short_launches="the arrays stay in the last cache",
)


@kernel
def add(item: kapi.Item, a, b, total, rounds):
    i = item.get_id(0)
    for _ in range(rounds):
        total[i] = a[i] + b[i]


@pattern.problem
def integers(rng, n):
    return vector_add.integers(rng, n)


@pattern.reference
def expected(p):
    return vector_add.added(p)


def groups(number, session, p, work_group_size, lanes):
    return vector_add.launch_groups(session, p, vector_add.add_strided_in(lanes), work_group_size, number)


def groups_that_fill(session, work_group_size):
    """42 on the guide's GPU."""
    return max(1, session.lanes // work_group_size)


def fuller(against=""):
    return Claim("faster", against=against, on=("gpu",), strength="implied", source="G 757 to 781")


@pattern.baseline
def range_of_elements(session, p):
    """A work-item for each element; the runtime chooses the work-groups, of which there are plenty."""
    session.launch(add, kapi.Range(p.n), p.a, p.b, p.total, p.rounds)


@pattern.naive
def one_group(session, p, work_group_size, sub_group_size):
    """One work-group: 16 of 672 threads, 2.4 %."""
    return groups(1, session, p, work_group_size, sub_group_size)


@pattern.intermediate(claim=fuller())
def a_sixth(session, p, work_group_size, sub_group_size):
    """Work-groups for a sixth of the device: 7 on the guide's, 16.7 %."""
    number = ceil_div(groups_that_fill(session, work_group_size), 6)
    return groups(number, session, p, work_group_size, sub_group_size)


@pattern.optimized(claim=(fuller(), fuller("a_sixth")))
def all_of_it(session, p, work_group_size, sub_group_size):
    """Work-groups for every thread: 42, 100 %."""
    return groups(groups_that_fill(session, work_group_size), session, p, work_group_size, sub_group_size)


# Two rounds, each with less to do: that this takes longer follows from the guide's occupancies.
@pattern.antipattern(claim=Claim("slower", against="all_of_it", on=("gpu",), strength="implied", source="G 784 to 785"))
def and_a_few_more(session, p, work_group_size, sub_group_size):
    """A twentieth more: 44 on the guide's GPU, 100 % and then 4.7 %."""
    fill = groups_that_fill(session, work_group_size)
    return groups(fill + max(1, fill // 20), session, p, work_group_size, sub_group_size)


in_opencl(pattern, all_of_it)
