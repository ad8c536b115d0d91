"""A stencil that needs six numbers of a cell should not fetch the cell's other ten: ours, for a program of SPEC's."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, kernel, output
from xebench import kernel_api as kapi

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="stencil_cacheline_utilisation",
    catalogue=("E92", "stencil_cache_line_use"),
    guide="Analyzing Performance / Intel Advisor GPU Roofline, a stencil data pattern",
    lesson="A kernel that uses 38 % of each cache line fetches the rest for nothing: lay data out as they are read.",
    # 192: half a gigabyte, more than any last cache that we know
    presets={
        "smoke": {"edge": (16, 13)},
        "default": {"edge": {"cpu": 64, "gpu": 200}},
        "guide": {"edge": 192},
    },
    own_sizes="the guide names no size of its program",
    stand_in="The guide looks at 504.polbm of SPEC ACCEL, a stencil in double precision that is not public, and prints "
    "none of it and no time. It names remedies and tries none, since nobody may change a benchmark's layout. Measured "
    "is the sum of the six flows into a cell: it fills a cache line, and 6 of its 16 numbers are used, the guide's "
    "38 %.",
)

GROUP = 64
TILE = 4  # cells of a group along each axis, where it shares them

# A cell fills a cache line of 64 bytes, and 6 of its 16 numbers are used: chosen to be the guide's 38 % (G 21735).
FIELDS = 16
REPEATED = (1 << 20) - 3
USED = 6  # what flows out of a cell through each of its faces


@kernel
def gather_inflow(item: kapi.NdItem, flows, inflow, edge, per_cell, per_field):
    """``flows`` has the next cell's number ``per_cell`` further on, and the cell's next number ``per_field``."""
    x, y, z = item.get_global_id(0), item.get_global_id(1), item.get_global_id(2)
    if x < edge:
        row = (edge + 2) * per_cell  # the grid has one more cell on each side
        layer = (edge + 2) * row
        here = (z + 1) * layer + (y + 1) * row + (x + 1) * per_cell
        inflow[(z * edge + y) * edge + x] = (
            flows[here - per_cell]
            + flows[here + per_cell + per_field]
            + flows[here - row + 2 * per_field]
            + flows[here + row + 3 * per_field]
            + flows[here - layer + 4 * per_field]
            + flows[here + layer + 5 * per_field]
        )


@kernel
def gather_from_tile(item: kapi.NdItem, flows, inflow, edge, tile):
    """A work-item fetches the used numbers of its cell, and leaves them to its group in SLM, field by field."""
    x, y, z = item.get_local_id(0), item.get_local_id(1), item.get_local_id(2)
    i, j, k = item.get_global_id(0), item.get_global_id(1), item.get_global_id(2)
    row, layer = (edge + 2) * FIELDS, (edge + 2) * (edge + 2) * FIELDS
    here = (k + 1) * layer + (j + 1) * row + (i + 1) * FIELDS
    me = (z * TILE + y) * TILE + x
    if i <= edge and j <= edge and k <= edge:  # a neighbour in the last layers, too
        for field in range(USED):
            tile[field, me] = flows[here + field]
    kapi.group_barrier(item.get_group())
    if i < edge and j < edge and k < edge:
        west = tile[0, me - 1] if x > 0 else flows[here - FIELDS]
        east = tile[1, me + 1] if x < TILE - 1 else flows[here + FIELDS + 1]
        south = tile[2, me - TILE] if y > 0 else flows[here - row + 2]
        north = tile[3, me + TILE] if y < TILE - 1 else flows[here + row + 3]
        below = tile[4, me - TILE**2] if z > 0 else flows[here - layer + 4]
        above = tile[5, me + TILE**2] if z < TILE - 1 else flows[here + layer + 5]
        inflow[(k * edge + j) * edge + i] = west + east + south + north + below + above


@pattern.problem
def cells(rng, edge):
    # small whole numbers: exact in float32; they repeat after a prime number of them, so that no shift is unseen
    repeated = rng.integers(0, 128, REPEATED, dtype=np.uint8).astype(np.float32)
    flows = np.resize(repeated, ((edge + 2) ** 3, FIELDS))
    return Problem(
        flows=flows,
        inflow=output(edge**3, np.float32),
        bytes_moved=4 * (USED + 1) * edge**3,
        operations=(USED - 1) * edge**3,
    )


@pattern.reference
def expected(p):
    side, inner = p.edge + 2, slice(1, -1)
    before, after = slice(0, -2), slice(2, None)
    flows = p.flows.reshape(side, side, side, FIELDS)
    return {
        "inflow": (
            flows[inner, inner, before, 0]
            + flows[inner, inner, after, 1]
            + flows[inner, before, inner, 2]
            + flows[inner, after, inner, 3]
            + flows[before, inner, inner, 4]
            + flows[after, inner, inner, 5]
        ).ravel()
    }


def launcher(session, p, flows, per_cell, per_field):
    """Neighbouring work-items have neighbouring cells along x, in both layouts."""
    space = kapi.NdRange((ceil_div(p.edge, GROUP) * GROUP, p.edge, p.edge), (GROUP, 1, 1))
    return lambda: session.launch(gather_inflow, space, flows, p.inflow, p.edge, per_cell, per_field)


def cells_on_device(session, p):
    """The cells as they are: each one's 16 numbers lie together."""
    flows = session.alloc(p.flows.size, np.float32)
    session.copy(flows, p.host.flows.ravel())
    return flows


@pattern.naive
def array_of_structures(session, p):
    """A cell's 16 numbers lie together: a load by neighbouring items takes 4 bytes of each of as many lines."""
    return launcher(session, p, cells_on_device(session, p), FIELDS, 1)


# The guide names three remedies: layout, local memory, and parallelism along an axis of the data.
@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 21717 to 21739"))
def cells_in_local_memory(session, p):
    """The same layout; a cell's line is fetched once, for all of its neighbours in a group of 4 x 4 x 4 cells."""
    flows = cells_on_device(session, p)
    space = kapi.NdRange((ceil_div(p.edge, TILE) * TILE,) * 3, (TILE,) * 3)
    tile = kapi.LocalAccessor((USED, TILE**3), np.float32)
    return lambda: session.launch(gather_from_tile, space, flows, p.inflow, p.edge, tile)


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 21717 to 21739"))
def structure_of_arrays(session, p):
    """Each of the 16 numbers has an array of its own for all cells: lines are used in full, ten arrays are not read."""
    flows = session.alloc(p.flows.size, np.float32)
    session.copy(flows, np.ascontiguousarray(p.host.flows.T).ravel())
    return launcher(session, p, flows, 1, p.flows.shape[0])


in_opencl(pattern, structure_of_arrays)
