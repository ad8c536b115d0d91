"""Whole lines may be read in any order: addresses are spread over the memory's banks."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="lines_in_any_order",
    catalogue=("tlb_misses",),
    guide="Multi-GPU and Multi-Stack Architecture and Programming / GPU Memory System",
    lesson="Each address hashes to a bank: in order, at a stride or at random, lines spread evenly over all of them.",
    presets={
        "smoke": {"lines": (1 << 10, 1021)},
        "default": {"lines": {"cpu": 1 << 16, "gpu": fit(1 << 21, bytes_each=132)}},
        "guide": {"lines": 1 << 22},
    },
    own_sizes="the guide has no program",
    axes={"work_group_size": (256,)},  # 16 lines: groups of one line would wait for their dispatch, not for memory
    odd_sizes={"lines": 1019},
)

LINE = 16  # words of a line of 64 bytes
STRIDE = 257  # lines; a prime, so that every line is met
# An "approximate" distribution over the banks, says the guide: a tenth, says this, and that times follow from it.
SAME = Claim("same", within=0.1, on=("gpu",), strength="implied", source="G 16593")


@kernel
def copy_lines(item: kapi.NdItem, order, x, y):
    i = np.uint32(item.get_global_id(0))
    if i < y.shape[0]:
        place = np.uint32(order[i // LINE] * np.uint32(LINE) + i % LINE)
        y[place] = x[place]


@pattern.problem
def words(rng, lines):
    if lines % STRIDE == 0:
        raise ValueError(f"lines={lines}: the stride must meet every line, so give no multiple of {STRIDE}")
    return Problem(
        x=rng.integers(0, 1 << 30, lines * LINE, dtype=np.int32),
        random=rng.permutation(lines).astype(np.uint32),
        y=output(lines * LINE, np.int32),
        bytes_moved=(4 + 2 * 4 * LINE) * lines,
    )


@pattern.reference
def expected(p):
    return {"y": p.x}


def in_order(session, p, work_group_size, order):
    there = session.alloc(p.lines, np.uint32)
    session.copy(there, order.astype(np.uint32))
    session.wait()
    items = ceil_div(p.lines * LINE, work_group_size) * work_group_size
    return lambda: session.launch(copy_lines, kapi.NdRange((items,), (work_group_size,)), there, p.x, p.y)


@pattern.naive
def at_random(session, p, work_group_size):
    """The next line is any other."""
    return in_order(session, p, work_group_size, p.host.random)


@pattern.intermediate(claim=SAME)
def strided(session, p, work_group_size):
    """The next line is 257 lines further on."""
    return in_order(session, p, work_group_size, np.arange(p.lines) * STRIDE % p.lines)


@pattern.optimized(claim=SAME)
def sequential(session, p, work_group_size):
    """One line after the other."""
    return in_order(session, p, work_group_size, np.arange(p.lines))
