"""Memory in two parts with a narrow link between them: how much of a stream may cross it?"""

import numpy as np

from xebench import Claim, Figure, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="stream_remote_share",
    catalogue=("E86", "cross_stack_stream"),
    guide="Implicit Scaling / Cross-Stack Traffic",
    lesson="Work on the part of an array that is near: of what crosses from stack to stack, a tenth is enough to see.",
    # A card of two stacks has a half of each array on each stack, and runs a half of the work-items there. On a device
    # of one part the same lines are only read in another order, and nothing is asked.
    presets={
        "smoke": {"n": (1 << 15, 31 * 1024)},
        # three arrays of 8-byte elements, together at least four times as large as the last cache
        "default": {"n": {"cpu": 1 << 20, "gpu": fit(1 << 24, bytes_each=24)}},
        "guide": {"n": 256_000_000},
    },
    # one line in so many lies in the other half: 3 % to all of them
    axes={"one_line_in": (32, 16, 8, 4, 2, 1), "work_group_size": (256,)},
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "COMPOSITE"},  # else each stack is a device of its own
)

LINE = 16  # elements, 128 bytes
# GB/s on two stacks of a Max: by the share of remote lines (G 18262 to 18269), and of a stream without (G 18011)
REMOTE = {32: 2108, 16: 1848, 8: 1450, 4: 1223, 2: 696, 1: 355}
LOCAL = 2113


def add_shifted_by(one_line_in):
    """The kernel with the share as a constant, as the guide's template has it."""

    @kernel
    def add_shifted(item: kapi.NdItem, a, b, c, shift):
        i = item.get_global_id(0)
        n = c.shape[0]
        if i < n:
            if i // LINE % one_line_in == 0:
                i += shift
                if i >= n:  # as the guide's (i + n / 2) % n, without a division
                    i -= n
            c[i] = a[i] + b[i]

    return add_shifted


def add_shifted_together_by(one_line_in):
    """As many lines are remote, side by side: the first ones of each half."""

    @kernel
    def add_shifted_together(item: kapi.NdItem, a, b, c, shift):
        i = item.get_global_id(0)
        n = c.shape[0]
        if i < n:
            place = i - shift if i >= shift else i
            if place < shift // one_line_in:
                i += shift
                if i >= n:
                    i -= n
            c[i] = a[i] + b[i]

    return add_shifted_together


@kernel
def add(item: kapi.NdItem, a, b, c):
    i = item.get_global_id(0)
    if i < c.shape[0]:
        c[i] = a[i] + b[i]


@kernel
def add_slices(item: kapi.NdItem, a, b, c):
    i = item.get_global_id(1) * item.get_global_range(0) + item.get_global_id(0)
    if i < c.shape[0]:
        c[i] = a[i] + b[i]


@pattern.problem
def two_arrays(rng, n):
    """The halves are whole periods of lines, so that each element is added exactly once."""
    if n % (2 * LINE * max(REMOTE)):
        raise ValueError(f"n={n}: halves must be whole periods of lines: give a multiple of {2 * LINE * max(REMOTE)}")
    a, b = (rng.integers(0, 1 << 40, n, dtype=np.int64) for _ in range(2))
    return Problem(a=a, b=b, c=output(n, np.int64), bytes_moved=3 * 8 * n)


@pattern.reference
def expected(p):
    return {"c": p.a + p.b}


def items(p, work_group_size):
    return kapi.NdRange((ceil_div(p.n, work_group_size) * work_group_size,), (work_group_size,))


def launcher(session, p, work_group_size, adding, shift):
    return lambda: session.launch(adding, items(p, work_group_size), p.a, p.b, p.c, shift)


@pattern.naive
def some_lines_remote(session, p, work_group_size, one_line_in):
    """One line in so many is that of the same place in the other half."""
    return launcher(session, p, work_group_size, add_shifted_by(one_line_in), p.n // 2)


# Where all lines are remote, nothing can be interleaved.
@pattern.antipattern(
    claim=Claim(
        "slower",
        on=("gpu",),
        requires=("stacks=2",),
        where={"one_line_in": (16, 8, 4, 2)},
        strength="implied",
        source="G 18126, 18138",
    )
)
def remote_lines_together(session, p, work_group_size, one_line_in):
    """As many remote lines, but in a row: the link between the stacks is busy at first, and idle afterwards."""
    return launcher(session, p, work_group_size, add_shifted_together_by(one_line_in), p.n // 2)


@pattern.baseline
def plain_stream(session, p, work_group_size):
    """No index is computed, which a CPU device's compiler makes much of: it loads neighbours at once."""
    session.launch(add, items(p, work_group_size), p.a, p.b, p.c)


@pattern.antipattern(
    claim=Claim(
        "slower",
        against="plain_stream",
        on=("gpu",),
        requires=("stacks=2",),
        where={"one_line_in": 32},
        strength="implied",
        source="G 17876, 18137",
    )
)
def slowest_dimension_of_three(session, p, work_group_size):
    """The plain stream in three slices, which two stacks cannot share: each is halved, and a third is remote."""
    size = ceil_div(p.n, 3 * work_group_size) * work_group_size
    session.launch(add_slices, kapi.NdRange((size, 3), (work_group_size, 1)), p.a, p.b, p.c)


@pattern.antipattern(
    claim=Claim(
        "slower",
        against="plain_stream",
        on=("gpu",),
        requires=("stacks=2",),
        where={"one_line_in": 32},
        strength="implied",
        source="G 17819, 18141",
    )
)
def inputs_of_one_pool(session, p, work_group_size):
    """The plain stream, with inputs that were cut from one allocation: each of them is wholly on one stack."""
    pool = session.alloc(2 * p.n, np.int64)
    a, b = pool[: p.n], pool[p.n :]
    session.copy(a, p.a)
    session.copy(b, p.b)
    return lambda: session.launch(add, items(p, work_group_size), a, b, p.c)


def claim_at(one_line_in):
    """Below a tenth of the traffic the guide sees no significant drop: 1 % at a line in 32, but 13 % at one in 16."""
    figure = Figure(LOCAL / REMOTE[one_line_in], device="Max", line="G 18011, 18262 to 18271")
    said = {"where": {"one_line_in": one_line_in}, "on": ("gpu",), "requires": ("stacks=2",), "figure": figure}
    return Claim("same", within=0.02, **said) if one_line_in == 32 else Claim("faster", **said)


@pattern.optimized(claim=tuple(map(claim_at, REMOTE)))
def all_lines_local(session, p, work_group_size, one_line_in):
    """The same kernel shifts the same lines by nothing: the index costs as much, and no line is remote."""
    return launcher(session, p, work_group_size, add_shifted_by(one_line_in), 0)
