"""Add up atomically in a type whose atomics the hardware has, not in one that it must imitate."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="atomics_dtype",
    catalogue=("E39",),
    guide="Synchronization among Threads in a Kernel / Data Types in Atomic Operations",
    lesson="Atomic additions to integers are native; where those to floats are not, they are loops that try again.",
    # An addition that must try again meets the others, which try again as well: the device's work grows with the
    # square of how many add at the same time. So a GPU gets a fourth of the guide's size.
    presets={
        "smoke": {"n": (1 << 10, 1021)},
        "default": {"n": {"cpu": 1 << 18, "gpu": 1 << 13}},
        "guide": {"n": 1 << 15},  # of the guide's published program
    },
    axes={"work_group_size": (256,)},  # the guide leaves it to the runtime
    short_launches="what must try again takes 17000 times as long as what need not, and sets the size",
)

LARGEST = 3  # of the numbers
ROUNDS = 10  # launches that add to the same sum, as in the guide
EXACT = 1 << 24  # up to here float32 has every whole number


@kernel
def add_atomically(item: kapi.NdItem, x, total):
    i = item.get_global_id(0)
    if i < x.shape[0]:
        kapi.AtomicRef(total, index=0).fetch_add(x[i])


@kernel
def add_by_trying(item: kapi.NdItem, x, total):
    i = item.get_global_id(0)
    if i < x.shape[0]:
        sum_so_far = kapi.AtomicRef(total, index=0)
        seen = kapi.PrivateArray(1, np.int32)
        seen[0] = sum_so_far.load()
        # if another was faster, ``seen`` gets what stands there now
        while not sum_so_far.compare_exchange(seen, np.int32(seen[0] + x[i])):
            pass


@kernel
def store_as_integer(item: kapi.Item, total, result):
    i = item.get_id(0)
    result[i] = np.int32(total[i])


@pattern.problem
def numbers(rng, n):
    if LARGEST * ROUNDS * n > EXACT:
        raise ValueError(f"n={n}: float32 must hold the sum exactly, so give {EXACT // (LARGEST * ROUNDS)} at most")
    return Problem(
        x=rng.integers(1, LARGEST + 1, n, dtype=np.int32),
        result=output(1, np.int32),
        bytes_moved=4 * n,
        operations=ROUNDS * n,
        operation_kind="int32",
    )


@pattern.reference
def expected(p):
    return {"result": [ROUNDS * p.x.sum()]}


def add_up(session, p, work_group_size, dtype, add=add_atomically):
    """All numbers to one address; the sum is set to 0 before, and stored in the type of the result after."""
    x, total = session.alloc(p.n, dtype), session.alloc(1, dtype)
    session.copy(x, p.host.x.astype(dtype))
    space = kapi.NdRange((ceil_div(p.n, work_group_size) * work_group_size,), (work_group_size,))

    def timed():
        session.fill(total, 0)
        for _ in range(ROUNDS):
            session.launch(add, space, x, total)
        session.launch(store_as_integer, kapi.Range(1), total, p.result)

    return timed


@pattern.naive
def in_float32(session, p, work_group_size):
    """The numbers are floats, because the user has floats."""
    return add_up(session, p, work_group_size, np.float32)


@pattern.intermediate(requires=("fp64", "atomic64"))
def in_float64(session, p, work_group_size):
    """The same numbers as doubles."""
    return add_up(session, p, work_group_size, np.float64)


@pattern.intermediate(requires=("atomic64",))
def in_int64(session, p, work_group_size):
    """The same numbers as integers of 64 bits, of which the guide says nothing."""
    return add_up(session, p, work_group_size, np.int64)


# Of Gen9 and Xe-LP, where additions to floats are loops.
LOOPS = {"on": ("gpu",), "requires": ("native_float_atomics=0",)}


# The guide prints instructions executed, and times without the names of their programs (G 3592 to 3597): no figure.
@pattern.optimized(
    claim=(
        Claim("faster", source="G 3503 to 3588", **LOOPS),
        Claim("faster", against="in_float64", source="G 3547 to 3588", **LOOPS),
        Claim("branches", source="G 3592 to 3596, 3673 to 3678", **LOOPS),
        Claim("branches", against="in_float64", source="G 3592 to 3596, 3673 to 3678", **LOOPS),
    )
)
def in_int32(session, p, work_group_size):
    """The same numbers as integers: one instruction adds, and the compiler may add up a sub-group's numbers first."""
    return add_up(session, p, work_group_size, np.int32)


@pattern.antipattern(
    claim=Claim("slower", against="in_int32", strength="implied", source="G 3601 to 3699"),
)
def by_compare_and_exchange(session, p, work_group_size):
    """What imitates an addition that the hardware lacks: read, add, write if nothing changed meanwhile, else again."""
    return add_up(session, p, work_group_size, np.int32, add_by_trying)
