"""Sum an array: let a work-item add up many elements, and neighbours read neighbouring ones."""

import dpnp
import numpy as np

from xebench import Claim, Pattern, ceil_div, fit, kernel
from xebench import kernel_api as kapi

from ..common import reductions
from ..common.reductions import add_on_host, add_to_one_total, partial_sums

pattern = Pattern(
    name="reduction_sum",
    catalogue=("E48",),
    guide="Kernels / Reduction",
    lesson="One number that all work-items add to makes them wait; let each have a sum of its own, and enough of them.",
    # the guide improves one kernel after another: claims are against the step before; `reduction_trees` and
    # `reduction_blocked` have its next steps
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        "default": {"n": {"cpu": 1 << 22, "gpu": fit(1 << 25, bytes_each=4)}},
        "guide": {"n": 10 << 20},  # of the guide's published program
    },
    axes={"work_group_size": (256,)},
    metric="wall",  # the host's part of the sum counts
    state="cold",  # the guide flushes the caches between its runs
)

THREADS = 8  # that a compute unit of Intel's GPUs holds; older ones 7


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


pattern.problem(reductions.numbers)
pattern.reference(reductions.expected)


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
        session.launch(sum_chunk, kapi.Range(items), p.x, partials, ceil_div(p.n, items))
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


@pattern.optimized(claim=Claim("faster", against="strided_few_items", source="G 4427"))
def strided_enough_items(session, p):
    """The same with as many work-items as fill the device, so that each of its hardware threads has work."""
    return strided(session, p, min(p.n, session.lanes))


@pattern.baseline
def library_sum(session, p):
    """dpnp.sum; bracketed by barriers, so what the library does on the host counts as well."""

    def timed():
        total = session.call(dpnp.sum, p.x, dtype=np.int32)
        session.copy(p.total, total.reshape(1))

    return timed
