"""Multiply matrices on the matrix engine: a tile an instruction, and enough tiles a sub-group to keep it fed."""

from xebench import Claim, Pattern, opencl_kernel
from xebench import kernel_api as kapi

from ..common import matrix_engine as engine

pattern = Pattern(
    name="matrix_engine",
    catalogue=("E56",),
    guide="Kernels / Programming Intel XMX Using SYCL Joint Matrix Extension",
    lesson="One instruction multiplies two tiles; a sub-group that holds many tiles loads each of them for several.",
    # The guide's joint_matrix is no part of numba-dpex, so this is OpenCL C, in which each lane loads its elements of a
    # tile. What tiles save is seen without a GPU, by `xebench isa --gpu pvc --keep FOLDER`: one_tile loads 16 times
    # for each dpas instruction, eight_tiles 6 times.
    presets={
        "smoke": {"n": (256, 768)},
        # 256 cache blocks, of which a Max or an Arc takes at least two for each core
        "default": {"n": {"cpu": 256, "gpu": 4096}},
        "guide": {"n": 4096},
    },
    own_sizes="the guide names no size; its published program multiplies 16 by 32 with 32 by 32, too little to time",
)

CACHE_BLOCK = 256  # rows and columns of a work-group
ITEMS = 16  # rows and columns of a work-group of the naive kernel

multiply_elements = opencl_kernel(
    """
    float value_of(ushort bfloat16) { return as_float((uint)bfloat16 << 16); }

    __kernel void multiply_elements(__global const ushort *a, __global const ushort *b, __global float *c, int n) {
        const int col = get_global_id(0), row = get_global_id(1);
        float sum = 0.0f;
        for (int k = 0; k < n; ++k)
            sum += value_of(a[row * n + k]) * value_of(b[(k / 2 * n + col) * 2 + k % 2]);
        c[row * n + col] = sum;
    }
    """,
    name="multiply_elements",
    fp_contract=True,  # the engine rounds once as well
)


@pattern.problem
def whole_numbers(rng, n):
    return engine.small_numbers(rng, n, n, CACHE_BLOCK)


@pattern.reference
def expected(p):
    return {"c": engine.product(p)}


@pattern.naive
def an_element_an_item(session, p):
    """Every work-item multiplies a row with a column, on the vector engine."""
    items = kapi.NdRange((p.n, p.n), (ITEMS, ITEMS))
    session.launch(multiply_elements, items, p.a, p.b, p.c, p.n)


def tiles(session, p, lanes, tall, wide, large_grf=False, block=engine.BLOCK):
    multiply = engine.multiply_on_engine(lanes, tall=tall, wide=wide, large_grf=large_grf)
    return lambda: session.launch(multiply, engine.sub_groups(p.n, lanes, tall, wide, block), p.a, p.b, p.c, p.n, p.n)


@pattern.intermediate(
    claim=(
        Claim("faster", strength="implied", source="G 5364"),
        Claim("additions", strength="implied", source="G 5370"),  # the engine's instruction multiplies and adds
    ),
    requires=("matrix_lanes=16",),
)
def one_tile(session, p):
    """As in the guide, a sub-group is a work-group, and computes one tile of 8 by 16: each instruction loads two."""
    return tiles(session, p, 16, tall=1, wide=1, block=0)


@pattern.optimized(
    claim=(
        Claim("faster", strength="implied", source="G 5370 to 5444"),
        Claim("faster", against="one_tile", source="G 5442 to 5444"),
    ),
    requires=("matrix_lanes=16",),
)
def eight_tiles(session, p):
    """A sub-group computes 32 by 32: six tiles are loaded for eight instructions."""
    return tiles(session, p, 16, tall=4, wide=2)


@pattern.optimized(
    claim=(
        Claim("faster", against="eight_tiles", strength="implied", source="G 5451 to 5457"),
        Claim("faster", against="sixteen_tiles_in_few_registers", source="G 5457"),
        Claim("spills", against="sixteen_tiles_in_few_registers", strength="implied", source="G 5457"),
    ),
    requires=("matrix_lanes=16",),
)
def sixteen_tiles(session, p):
    """A sub-group computes the guide's 64 by 32, which take half of 256 registers."""
    return tiles(session, p, 16, tall=8, wide=2, large_grf=True)


@pattern.optimized(
    claim=Claim("faster", against="sixteen_tiles", source="G 5445 to 5454"), requires=("matrix_lanes=16",)
)
def sixteen_tiles_in_cache_blocks(session, p):
    """A work-group of 32 such sub-groups computes the guide's 256 by 256: they find in caches what one has read.

    What the guide blocks along k, 32, are two steps of the loop.
    """
    return tiles(session, p, 16, tall=8, wide=2, large_grf=True, block=CACHE_BLOCK)


@pattern.antipattern(requires=("matrix_lanes=16",))
def sixteen_tiles_in_few_registers(session, p):
    """The same in the usual 128 registers, which the sums alone would fill."""
    return tiles(session, p, 16, tall=8, wide=2)


@pattern.optimized(
    claim=(
        Claim("faster", strength="implied", source="G 5370 to 5444"),
        Claim("additions", strength="implied", source="G 5370"),
    ),
    requires=("matrix_lanes=8",),
)
def eight_tiles_of_8_lanes(session, p):
    """The engine of Arc's A series is half as wide: a sub-group of 8 lanes computes 32 by 16."""
    return tiles(session, p, 8, tall=4, wide=2)
