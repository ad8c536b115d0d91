"""Multiply matrices on Intel's matrix engine (XMX), which only OpenCL C reaches from here.

The engine multiplies a tile of 8 rows by 16 values with one of 16 values by as many columns as it has lanes, in the
short format bfloat16, and adds the product to a tile of float32.
"""

import numpy as np

from xebench import Problem, opencl_kernel, output
from xebench import kernel_api as kapi

BLOCK = 64  # rows and columns of the product that a work-group computes
ROWS = 8  # of a tile of the engine

# A lane has one value of each row of the left tile, or two if there are 8 lanes, and one column of the right one.
MULTIPLY = """
#if LANES == 16
typedef short left_t;
typedef short8 left_tile;
#else
typedef int left_t;
typedef int8 left_tile;
#endif
#define PER_LANE (16 / LANES)
#define EACH(i, count) _Pragma("unroll") for (int i = 0; i < count; ++i)  // arrays stay in registers

#ifndef EMULATED
__attribute__((overloadable)) float8 intel_sub_group_bf16_bf16_matrix_mad_k16(left_tile a, int8 b, float8 sum);
#endif

__attribute__((intel_reqd_sub_group_size(LANES)))
__kernel void multiply_tiles(__global const void *a, __global const void *b, __global float *c, const int n,
                             const int depth) {
    __global const left_t *of_a = (__global const left_t *)a;
    __global const int *of_b = (__global const int *)b;
    const int lane = get_local_id(0) % LANES;
    const int row = get_global_id(1) * 8 * TALL;
    const int col = get_global_id(0) / LANES * LANES * WIDE + lane;
    float8 sum[TALL][WIDE];
    EACH(i, TALL)
        EACH(j, WIDE)
            sum[i][j] = 0.0f;
    for (int k = 0; k < depth; k += 16) {
        int8 right[WIDE];
        EACH(j, WIDE)
            EACH(r, 8)
                ((int *)&right[j])[r] = of_b[(k / 2 + r) * n + col + j * LANES];
        EACH(i, TALL) {
            left_tile left;
            EACH(r, 8)
                ((left_t *)&left)[r] = of_a[((row + i * 8 + r) * depth + k) / PER_LANE + lane];
            EACH(j, WIDE)
                sum[i][j] = intel_sub_group_bf16_bf16_matrix_mad_k16(left, right[j], sum[i][j]);
        }
    }
    EACH(i, TALL)
        EACH(j, WIDE)
            EACH(r, 8)
                c[(row + i * 8 + r) * n + col + j * LANES] = FACTOR * ((float *)&sum[i][j])[r];
}
"""


def multiply_on_engine(lanes, tall=1, wide=1, large_grf=False, emulation="", factor=1):
    """The kernel that multiplies matrices of bfloat16.

    Args:
        lanes: of the engine: 16 on Max and later, 8 on Arc of the A series.
        tall: tiles of 8 rows, and
        wide: tiles of ``lanes`` columns that a sub-group computes.
        emulation: OpenCL C of the engine's function, for a device without one.
        factor: of the product, which a sub-group multiplies its tiles by before it writes them.
    """
    macros = f"-DLANES={lanes} -DTALL={tall} -DWIDE={wide} -DFACTOR={factor:.1f}f{' -DEMULATED' if emulation else ''}"
    return opencl_kernel(emulation + MULTIPLY, name="multiply_tiles", build_options=macros, large_grf=large_grf)


def sub_groups(n, lanes, tall, wide, block=BLOCK):
    """A sub-group for every ``tall`` by ``wide`` tiles.

    Args:
        block: rows and columns of a work-group; 0: each sub-group is one.
    """
    columns, rows = lanes * wide, ROWS * tall
    group = (block // columns * lanes, block // rows) if block else (lanes, 1)
    return kapi.NdRange((n // columns * lanes, n // rows), group)


def small_numbers(rng, n, depth, block=BLOCK):
    """A problem of whole numbers that are exact in bfloat16, and their sums in float32.

    Args:
        n: rows and columns of the product.
        depth: columns of the left factor, rows of the right one.
        block: rows and columns of which the matrices have a whole number.
    """
    for name, size in (("n", n), ("depth", depth)):
        if size % block:
            raise ValueError(f"{name}={size}: blocks must be whole, so give a multiple of {block}")
    a, b = (
        bfloat16(rng.integers(0, 10, shape, dtype=np.uint8).astype(np.float32)) for shape in ((n, depth), (depth, n))
    )
    return Problem(
        a=a,
        b=in_pairs(b),
        c=output((n, n), np.float32),
        bytes_moved=(2 + 2) * n * depth + 4 * n * n,
    )


def product(p):
    """The product of both factors, in float32."""
    rows, columns = p.b.shape
    b = p.b.reshape(rows // 2, columns, 2).transpose(0, 2, 1).reshape(rows, columns)
    return _float32(p.a) @ _float32(b)


def bfloat16(x):
    """The nearest bfloat16 of float32 numbers, as the upper halves of their bits."""
    return ((x.view(np.uint32) + 0x8000) >> 16).astype(np.uint16)


def in_pairs(matrix):
    """A right factor as the engine takes it: each word has the values of two rows."""
    rows, columns = matrix.shape
    return matrix.reshape(rows // 2, 2, columns).transpose(0, 2, 1).reshape(rows, columns)


def _float32(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)
