"""Compute in the narrowest type that holds your numbers, and count a square root as several multiply-adds."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, opencl_kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="rates_by_type",
    catalogue=("E61",),
    guide="Intel Xe GPU Architecture / Compute Throughput Rates",
    lesson="Half as wide a type is twice as many operations a clock; double precision and square roots are slower.",
    # In OpenCL C, since the arithmetic of half precision is not Python's; one text for all types.
    presets={
        "smoke": {"n": (1 << 10, 1021), "steps": 16},
        "default": {"n": {"cpu": 1 << 14, "gpu": fit(1 << 20, per_lane=16)}, "steps": 256},
        "guide": {"n": 1 << 22, "steps": 1024},
    },
    own_sizes="the guide has tables of rates without a program",
    axes={"work_group_size": (256,)},
)

CHAINS = 8  # independent ones for each work-item: no operation waits for the one before it

# A number, 0 or 1, changes into the other at each step, exactly in all types. Factor and term are arguments: the
# compiler does not know them. Chains are in vectors of two, whose arithmetic C does not promote to int: Intel's
# compiler then multiplies and adds short numbers as such (`mad` of :w), and computes each element by itself.
ALTERNATE = """
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
// OpenCL C declares it from 3.0 on, in which some compilers' own headers fail on a GPU without images
int __attribute__((overloadable)) dot_4x8packed_ss_int(uint, uint);

#define EACH_PAIR _Pragma("unroll") for (int c = 0; c < CHAINS / 2; ++c)
#define DOT(values) (dot_4x8packed_ss_int((uint)(values), (uint)(factor.x & 255)) + term.x)

__kernel void alternate(__global const int *x, __global int *y, int n, int steps, int minus_one, int one) {
    const int i = get_global_id(0);
    if (i >= n)
        return;
    const PAIR factor = (PAIR)((T)minus_one), term = (PAIR)((T)one);
    PAIR v[CHAINS / 2];
    int k = i;
    EACH_PAIR {
        v[c].x = (T)x[k];
        k = k + 1 < n ? k + 1 : 0;
        v[c].y = (T)x[k];
        k = k + 1 < n ? k + 1 : 0;
    }
    for (int step = 0; step < steps; ++step)
        EACH_PAIR v[c] = STEP;
    int total = 0;
    EACH_PAIR total += (v[c].x + v[c].x > (T)1) + (v[c].y + v[c].y > (T)1);
    y[i] = total;
}
"""
MULTIPLY_ADD = "v[c] * factor + term"
ROOT = "sqrt(v[c])"
PRODUCTS = 4  # of a dot product of 8-bit numbers; here three of them are 0
DOTS = "(PAIR)(DOT(v[c].x), DOT(v[c].y))"


@pattern.problem
def zeros_and_ones(rng, n, steps):
    if steps % (2 * PRODUCTS):
        raise ValueError(f"steps={steps}: numbers must be as before in the end: give a multiple of {2 * PRODUCTS}")
    return Problem(x=rng.integers(0, 2, n, dtype=np.int32), y=output(n, np.int32))


@pattern.reference
def expected(p):
    return {"y": sum(np.roll(p.x, -c) for c in range(CHAINS))}


def launcher(session, p, work_group_size, type_name, step=MULTIPLY_ADD, operations=1):
    text = (
        f"#define T {type_name}\n#define PAIR {type_name}2\n#define CHAINS {CHAINS}\n#define STEP {step}\n{ALTERNATE}"
    )
    alternate = opencl_kernel(text, fp_contract=True, relaxed_math=True)
    space = kapi.NdRange((ceil_div(p.n, work_group_size) * work_group_size,), (work_group_size,))
    return lambda: session.launch(alternate, space, p.x, p.y, p.n, p.steps // operations, -1, 1)


@pattern.naive
def fp32(session, p, work_group_size):
    """Multiply-adds in single precision."""
    return launcher(session, p, work_group_size, "float")


@pattern.optimized(claim=Claim("faster", on=("gpu",), source="G 245 to 246, 275"), requires=("fp16",))
def fp16(session, p, work_group_size):
    """In half precision: twice as many a clock."""
    return launcher(session, p, work_group_size, "half")


# The guide's table of GPUs (G 351 to 352) has as many operations in both on a Max, and contradicts that.
@pattern.antipattern(claim=Claim("slower", on=("gpu",), source="G 275 to 277"), requires=("fp64",))
def fp64(session, p, work_group_size):
    """In double precision: half as many a clock, where a GPU has it at all."""
    return launcher(session, p, work_group_size, "double")


@pattern.antipattern(claim=Claim("slower", on=("gpu",), source="G 357 to 358"))
def square_roots(session, p, work_group_size):
    """A native square root for each multiply-add: a fourth as many a clock."""
    return launcher(session, p, work_group_size, "float", ROOT)


@pattern.baseline
def int32(session, p, work_group_size):
    """Multiply-adds of 32-bit integers."""
    return launcher(session, p, work_group_size, "int")


# The guide's table of integers is that of Xe-LP, whose cores have 112 threads; it has none of later GPUs.
XE_LP = ("threads_per_core=112",)


@pattern.optimized(claim=Claim("faster", against="int32", on=("gpu",), requires=XE_LP, source="G 245 to 246"))
def int16(session, p, work_group_size):
    """Of 16-bit integers: twice as many a clock as of 32."""
    return launcher(session, p, work_group_size, "short")


@pattern.optimized(
    claim=Claim("faster", against="int32", on=("gpu",), requires=XE_LP, source="G 245 to 246"),
    requires=("integer_dot_product",),
)
def int8_by_dot_products(session, p, work_group_size):
    """Of 8-bit integers, four in an instruction (DP4A), so there are a fourth as many steps."""
    return launcher(session, p, work_group_size, "int", DOTS, PRODUCTS)
