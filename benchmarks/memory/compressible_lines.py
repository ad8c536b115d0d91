"""Measure bandwidth with the data of your program: a GPU may compress lines of equal numbers."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="compressible_lines",
    catalogue=("reads_vs_writes",),
    guide="Multi-GPU and Multi-Stack Architecture and Programming / GPU Memory System",
    lesson="Adjacent lines that can be compressed take less bandwidth: zeros may be read faster than other numbers.",
    presets={
        "smoke": {"n": (1 << 14, 16381)},
        "default": {"n": {"cpu": 1 << 22, "gpu": fit(1 << 25, bytes_each=8)}},
        "guide": {"n": 1 << 26},
    },
    own_sizes="the guide has no program",
    axes={"work_group_size": (256,)},
)


@kernel
def copy(item: kapi.NdItem, numbers, written):
    i = item.get_global_id(0)
    if i < numbers.shape[0]:
        written[i] = numbers[i]


@kernel
def compare(item: kapi.NdItem, numbers, written, y):
    i = item.get_global_id(0)
    if i < numbers.shape[0]:
        y[i] = np.int32(numbers[i] == written[i])


@pattern.problem
def random_bits(rng, n):
    return Problem(bits=rng.integers(-(1 << 31), 1 << 31, n, dtype=np.int32), y=output(n, np.int32), bytes_moved=8 * n)


@pattern.reference
def expected(p):
    return {"y": np.ones(p.n, np.int32)}


def copies(session, p, work_group_size, numbers):
    """A sample: two copies, since the comparison of both arrays, which tells that they are right, is timed as well."""
    written = session.alloc(p.n, np.int32)
    space = kapi.NdRange((ceil_div(p.n, work_group_size) * work_group_size,), (work_group_size,))

    def timed():
        session.launch(copy, space, numbers, written)
        session.launch(copy, space, written, numbers)
        session.launch(compare, space, numbers, written, p.y)

    return timed


@pattern.naive
def random_numbers(session, p, work_group_size):
    """Random bits, which cannot be compressed, are copied there and back."""
    numbers = session.alloc(p.n, np.int32)
    session.copy(numbers, p.host.bits)
    return copies(session, p, work_group_size, numbers)


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 16598"))
def zeros(session, p, work_group_size):
    """Zeros, by the same kernels."""
    numbers = session.alloc(p.n, np.int32)
    session.fill(numbers, 0)
    return copies(session, p, work_group_size, numbers)
