"""Let loads run ahead of stores: unroll, load first, or tell the compiler that the arrays do not overlap."""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="restrict_and_unroll",
    catalogue=("E37",),
    guide="Kernels / Pointer Aliasing and the Restrict Directive",
    lesson="The compiler keeps a load behind a store that might change what it reads, unless it knows better.",
    presets={
        "smoke": {"n": (1 << 17, 1021 << 7)},
        "default": {"n": 1 << 20},
        "guide": {"n": 1 << 17},
    },
    # One work-group of one sub-group, as in the guide: its thread waits for every load that nothing else can hide.
    axes={"sub_group_size": "device"},
    requires=("sub_groups",),
    short_launches="one work-group alone, whose slowest variant sets the size",
)


@kernel
def add_one_to_one(item: kapi.Item, a, b, total):
    i = item.get_id(0)
    total[i] = a[i] + b[i]


# The number of elements and the lanes are constants of a kernel, as in the guide: else each copy of an unrolled body
# must ask whether it is the last.


def adding_in_loop(n, lanes):
    def add_in_loop(item: kapi.NdItem, a, b, total):
        for i in range(item.get_local_id(0), n, lanes):
            total[i] = a[i] + b[i]

    return add_in_loop


def adding_two_a_step(n, lanes):
    def add_two_a_step(item: kapi.NdItem, a, b, total):
        for i in range(item.get_local_id(0), n, 2 * lanes):
            total[i] = a[i] + b[i]
            total[i + lanes] = a[i + lanes] + b[i + lanes]

    return add_two_a_step


def loading_first(n, lanes):
    def load_first(item: kapi.NdItem, a, b, total):
        for i in range(item.get_local_id(0), n, 2 * lanes):
            a0 = a[i]
            b0 = b[i]
            a1 = a[i + lanes]
            b1 = b[i + lanes]
            total[i] = a0 + b0
            total[i + lanes] = a1 + b1

    return load_first


@pattern.problem
def integers(rng, n, sub_group_size):
    if n % (2 * sub_group_size):
        raise ValueError(f"n={n}: pairs of steps must be whole, so give a multiple of {2 * sub_group_size}")
    return Problem(
        a=rng.integers(0, 1 << 30, n, dtype=np.int32),
        b=rng.integers(0, 1 << 30, n, dtype=np.int32),
        total=output(n, np.int32),
        bytes_moved=12 * n,
    )


@pattern.reference
def expected(p):
    return {"total": p.a + p.b}


def launch_in_one_group(session, p, lanes, adding, **options):
    add = kernel(sub_group_size=lanes, **options)(adding(p.n, lanes))
    return lambda: session.launch(add, kapi.NdRange((lanes,), (lanes,)), p.a, p.b, p.total)


@pattern.naive
def plain_loop(session, p, sub_group_size):
    """Ours: one element a step without a hint; each step's loads wait for the store of the step before."""
    return launch_in_one_group(session, p, sub_group_size, adding_in_loop)


@pattern.intermediate(claim=Claim("faster", on=("gpu",), strength="implied", source="G 3274"))
def unroll_hint(session, p, sub_group_size):
    """The same loop, unrolled twice by the compiler, which knows that the arrays do not overlap."""
    return launch_in_one_group(session, p, sub_group_size, adding_in_loop, unroll=2, restrict=True)


@pattern.intermediate(claim=Claim("faster", on=("gpu",), strength="implied", source="G 3325"))
def unrolled_by_hand(session, p, sub_group_size):
    """Two elements a step: half of the comparisons and jumps, but the second loads still follow the first store."""
    return launch_in_one_group(session, p, sub_group_size, adding_two_a_step)


@pattern.optimized(
    claim=tuple(
        Claim(word, against="unrolled_by_hand", on=("gpu",), source="G 3368") for word in ("faster", "late_loads")
    )
)
def loads_first(session, p, sub_group_size):
    """Two elements a step, all four loads before both stores."""
    return launch_in_one_group(session, p, sub_group_size, loading_first)


@pattern.optimized(
    claim=(
        Claim("faster", against="unrolled_by_hand", on=("gpu",), strength="implied", source="G 3274, 3413"),
        Claim("same", against="loads_first", on=("gpu",), strength="implied", source="G 3413"),
        Claim("late_loads", against="unrolled_by_hand", on=("gpu",), source="G 3413"),
    )
)
def restrict(session, p, sub_group_size):
    """Two elements a step, unordered in the source; the compiler may put the loads first."""
    return launch_in_one_group(session, p, sub_group_size, adding_two_a_step, restrict=True)


@pattern.baseline
def item_per_element(session, p):
    """A work-item for each element, in work-groups of the driver's choice: the whole device takes part."""
    session.launch(add_one_to_one, kapi.Range(p.n), p.a, p.b, p.total)
