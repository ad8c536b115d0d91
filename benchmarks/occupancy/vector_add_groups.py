"""Launch as many work-groups as fill the device: fewer leave cores without work, a few more make a second round."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="vector_add_groups",
    catalogue=("E08",),
    guide="Thread Mapping and GPU Occupancy / A Detailed Example",
    lesson="Occupancy is the launch's threads over the device's: count your work-groups before you tune the kernel.",
    # In the guide every work-group adds 131,072 elements of its own: more groups do more work, and from twelve on, we
    # think, the data leave the last cache, so its times (G 793 to 812) do not show occupancy. Here all variants add
    # the same elements, each group a slice of them.
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
def add(item: kapi.Item, a, b, total, rounds):  # VectorAdd1
    i = item.get_id(0)
    for _ in range(rounds):
        total[i] = a[i] + b[i]


@kernel(sub_group_size="sub_group_size")
def add_slice(item: kapi.NdItem, a, b, total, part, rounds):  # VectorAdd2, G 737 to 745
    first = item.get_group().get_group_id(0) * part
    end = min(first + part, total.shape[0])
    for _ in range(rounds):
        i = first + item.get_local_id(0)
        while i < end:
            total[i] = a[i] + b[i]
            i += item.get_local_range(0)


@pattern.problem
def integers(rng, n):
    a, b = (rng.integers(0, 1 << 30, n, dtype=np.int32) for _ in range(2))
    return Problem(a=a, b=b, total=output(n, np.int32), bytes_moved=12 * n)


@pattern.reference
def expected(p):
    return {"total": p.a + p.b}


def launcher(session, p, work_group_size, groups):
    space, part = kapi.NdRange((groups * work_group_size,), (work_group_size,)), ceil_div(p.n, groups)
    return lambda: session.launch(add_slice, space, p.a, p.b, p.total, part, p.rounds)


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
def one_group(session, p, work_group_size):
    """One work-group: 16 of 672 threads, 2.4 %."""
    return launcher(session, p, work_group_size, 1)


@pattern.intermediate(claim=fuller())
def a_sixth(session, p, work_group_size):
    """Work-groups for a sixth of the device: 7 on the guide's, 16.7 %."""
    return launcher(session, p, work_group_size, ceil_div(groups_that_fill(session, work_group_size), 6))


@pattern.optimized(claim=(fuller(), fuller("a_sixth")))
def all_of_it(session, p, work_group_size):
    """Work-groups for every thread: 42, 100 %."""
    return launcher(session, p, work_group_size, groups_that_fill(session, work_group_size))


# Two rounds, each with less to do: that this takes longer follows from the guide's occupancies.
@pattern.antipattern(claim=Claim("slower", against="all_of_it", on=("gpu",), strength="implied", source="G 784 to 785"))
def and_a_few_more(session, p, work_group_size):
    """A twentieth more: 44 on the guide's GPU, 100 % and then 4.7 %."""
    fill = groups_that_fill(session, work_group_size)
    return launcher(session, p, work_group_size, fill + max(1, fill // 20))


in_opencl(pattern, all_of_it)
