"""Read memory in the order in which it lies, and each row once: two rules of locality at a stencil of three rows."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="stencil_row_reuse",
    catalogue=("E03",),
    guide="Getting Started / Locality",
    lesson="Neighbouring work-items read neighbouring elements, and what was read is used again before it is lost.",
    presets={
        "smoke": {"rows": (64, 61), "columns": 128},
        "default": {"rows": {"cpu": 1 << 9, "gpu": fit(1 << 11, bytes_each=8 << 11)}, "columns": 1 << 11},
        "guide": {"rows": 1 << 12, "columns": 1 << 12},
    },
    own_sizes="the guide has no program",
    # The chapter's first rule, to leave data on the device, is the lesson of intermediates_on_device and usm_kinds.
    # Fewer items a group: what reads each row nine times would wait for the dispatch of its groups, not for memory.
    axes={"work_group_size": (256,)},
)

BLOCK = 16  # rows that a work-item walks down


@kernel
def sum_down_columns(item: kapi.NdItem, grid, sums):
    # the first dimension is the one in which neighbouring work-items differ, and here it counts rows
    row, column = item.get_global_id(0), item.get_global_id(1)
    if row < sums.shape[0]:
        total = np.int32(0)
        for i in range(3):
            for j in range(3):
                total = np.int32(total + grid[row + i, column + j])
        sums[row, column] = total


@kernel
def sum_along_rows(item: kapi.NdItem, grid, sums):
    column, row = item.get_global_id(0), item.get_global_id(1)
    if column < sums.shape[1]:
        total = np.int32(0)
        for i in range(3):
            for j in range(3):
                total = np.int32(total + grid[row + i, column + j])
        sums[row, column] = total


@kernel
def sum_blocks_of_rows(item: kapi.NdItem, grid, sums):
    column, first = item.get_global_id(0), item.get_global_id(1) * BLOCK
    if column < sums.shape[1]:
        prior = np.int32(grid[first, column] + grid[first, column + 1] + grid[first, column + 2])
        current = np.int32(grid[first + 1, column] + grid[first + 1, column + 1] + grid[first + 1, column + 2])
        for row in range(first, min(first + BLOCK, sums.shape[0])):
            following = np.int32(grid[row + 2, column] + grid[row + 2, column + 1] + grid[row + 2, column + 2])
            sums[row, column] = prior + current + following
            prior, current = current, following


@pattern.problem
def grid_with_border(rng, rows, columns):
    return Problem(
        grid=rng.integers(0, 1 << 20, (rows + 2, columns + 2), dtype=np.int32),
        sums=output((rows, columns), np.int32),
        bytes_moved=4 * ((rows + 2) * (columns + 2) + rows * columns),
        # of the three numbers of a row, and of the three rows
        operations=2 * (rows + 2) * columns + 2 * rows * columns,
        operation_kind="int32",
    )


@pattern.reference
def expected(p):
    of_rows = p.grid[:, :-2] + p.grid[:, 1:-1] + p.grid[:, 2:]
    return {"sums": of_rows[:-2] + of_rows[1:-1] + of_rows[2:]}


def launcher(session, p, work_group_size, add, along, across):
    groups = ceil_div(along, work_group_size)
    space = kapi.NdRange((groups * work_group_size, across), (work_group_size, 1))
    return lambda: session.launch(add, space, p.grid, p.sums)


@pattern.naive
def neighbours_in_a_column(session, p, work_group_size):
    """Row, then column, as in a loop on the host: neighbouring work-items read from different rows."""
    return launcher(session, p, work_group_size, sum_down_columns, p.rows, p.columns)


@pattern.intermediate(claim=Claim("faster", on=("gpu",), source="G 190"))
def neighbours_in_a_row(session, p, work_group_size):
    """Neighbouring work-items read neighbouring elements; each element is still read nine times."""
    return launcher(session, p, work_group_size, sum_along_rows, p.columns, p.rows)


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), source="G 190 to 191"),
        Claim("faster", against="neighbours_in_a_row", on=("gpu",), source="G 191"),
    )
)
def rows_used_again(session, p, work_group_size):
    """Each work-item walks down 16 rows and keeps the sums of the last two: each element is read three times."""
    return launcher(session, p, work_group_size, sum_blocks_of_rows, p.columns, ceil_div(p.rows, BLOCK))


in_opencl(pattern, rows_used_again)
