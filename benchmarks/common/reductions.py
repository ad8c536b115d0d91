"""What the lessons on reductions share: the numbers, a tree in shared local memory, and who adds up the rest."""

import numpy as np

from xebench import Problem, ceil_div, device_func, kernel, output
from xebench import kernel_api as kapi

THREADS = 8  # that a compute unit of Intel's GPUs holds; older ones 7


def numbers(rng, n):
    """The problem."""
    return Problem(
        x=rng.integers(0, 4, n, dtype=np.int32),  # small: the sum of 2**30 fits into 32 bits
        total=output(1, np.int32, host=True),
        bytes_moved=4 * n,
        operations=n,
        operation_kind="int32",
    )


def expected(p):
    """The reference."""
    return {"total": [p.x.sum()]}


@device_func
def tree(item, scratch):
    """The sum of ``scratch`` comes to stand in its first element; every item of the group must call this."""
    lane = item.get_local_id(0)
    active = item.get_local_range(0)
    while active > 1:
        half = (active + 1) // 2
        kapi.group_barrier(item.get_group())
        if lane + half < active:
            scratch[lane] += scratch[lane + half]
        active = half


@kernel
def add_atomically(item: kapi.NdItem, x, total):
    i = item.get_global_id(0)
    if i < x.shape[0]:
        kapi.AtomicRef(total, index=0).fetch_add(x[i])


@kernel
def sum_strided(item: kapi.Item, x, partials):
    i = item.get_id(0)
    total = np.int32(0)
    k = i
    while k < x.shape[0]:
        total = np.int32(total + x[k])
        k += item.get_range(0)
    partials[i] = total


@kernel
def clear(item: kapi.Item, total):
    total[item.get_id(0)] = np.int32(0)


def partial_sums(session, count):
    """Room for partial sums on the device and on the host."""
    return session.alloc(count, np.int32), np.empty(count, np.int32)


def add_on_host(session, p, partials, host):
    """Copy the partial sums to the host, which adds them up."""
    session.copy(host, partials)
    session.wait()
    p.total[0] = host.sum(dtype=np.int32)


def add_strided(session, p, items):
    """The sample of work-items that each add up every ``items``-th element; the host adds up the rest."""
    partials, host = partial_sums(session, items)

    def timed():
        session.launch(sum_strided, kapi.Range(items), p.x, partials)
        add_on_host(session, p, partials, host)

    return timed


def add_in_groups(session, p, kernel_of_groups, work_group_size, per_item=1):
    """The sample of a kernel that leaves a partial sum of each group to the host."""
    groups = ceil_div(p.n, work_group_size * per_item)
    partials, host = partial_sums(session, groups)
    space = kapi.NdRange((groups * work_group_size,), (work_group_size,))
    scratch = kapi.LocalAccessor(work_group_size, np.int32)

    def timed():
        session.launch(kernel_of_groups, space, p.x, partials, scratch)
        add_on_host(session, p, partials, host)

    return timed


def add_to_one_total(session, p, adding_kernel, work_group_size, per_item=1):
    """The sample of a kernel that adds to one number by atomics."""
    total = session.alloc(1, np.int32)
    groups = ceil_div(p.n, work_group_size * per_item)
    space = kapi.NdRange((groups * work_group_size,), (work_group_size,))

    def timed():
        session.launch(clear, kapi.Range(1), total)
        session.launch(adding_kernel, space, p.x, total)
        session.copy(p.total, total)

    return timed
