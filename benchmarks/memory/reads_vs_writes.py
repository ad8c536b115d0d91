"""Where numbers can be read or written, read them: some GPUs read faster than they write."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="reads_vs_writes",
    catalogue=("reads_vs_writes",),
    guide="Multi-GPU and Multi-Stack Architecture and Programming / GPU Memory System",
    lesson="As many bytes may take longer to write than to read: prefer kernels that read much and write little.",
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        # four times as large as the last cache
        "default": {"n": {"cpu": 1 << 22, "gpu": fit(1 << 24, bytes_each=4)}},
        "guide": {"n": 1 << 26},
    },
    own_sizes="the guide has no program",
    axes={"work_group_size": (256,)},
)

PER_ITEM = 16  # numbers that each work-item reads or writes
PERIOD = 16  # the numbers repeat, so that a kernel can compute them instead of reading them


@kernel
def read_and_add(item: kapi.NdItem, numbers, sums):
    size = item.get_local_range(0)
    j = item.get_group().get_group_id(0) * size * PER_ITEM + item.get_local_id(0)
    total = np.int32(0)
    for _ in range(PER_ITEM):
        if j < numbers.shape[0]:
            total = np.int32(total + numbers[j])
        j += size
    sums[item.get_global_id(0)] = total


@kernel
def write_and_add(item: kapi.NdItem, numbers, sums):
    size = item.get_local_range(0)
    j = item.get_group().get_group_id(0) * size * PER_ITEM + item.get_local_id(0)
    total = np.int32(0)
    for _ in range(PER_ITEM):
        if j < numbers.shape[0]:
            number = np.int32(j % PERIOD)
            numbers[j] = number
            total = np.int32(total + number)
        j += size
    sums[item.get_global_id(0)] = total


@pattern.problem
def periodic_numbers(rng, n, work_group_size):
    groups = ceil_div(n, PER_ITEM * work_group_size)
    items = groups * work_group_size
    return Problem(
        numbers=np.resize(np.arange(PERIOD << 16, dtype=np.int32) % PERIOD, n),
        sums=output(items, np.int32),
        items=items,
        bytes_moved=4 * n + 4 * items,
    )


@pattern.reference
def expected(p):
    padded = np.zeros(p.items * PER_ITEM, np.int32)
    padded[: p.n] = p.numbers
    return {"sums": padded.reshape(-1, PER_ITEM, p.work_group_size).sum(axis=1).ravel()}


@pattern.naive
def write(session, p, work_group_size):
    """The numbers are computed, added up and written."""
    written = session.alloc(p.n, np.int32)
    space = kapi.NdRange((p.items,), (work_group_size,))
    return lambda: session.launch(write_and_add, space, written, p.sums)


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="ours", source="G 16618"))  # the guide says "sometimes"
def read(session, p, work_group_size):
    """As many numbers are read and added up."""
    session.launch(read_and_add, kapi.NdRange((p.items,), (work_group_size,)), p.numbers, p.sums)
