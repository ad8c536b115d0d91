"""Sum an array: let a work-item add up many elements, and neighbours read neighbouring ones."""

import dpnp
import numpy as np

from xebench import Claim, Pattern

from ..common import reductions
from ..common.reductions import THREADS, add_atomically, add_strided, add_to_one_total

pattern = Pattern(
    name="reduction_sum",
    catalogue=("E48",),
    guide="Kernels / Reduction",
    lesson="One number that all work-items add to makes them wait; let each have a sum of its own, and enough of them.",
    # the guide improves one kernel after another: `reduction_chunks` has its first step, which on a large GPU takes a
    # hundred times as long as the others, `reduction_trees` and `reduction_blocked` its next ones
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        "default": {"n": {"cpu": 1 << 22, "gpu": 10 << 20}},  # caches are empty, so no GPU needs more than the guide's
        "guide": {"n": 10 << 20},  # of the guide's published program
    },
    axes={"work_group_size": (256,)},
    metric="wall",  # the host's part of the sum counts
    state="cold",  # the guide flushes the caches between its runs
)

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


@pattern.intermediate(claim=Claim("faster", strength="implied", source="G 4383 to 4425"))
def strided_few_items(session, p):
    """Enough work-items for one hardware thread of each compute unit, where neighbours read neighbouring elements."""
    return add_strided(session, p, min(p.n, session.lanes // THREADS))


@pattern.optimized(claim=Claim("faster", against="strided_few_items", source="G 4427"))
def strided_enough_items(session, p):
    """The same with as many work-items as fill the device, so that each of its hardware threads has work."""
    return add_strided(session, p, min(p.n, session.lanes))


@pattern.baseline
def library_sum(session, p):
    """dpnp.sum; bracketed by barriers, so what the library does on the host counts as well."""

    def timed():
        total = session.call(dpnp.sum, p.x, dtype=np.int32)
        session.copy(p.total, total.reshape(1))

    return timed
