"""Occupancies of the launches of patterns, for the terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal

from rich.table import Table

from xebench.isa.collect import VariantWithoutKernel
from xebench.isa.roof_projection import KernelOccupancy
from xebench.report.console import draw, plain_table, terminal_width
from xebench.report.occupancy_text import step_text
from xebench.report.units import binary_size, figure, percent
from xebench.report.units import occupancy as device_occupancy
from xebench.system.gpu_model.occupancy import nearest_better
from xebench.tables.analysis import points


def as_json(kernels: Sequence[KernelOccupancy], missing: Sequence[VariantWithoutKernel], preset: str) -> str:
    """The launches as a list of objects."""
    return json.dumps([kernel.to_json() for kernel in kernels], indent=2)


def as_text(
    kernels: Sequence[KernelOccupancy],
    missing: Sequence[VariantWithoutKernel],
    preset: str,
    width: int | None = None,
) -> str:
    """A table for each pattern and point of its axes, with remarks below it; then the variants without a kernel."""
    width = width or terminal_width()
    return draw(_parts(kernels, missing, preset, width), width, wrap=False)


def _parts(
    kernels: Sequence[KernelOccupancy], missing: Sequence[VariantWithoutKernel], preset: str, width: int
) -> Iterator[str | Table]:
    for (pattern, axes), group in groupby(kernels, key=lambda kernel: (kernel.launch.pattern, kernel.launch.axes)):
        launches = list(group)
        yield ", ".join(filter(None, (pattern, preset, points.words(points.parse(axes)))))
        yield _table(launches, width)
        yield from _remarks(launches)
        yield ""
    yield from (f"{variant.pattern}/{variant.variant}: {variant.reason}" for variant in missing)


def _table(kernels: Sequence[KernelOccupancy], width: int) -> Table:
    """One launch a row: its request, and the occupancy that follows."""
    table = plain_table()
    headings = (("group", 5), ("SIMD", 4), ("SLM", 4), ("Xe-core", 7), ("device", 8), ("waves", 8), ("limited by", 11))
    # figures are never cut: the names have what is left
    left = width - sum(needed + 2 for _, needed in headings)
    table.add_column("variant, kernel", no_wrap=True, overflow="ellipsis", max_width=left)
    for heading, needed in headings:
        side: Literal["left", "right"] = "left" if heading == "limited by" else "right"
        table.add_column(heading, justify=side, no_wrap=True, min_width=needed)
    for kernel in kernels:
        occupancy = kernel.occupancy
        if occupancy is None:
            table.add_row(_name(kernel), *"-------")
            continue
        table.add_row(
            _name(kernel),
            f"{occupancy.launch.work_group_size}{'*' if kernel.assumed else ''}",
            str(occupancy.launch.sub_group_size),
            binary_size(occupancy.launch.slm_bytes),
            percent(occupancy.xe_core_occupancy),
            device_occupancy(occupancy.device_occupancy, occupancy.is_upper_bound),
            "-" if occupancy.waves is None else figure(occupancy.waves),
            occupancy.limited_by,
        )
    return table


def _name(kernel: KernelOccupancy) -> str:
    return f"{kernel.launch.variant}, {kernel.launch.kernel}"


def _remarks(kernels: Sequence[KernelOccupancy]) -> list[str]:
    """Remarks on the table: failures, assumptions, and the nearest better launches."""
    lines = [f"{_name(kernel)}: {kernel.reason}" for kernel in kernels if kernel.reason]
    lines += sorted({f"* {kernel.assumed}" for kernel in kernels if kernel.assumed})
    for kernel in kernels:
        better = kernel.occupancy and nearest_better(kernel.occupancy)
        if kernel.occupancy and better:
            lines.append(f"{_name(kernel)}: nearest better: {step_text(kernel.occupancy, better)}")
    return list(dict.fromkeys(lines))
