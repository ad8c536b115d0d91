"""The vector addition of the guide's detailed example on occupancy: a few work-groups walk through all elements."""

import numpy as np

from xebench import Problem, kernel, output
from xebench import kernel_api as kapi


def add_strided_in(lanes):
    """The kernel for sub-groups of ``lanes``: neighbouring work-items add neighbouring elements, a launch at a time.

    It does so ``rounds`` times, as the guide's, so that the work-groups stay resident for a while.
    """

    @kernel(sub_group_size=lanes)
    def add_strided(item: kapi.NdItem, a, b, total, rounds):
        for _ in range(rounds):
            i = item.get_global_id(0)
            while i < total.shape[0]:
                total[i] = a[i] + b[i]
                i += item.get_global_range(0)

    return add_strided


def add_after_barrier_in(lanes):
    """The same behind a barrier, which it does not need."""

    @kernel(sub_group_size=lanes)
    def add_after_barrier(item: kapi.NdItem, a, b, total, rounds):
        kapi.group_barrier(item.get_group())
        for _ in range(rounds):
            i = item.get_global_id(0)
            while i < total.shape[0]:
                total[i] = a[i] + b[i]
                i += item.get_global_range(0)

    return add_after_barrier


def launch_groups(session, p, kernel_of_groups, work_group_size, groups):
    """A sample: the kernel in so many work-groups."""
    space = kapi.NdRange((groups * work_group_size,), (work_group_size,))
    return lambda: session.launch(kernel_of_groups, space, p.a, p.b, p.total, p.rounds)


def integers(rng, n):
    """The problem."""
    a, b = (rng.integers(0, 1 << 30, n, dtype=np.int32) for _ in range(2))
    return Problem(a=a, b=b, total=output(n, np.int32), bytes_moved=12 * n)


def added(p):
    """What the kernels compute, by numpy."""
    return {"total": p.a + p.b}
