"""Sum an array: what limits a reduction is how often its work-items must meet."""

import dpnp
import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, device_func, fit, kernel, output
from xebench import kernel_api as kapi
from xebench.dpex import sub_group, work_group

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="reduction_sum",
    catalogue=("E48",),
    guide="Kernels / Reduction",
    lesson="Let a work-item add up many elements, a group meet in shared local memory, and the host add the rest.",
    # the guide improves one kernel after another: most claims are against the step before
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        "default": {"n": {"cpu": 1 << 22, "gpu": fit(1 << 25, bytes_each=4)}},
        "guide": {"n": 10 << 20},  # of the guide's published program
    },
    axes={"work_group_size": (256,)},
    metric="wall",  # the host's part of the sum counts, or a tree's second stage has nothing to save
    state="cold",  # the guide flushes the caches between its runs
)

PER_ITEM = 32  # elements that a work-item of a blocked kernel adds up
THREADS = 8  # that a compute unit of Intel's GPUs holds; older ones 7
BLOCKS = 8  # neighbouring blocks of an element a lane that one operation reads
PER_LANE = 64  # elements that a lane of such a sub-group adds up
WIDER = 2  # the guide's last two kernels have work-groups of 512


@kernel
def clear(item: kapi.Item, total):
    total[item.get_id(0)] = np.int32(0)


@kernel
def add_atomically(item: kapi.NdItem, x, total):
    i = item.get_global_id(0)
    if i < x.shape[0]:
        kapi.AtomicRef(total, index=0).fetch_add(x[i])


@kernel
def sum_chunk(item: kapi.Item, x, partials, chunk):
    i = item.get_id(0)
    total = np.int32(0)
    for k in range(i * chunk, min((i + 1) * chunk, x.shape[0])):
        total = np.int32(total + x[k])
    partials[i] = total


@kernel
def sum_strided(item: kapi.Item, x, partials):
    i = item.get_id(0)
    total = np.int32(0)
    k = i
    while k < x.shape[0]:
        total = np.int32(total + x[k])
        k += item.get_range(0)
    partials[i] = total


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
def sum_group(item: kapi.NdItem, x, partials, scratch):
    i = item.get_global_id(0)
    lane = item.get_local_id(0)
    scratch[lane] = x[i] if i < x.shape[0] else np.int32(0)
    tree(item, scratch)
    if lane == 0:
        partials[item.get_group().get_group_id(0)] = scratch[0]


@device_func
def sum_own(item, x):
    """What this work-item has of its group's block: every ``work_group_size``-th of the block's elements."""
    size = item.get_local_range(0)
    first = item.get_group().get_group_id(0) * size * PER_ITEM
    end = min(first + size * PER_ITEM, x.shape[0])
    total = np.int32(0)
    k = first + item.get_local_id(0)
    while k < end:
        total = np.int32(total + x[k])
        k += size
    return total


@kernel
def sum_block_serially(item: kapi.NdItem, x, partials, scratch):
    lane = item.get_local_id(0)
    scratch[lane] = sum_own(item, x)
    kapi.group_barrier(item.get_group())
    if lane == 0:
        total = np.int32(0)
        for k in range(item.get_local_range(0)):
            total = np.int32(total + scratch[k])
        partials[item.get_group().get_group_id(0)] = total


@kernel
def sum_block_by_tree(item: kapi.NdItem, x, partials, scratch):
    lane = item.get_local_id(0)
    scratch[lane] = sum_own(item, x)
    tree(item, scratch)
    if lane == 0:
        partials[item.get_group().get_group_id(0)] = scratch[0]


@kernel
def add_group(item: kapi.NdItem, x, total):
    i = item.get_global_id(0)
    of_group = work_group.reduce_add(x[i] if i < x.shape[0] else np.int32(0))
    if item.get_local_id(0) == 0:
        kapi.AtomicRef(total, index=0).fetch_add(of_group)


@kernel
def add_block(item: kapi.NdItem, x, total):
    of_group = work_group.reduce_add(sum_own(item, x))
    if item.get_local_id(0) == 0:
        kapi.AtomicRef(total, index=0).fetch_add(of_group)


def sum_sub_group_blocks_in(lanes):
    """The kernel for sub-groups of ``lanes``; work-groups are a multiple of it."""

    @kernel(sub_group_size=lanes)
    def sum_sub_group_blocks(item: kapi.NdItem, x, partials, scratch):
        lane = item.get_local_id(0)
        group = item.get_group().get_group_id(0)
        first = (group * item.get_local_range(0) + sub_group.group_id() * lanes) * PER_LANE
        end = min(first + lanes * PER_LANE, x.shape[0])
        total = np.int32(0)
        while first + BLOCKS * lanes <= end:
            a, b, c, d, e, f, g, h = sub_group.block_read8(x, first)
            total = np.int32(total + a + b + c + d + e + f + g + h)
            first += BLOCKS * lanes
        k = first + sub_group.local_id()
        while k < end:
            total = np.int32(total + x[k])
            k += lanes
        scratch[lane] = total
        tree(item, scratch)
        if lane == 0:
            partials[group] = scratch[0]

    return sum_sub_group_blocks


@pattern.problem
def numbers(rng, n):
    return Problem(
        x=rng.integers(0, 4, n, dtype=np.int32),  # small: the sum of 2**30 fits into 32 bits
        total=output(1, np.int32, host=True),
        bytes_moved=4 * n,
        operations=n,
        operation_kind="int32",
    )


@pattern.reference
def expected(p):
    return {"total": [p.x.sum()]}


def groups_for(count, size):
    return ceil_div(count, size)


def partial_sums(session, count):
    return session.alloc(count, np.int32), np.empty(count, np.int32)


def add_on_host(session, p, partials, host):
    session.copy(host, partials)
    session.wait()
    p.total[0] = host.sum(dtype=np.int32)


def add_to_one_total(session, p, adding_kernel, work_group_size, per_item=1):
    total = session.alloc(1, np.int32)
    groups = groups_for(p.n, work_group_size * per_item)
    space = kapi.NdRange((groups * work_group_size,), (work_group_size,))

    def timed():
        session.launch(clear, kapi.Range(1), total)
        session.launch(adding_kernel, space, p.x, total)
        session.copy(p.total, total)

    return timed


@pattern.baseline
def serial_on_host(session, p):
    """The host adds up its own array, by numpy."""
    p.total[0] = p.host.x.sum(dtype=np.int32)


@pattern.naive
def atomic_per_element(session, p, work_group_size):
    """Every work-item adds its element to one number in global memory."""
    return add_to_one_total(session, p, add_atomically, work_group_size)


@pattern.intermediate(claim=Claim("faster", source="G 4383 to 4406"))
def chunk_per_item(session, p):
    """A contiguous chunk for each compute unit, where one work-item adds it up."""
    items = min(p.n, session.device.max_compute_units)
    partials, host = partial_sums(session, items)

    def timed():
        session.launch(sum_chunk, kapi.Range(items), p.x, partials, groups_for(p.n, items))
        add_on_host(session, p, partials, host)

    return timed


def strided(session, p, items):
    partials, host = partial_sums(session, items)

    def timed():
        session.launch(sum_strided, kapi.Range(items), p.x, partials)
        add_on_host(session, p, partials, host)

    return timed


@pattern.intermediate(claim=Claim("faster", against="chunk_per_item", source="G 4406 to 4425"))
def strided_few_items(session, p):
    """Enough work-items for one hardware thread of each compute unit, where neighbours read neighbouring elements."""
    return strided(session, p, min(p.n, session.lanes // THREADS))


@pattern.intermediate(claim=Claim("faster", against="strided_few_items", source="G 4427"))
def strided_enough_items(session, p):
    """The same with as many work-items as fill the device, so that each of its hardware threads has work."""
    return strided(session, p, min(p.n, session.lanes))


@pattern.intermediate
def tree_one_stage(session, p, work_group_size):
    """One element a work-item, a tree in each group; the host adds a partial sum of every group."""
    groups = groups_for(p.n, work_group_size)
    partials, host = partial_sums(session, groups)
    space = kapi.NdRange((groups * work_group_size,), (work_group_size,))
    scratch = kapi.LocalAccessor(work_group_size, np.int32)

    def timed():
        session.launch(sum_group, space, p.x, partials, scratch)
        add_on_host(session, p, partials, host)

    return timed


@pattern.optimized(claim=Claim("faster", against="tree_one_stage", source="G 4483"))
def tree_two_stages(session, p, work_group_size):
    """The partial sums of the first tree go through a second one before the host sees them."""
    groups = groups_for(p.n, work_group_size)
    second_groups = groups_for(groups, work_group_size)
    first = session.alloc(groups, np.int32)
    partials, host = partial_sums(session, second_groups)
    scratch = kapi.LocalAccessor(work_group_size, np.int32)
    stage_1 = kapi.NdRange((groups * work_group_size,), (work_group_size,))
    stage_2 = kapi.NdRange((second_groups * work_group_size,), (work_group_size,))

    def timed():
        session.launch(sum_group, stage_1, p.x, first, scratch)
        session.launch(sum_group, stage_2, first, partials, scratch)
        add_on_host(session, p, partials, host)

    return timed


@pattern.optimized(
    claim=Claim("faster", against="tree_two_stages", strength="implied", source="G 4546"), requires=("sub_groups",)
)
def group_function(session, p, work_group_size):
    """One element a work-item, the group's sum by the built-in function, an atomic addition for each group."""
    return add_to_one_total(session, p, add_group, work_group_size)


def blocked(session, p, summing_kernel, work_group_size, per_item=PER_ITEM):
    groups = groups_for(p.n, work_group_size * per_item)
    partials, host = partial_sums(session, groups)
    space = kapi.NdRange((groups * work_group_size,), (work_group_size,))
    scratch = kapi.LocalAccessor(work_group_size, np.int32)

    def timed():
        session.launch(summing_kernel, space, p.x, partials, scratch)
        add_on_host(session, p, partials, host)

    return timed


@pattern.optimized(claim=Claim("faster", against="tree_one_stage", strength="implied", source="G 4560"))
def blocked_then_serial(session, p, work_group_size):
    """Each work-item adds up 32 elements of its group's block, one work-item adds up the group's sums."""
    return blocked(session, p, sum_block_serially, work_group_size)


# in most cases no big difference, says the guide without a figure: less than a tenth, says this
@pattern.optimized(claim=Claim("same", against="blocked_then_serial", within=0.1, source="G 4592"))
def blocked_then_tree(session, p, work_group_size):
    """Each work-item adds up 32 elements of its group's block, a tree adds up the group's sums."""
    return blocked(session, p, sum_block_by_tree, work_group_size)


@pattern.optimized(claim=Claim("faster", strength="implied", source="G 4631"), requires=("sub_groups",))
def blocked_then_group_function(session, p, work_group_size):
    """Each work-item adds up 32 elements of its group's block, the built-in function adds up the group's sums."""
    return add_to_one_total(session, p, add_block, WIDER * work_group_size, PER_ITEM)


# the guide says only that it is different (G 4654); its groups add up vectors of eight, and so does its host
@pattern.optimized(claim="faster", requires=("sub_groups",))
def block_loads_then_tree(session, p, work_group_size):
    """Each sub-group reads eight blocks at a time, 64 elements a lane; a tree adds up the group's sums."""
    summing_kernel = sum_sub_group_blocks_in(session.sub_group_size)
    return blocked(session, p, summing_kernel, WIDER * work_group_size, PER_LANE)


@pattern.baseline
def library_sum(session, p):
    """dpnp.sum; bracketed by barriers, so what the library does on the host counts as well."""

    def timed():
        total = session.call(dpnp.sum, p.x, dtype=np.int32)
        session.copy(p.total, total.reshape(1))

    return timed


in_opencl(pattern, blocked_then_tree)
