"""Random numbers on the device by a library's generator: one call, where a kernel has to jump ahead by itself."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, device_func, fit, kernel, output
from xebench import kernel_api as kapi

from ..common import onemkl

pattern = Pattern(
    name="random_generators",
    catalogue=("E59",),
    guide="Using Libraries for GPU Offload / Using Standard Library Functions in SYCL Kernels",
    lesson="What rand() cannot do in a kernel, two libraries can: a generator for each work-item, or one for an array.",
    # The guide's program has minstd_rand of oneDPL beside mcg31m1 of oneMKL and prints both sequences. Here all ways
    # are mcg31m1, so that each number is checked; `random_numbers` has the former.
    presets={
        "smoke": {"n": (1 << 14, 16381)},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 22, per_lane=8)}},
        "guide": {"n": 20},  # the fewest that its program makes: a launch takes all of the time
    },
    axes={"work_group_size": (64,)},
    metric="wall",
    # float32 rounds a number of 31 bits, and then a product
    rtol=2**-22,
)

MULTIPLIER, MODULUS = 1132489760, (1 << 31) - 1  # mcg31m1: the next state is this many times the last one


@device_func
def after(seed, steps):
    """The state after so many steps, by squaring: 31 multiplications are enough for any distance."""
    state, factor = seed, np.int64(MULTIPLIER)
    while steps > 0:
        if steps & 1:
            state = state * factor % MODULUS
        factor = factor * factor % MODULUS
        steps >>= 1
    return state


@kernel
def engine_per_number(item: kapi.NdItem, y, seed):
    i = item.get_global_id(0)
    if i < y.shape[0]:
        y[i] = np.float32(after(seed, i)) * np.float32(1 / MODULUS)


@pattern.problem
def one_sequence(rng, n):
    """All variants must give the numbers that one generator gives one after another, the seed's own first."""
    return Problem(seed=int(rng.integers(1, MODULUS)), y=output(n, np.float32), bytes_moved=4 * n)


def states_on_host(seed, n):
    """The seed and what follows: the states that are known, jumped ahead by their number, are as many more."""
    states = np.full(1, seed, np.int64)
    while states.size < n:
        jump = pow(MULTIPLIER, states.size, MODULUS)
        states = np.concatenate((states, states * jump % MODULUS))
    return states[:n]


@pattern.reference
def expected(p):
    return {"y": states_on_host(p.seed, p.n) / MODULUS}


@pattern.naive
def made_on_host(session, p):
    """Numpy makes the numbers, all at a time, and they are copied to the device."""
    numbers = states_on_host(p.seed, p.n).astype(np.float32)
    numbers *= np.float32(1 / MODULUS)
    session.copy(p.y, numbers)


# The guide times both libraries and prints no time: that they are faster than the host is ours.
@pattern.optimized(claim=Claim("faster"))
def made_by_each_item(session, p, work_group_size):
    """Every work-item has an engine that jumps ahead to its place, and takes one number: the way of oneDPL."""
    groups = ceil_div(p.n, work_group_size)
    session.launch(engine_per_number, kapi.NdRange((groups * work_group_size,), (work_group_size,)), p.y, p.seed)


@pattern.optimized(
    claim=(Claim("faster"), Claim("faster", against="made_by_each_item", on=("gpu",))), requires=("onemkl",)
)
def made_by_library(session, p):
    """An engine and one call of oneMKL, which launches what it needs and waits."""
    session.call(onemkl.uniform, p.seed, p.y)
