"""Transpose a matrix block by block, the lanes of a sub-group exchanging their elements by shuffles."""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi
from xebench.dpex import sub_group

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="subgroup_shuffle_transpose",
    catalogue=("E16",),
    guide="Sub-Groups and SIMD Vectorization / Data Sharing",
    lesson="Lanes of a sub-group hand each other what their registers hold; there is no need to go through memory.",
    presets={
        "smoke": {"n": (512, 768)},
        "default": {"n": {"cpu": 2048, "gpu": 6400}},
        "guide": {"n": 4096},
    },
    axes={"sub_group_size": "device"},  # the guide's is 16
    requires=("sub_groups",),
)

TILE = 16  # rows and columns of the work-group that transposes an element a work-item
WHOLE = 256  # rows and columns that whole blocks of every sub-group's size make up


@kernel
def transpose_elements(item: kapi.NdItem, x, y):
    col = item.get_global_id(0)
    row = item.get_global_id(1)
    y[col, row] = x[row, col]


@kernel
def transpose_tiles(item: kapi.NdItem, x, y, tile):
    col = item.get_local_id(0)
    row = item.get_local_id(1)
    first_col = item.get_group().get_group_id(0) * TILE
    first_row = item.get_group().get_group_id(1) * TILE
    tile[row, col] = x[first_row + row, first_col + col]
    kapi.group_barrier(item.get_group())
    y[first_col + row, first_row + col] = tile[col, row]


def transpose_blocks_in(lanes):
    """The kernel for blocks of ``lanes`` rows and columns, each transposed by a sub-group of ``lanes``."""

    @kernel(sub_group_size=lanes, unroll="full")
    def transpose_blocks(item: kapi.NdItem, x, y):
        lane = sub_group.local_id()
        block = item.get_group().get_group_id(0)
        blocks_in_row = x.shape[1] // lanes
        first_row = block // blocks_in_row * lanes
        first_col = block % blocks_in_row * lanes
        rows = kapi.PrivateArray(lanes, np.uint32)  # both in registers, as the loops are unrolled
        columns = kapi.PrivateArray(lanes, np.uint32)
        for k in range(lanes):
            rows[k] = sub_group.block_read(x, (first_row + k, first_col))
        # lane j takes what row j has in the other lanes; all lanes take part in every shuffle
        for j in range(lanes):
            for k in range(lanes):
                element = sub_group.shuffle(rows[j], k)
                if lane == j:
                    columns[k] = element
        for k in range(lanes):
            sub_group.block_write(y, (first_col + k, first_row), columns[k])

    return transpose_blocks


@pattern.problem
def matrix(rng, n):
    if n % WHOLE:
        raise ValueError(f"n={n}: blocks must be whole, so give a multiple of {WHOLE}")
    return Problem(
        x=rng.integers(0, 1 << 32, (n, n), dtype=np.uint32), y=output((n, n), np.uint32), bytes_moved=8 * n * n
    )


@pattern.reference
def expected(p):
    return {"y": np.ascontiguousarray(p.x.T)}


@pattern.naive
def element_per_item(session, p):
    """Each work-item moves one element: neighbours read along a row and write down a column."""
    session.launch(transpose_elements, kapi.NdRange((p.n, p.n), (TILE, TILE)), p.x, p.y)


@pattern.intermediate
def tile_in_slm(session, p):
    """A work-group transposes a tile in SLM, so that it reads and writes along rows."""
    tile = kapi.LocalAccessor((TILE, TILE + 1), np.uint32)  # a spare column: a tile's column is in different banks
    session.launch(transpose_tiles, kapi.NdRange((p.n, p.n), (TILE, TILE)), p.x, p.y, tile)


@pattern.optimized(claim=Claim("faster", against="tile_in_slm", on=("gpu",), source="G 1338"))
def shuffles(session, p, sub_group_size):
    """A sub-group, which is a work-group, reads a block by rows, transposes it by shuffles, and writes it by rows."""
    transpose_blocks = transpose_blocks_in(sub_group_size)
    items = kapi.NdRange((p.n * p.n // sub_group_size,), (sub_group_size,))
    return lambda: session.launch(transpose_blocks, items, p.x, p.y)


in_opencl(pattern, tile_in_slm)
