"""Sum an array by a chunk for each compute unit: nobody waits, and no two work-items read neighbouring elements."""

import numpy as np

from xebench import Claim, Pattern, ceil_div, kernel
from xebench import kernel_api as kapi

from ..common import reductions
from ..common.reductions import THREADS, add_atomically, add_on_host, add_strided, add_to_one_total, partial_sums

pattern = Pattern(
    name="reduction_chunks",
    catalogue=("E48",),
    guide="Kernels / Reduction",
    lesson="A chunk for each work-item saves the atomic additions, and neighbours must read neighbouring elements.",
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        "default": {"n": {"cpu": 1 << 22, "gpu": 10 << 20}},
        "guide": {"n": 10 << 20},  # of the guide's published program
    },
    axes={"work_group_size": (256,)},
    metric="wall",  # the host's part of the sum counts
    state="cold",  # the guide flushes the caches between its runs
)


@kernel
def sum_chunk(item: kapi.Item, x, partials, chunk):
    i = item.get_id(0)
    total = np.int32(0)
    for k in range(i * chunk, min((i + 1) * chunk, x.shape[0])):
        total = np.int32(total + x[k])
    partials[i] = total


pattern.problem(reductions.numbers)
pattern.reference(reductions.expected)


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
        session.launch(sum_chunk, kapi.Range(items), p.x, partials, ceil_div(p.n, items))
        add_on_host(session, p, partials, host)

    return timed


@pattern.optimized(claim=Claim("faster", against="chunk_per_item", source="G 4406 to 4425"))
def strided_few_items(session, p):
    """Enough work-items for one hardware thread of each compute unit, where neighbours read neighbouring elements."""
    return add_strided(session, p, min(p.n, session.lanes // THREADS))
