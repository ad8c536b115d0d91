"""Multiply on the matrix engine in the shortest type that will do: bytes are twice as fast as 16-bit floats."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, opencl_kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="matrix_engine_types",
    catalogue=("E56", "E61"),
    guide="Intel Xe GPU Architecture / Xe-core",
    lesson="An instruction of the engine takes 32 bytes of each row, whatever their type: shorter numbers are more.",
    # The engine's functions are OpenCL C's alone.
    presets={
        "smoke": {"tiles": (1 << 6, 61), "steps": 16},
        "default": {"tiles": {"cpu": 1 << 8, "gpu": fit(1 << 13, per_lane=1 / 16)}, "steps": 1024},
        "guide": {"tiles": 1 << 16, "steps": 1024},
    },
    own_sizes="the guide has a table of rates without a program",
    odd_sizes={},
    requires=("matrix_lanes=16",),
)

LANES, ROWS = 16, 8  # columns and rows of a tile of the engine
CHAINS = 4  # tiles that a sub-group adds to in turn: no instruction waits for the one before it

# Every tile holds one number, so that no layout matters.
MULTIPLY_AGAIN = """
__attribute__((overloadable)) SUM8 MULTIPLY(short8 a, int8 b, SUM8 sum);

__attribute__((intel_reqd_sub_group_size(LANES)))
__kernel void multiply_again(__global const int *left, __global const int *right, __global int *y, int steps) {
    const int tile = get_group_id(0);
    const short8 a = (short)left[tile];
    const int8 b = right[tile];
    SUM8 sum[CHAINS];
    _Pragma("unroll") for (int c = 0; c < CHAINS; ++c) sum[c] = c;
    for (int step = 0; step < steps; ++step)
        _Pragma("unroll") for (int c = 0; c < CHAINS; ++c) sum[c] = MULTIPLY(a, b, sum[c]);
    for (int c = 1; c < CHAINS; ++c) sum[0] += sum[c];
    for (int r = 0; r < ROWS; ++r) y[(tile * ROWS + r) * LANES + get_local_id(0)] = ((SUM *)sum)[r];
}
"""


@pattern.problem
def small_numbers(rng, tiles, steps):
    """1 to 3, of which all products and sums are exact."""
    if steps % 2:
        raise ValueError(f"steps={steps}: a product of bytes is two of floats, so give a multiple of 2")
    left, right = (rng.integers(1, 4, tiles, dtype=np.int32) for _ in range(2))
    return Problem(left=left, right=right, y=output((tiles, ROWS, LANES), np.int32))


@pattern.reference
def expected(p):
    sums = sum(range(CHAINS)) + CHAINS * p.steps * 16 * p.left * p.right
    return {"y": np.broadcast_to(sums[:, None, None], (p.tiles, ROWS, LANES))}


def launcher(session, p, function, sum_type, halves, steps):
    """A sample.

    Args:
        halves: the 16 bits that are a number, or two bytes, from int32.
    """
    macros = {"LANES": LANES, "ROWS": ROWS, "CHAINS": CHAINS}
    macros |= {"MULTIPLY": function, "SUM": sum_type, "SUM8": f"{sum_type}8"}
    options = tuple(f"-D{name}={value}" for name, value in macros.items())
    multiply = opencl_kernel(MULTIPLY_AGAIN, build_options=options)
    left, right = (session.alloc(p.tiles, np.int32) for _ in range(2))
    session.copy(left, halves(p.host.left))
    session.copy(right, halves(p.host.right) * 0x10001)
    session.wait()
    return lambda: session.launch(multiply, kapi.NdRange((p.tiles * LANES,), (LANES,)), left, right, p.y, steps)


@pattern.naive
def bfloat16(session, p):
    """Products of bfloat16, added up in float32."""

    def halves(numbers):
        return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.int32)

    return launcher(session, p, "intel_sub_group_bf16_bf16_matrix_mad_k16", "float", halves, p.steps)


@pattern.intermediate(claim=Claim("same", on=("gpu",), within=0.05, source="G 277"))
def float16(session, p):
    """Products of float16, added up in float32: as many a clock."""

    def halves(numbers):
        return numbers.astype(np.float16).view(np.uint16).astype(np.int32)

    return launcher(session, p, "intel_sub_group_f16_f16_matrix_mad_k16", "float", halves, p.steps)


@pattern.optimized(claim=Claim("faster", on=("gpu",), source="G 277"))
def bytes_of_integers(session, p):
    """Products of int8, added up in int32: twice as many a clock, and so half as many instructions."""

    def halves(numbers):
        return numbers * 0x101

    return launcher(session, p, "intel_sub_group_i8_i8_matrix_mad_k32", "int", halves, p.steps // 2)
