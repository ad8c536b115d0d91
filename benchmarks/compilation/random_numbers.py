"""Random numbers where they are needed: a generator in the kernel, instead of numbers that the host sends."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, device_func, fit, kernel, opencl_kernel, output, sycl_kernel
from xebench import kernel_api as kapi

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="random_numbers",
    catalogue=("E59",),
    guide="Using Libraries for GPU Offload / Using Standard Library Functions in SYCL Kernels",
    lesson="A kernel cannot call the host's rand(); a generator that can jump ahead gives each work-item its own part.",
    # The guide has oneDPL's minstd_rand do it, which is in headers of C++: the same generator is written out beside it.
    presets={
        "smoke": {"n": (1 << 14, 16381)},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 22, per_lane=8)}},
        "guide": {"n": 20},  # the fewest that its program makes: a launch takes all of the time
    },
    axes={"work_group_size": (64,)},
    metric="wall",
    # float32 rounds a number of 31 bits, and then a product
    rtol=2**-22,
    atol=2**-30,  # oneDPL takes one from the state, so that 0 is among the numbers
)

MULTIPLIER, MODULUS = 48271, (1 << 31) - 1  # minstd: the next state is this many times the last one
PER_ITEM = 16  # numbers that an engine gives one after another


@device_func
def skip_ahead(seed, steps):
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
        y[i] = np.float32(skip_ahead(seed, i + 1)) * np.float32(1 / MODULUS)


@kernel
def engine_per_item(item: kapi.NdItem, y, seed):
    size = item.get_local_range(0)
    first = item.get_group().get_group_id(0) * size * PER_ITEM + item.get_local_id(0)
    state = skip_ahead(seed, first + 1)
    jump = skip_ahead(np.int64(1), size)  # to this item's next number, so that neighbours write neighbouring ones
    for k in range(PER_ITEM):
        i = first + k * size
        if i < y.shape[0]:
            y[i] = np.float32(state) * np.float32(1 / MODULUS)
        state = state * jump % MODULUS


engine_of_onedpl = sycl_kernel(
    """
    #include <sycl/sycl.hpp>
    #include <oneapi/dpl/random>
    namespace syclex = sycl::ext::oneapi::experimental;

    extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclex::nd_range_kernel<1>))
    void engine_of_onedpl(float *y, unsigned seed, int n) {
        const int i = sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_id(0);
        if (i >= n)
            return;
        oneapi::dpl::minstd_rand engine(seed, i);
        oneapi::dpl::uniform_real_distribution<float> distribution;
        y[i] = distribution(engine);
    }
    """
)

# Declared as what is defined elsewhere, as SYCL_EXTERNAL does. The number changes no result: it is never negative.
host_generator_called = opencl_kernel(
    """
    int rand(void);

    __kernel void host_generator_called(__global float *y, const long seed, const int n) {
        const int i = get_global_id(0);
        if (i >= n)
            return;
        long state = seed, factor = MULTIPLIER;
        for (int steps = i + 1; steps > 0; steps >>= 1) {
            if (steps & 1)
                state = state * factor % MODULUS;
            factor = factor * factor % MODULUS;
        }
        y[i] = (float)state * (1.0f / MODULUS) + (rand() < 0);
    }
    """,
    build_options=f"-DMULTIPLIER={MULTIPLIER}L -DMODULUS={MODULUS}L",
)


@pattern.problem
def one_sequence(rng, n):
    """All variants must give the numbers that one generator gives one after another."""
    return Problem(seed=int(rng.integers(1, MODULUS)), y=output(n, np.float32), bytes_moved=4 * n)


def states_on_host(seed, n):
    """The states after 1 to n steps: those that are known, jumped ahead by their number, are as many more."""
    states = np.full(1, seed * MULTIPLIER % MODULUS, np.int64)
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


def items(count, work_group_size):
    return kapi.NdRange((ceil_div(count, work_group_size) * work_group_size,), (work_group_size,))


# The guide shows how, and says nothing of its time.
@pattern.optimized(claim="faster")
def made_by_each_item(session, p, work_group_size):
    """Every work-item has an engine that jumps ahead to its place, and takes one number from it."""
    session.launch(engine_per_number, items(p.n, work_group_size), p.y, p.seed)


@pattern.optimized(claim="faster")
def made_by_onedpl(session, p, work_group_size):
    """The guide's program: an engine of oneDPL (`onedpl-devel`) in every work-item."""
    session.launch(engine_of_onedpl, items(p.n, work_group_size), p.y, p.seed, p.n)


@pattern.optimized(claim=(Claim("faster"), Claim("faster", against="made_by_each_item")))
def several_an_engine(session, p, work_group_size):
    """Every work-item jumps ahead once, and takes 16 numbers."""
    session.launch(engine_per_item, items(ceil_div(p.n, PER_ITEM), work_group_size), p.y, p.seed)


# The guide's error is that of a GPU's driver; on its CPU the same program runs (G 5807).
@pattern.antipattern(claim=Claim("error", kind="rand", on=("gpu",), source="G 5838"))
def rand_in_kernel(session, p, work_group_size):
    """The host's generator, called in the kernel: it is no part of a device's program."""
    session.launch(host_generator_called, items(p.n, work_group_size), p.y, p.seed, p.n)


in_opencl(pattern, several_an_engine)
