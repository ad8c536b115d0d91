"""Occupancy for a reader: one launch as a few lines, and a heat map for the terminal and for a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from typing import TYPE_CHECKING, Literal

from harness.gpu_model.gpus import GpuParameters
from harness.gpu_model.occupancy import Occupancy
from harness.gpu_model.occupancy_search import HeatCell, difference, explain, nearest_better
from harness.report.units import figure

if TYPE_CHECKING:
    from rich.table import Table

    from harness.isa.kernel_occupancy import KernelOccupancy

# from empty to full; the figures stand beside the colours, which carry nothing alone
_SHADES = (
    (0.25, "red", "#f4b6ad"),
    (0.5, "yellow", "#f9dfa6"),
    (0.75, "green", "#d5e8b4"),
    (2.0, "bold green", "#a7d39b"),
)


def occupancy_lines(found: Occupancy) -> list[str]:
    """One launch in words: occupancies, what limits them, the nearest better launch and the best one near."""
    gpu, launch = found.gpu, found.launch
    lines = [
        f"{gpu.product.name} ({gpu.code}): {gpu.xe_cores} Xe-cores of {gpu.threads_per_xe_core} contexts",
        f"work-group {launch.work_group_size}, sub-group {launch.sub_group_size}: "
        f"{found.threads_per_work_group} threads, {percent(found.work_group_utilisation)} of an Xe-core",
        f"Xe-core: {found.work_groups_per_xe_core} work-groups, occupancy {percent(found.xe_core_occupancy)}",
        f"device: occupancy {percent(found.device_occupancy)}{_waves(found)}",
        f"limited by {explain(found)}",
    ]
    nearest, best = nearest_better(found), nearest_better(found, best=True)
    if nearest is None:
        return [*lines, "no single change of work-group size, sub-group size or SLM makes it fuller"]
    lines.append(f"nearest better: {_step(found, nearest)}")
    if best is not None and best != nearest:
        lines.append(f"fullest near it: {_step(found, best)}")
    return lines


def _waves(found: Occupancy) -> str:
    if found.waves is None:
        return ""
    tail = "" if found.tail_occupancy is None else f", {percent(found.tail_occupancy)} in the last one"
    return f" at its peak, {percent(found.average_device_occupancy)} over {found.waves:.2f} waves{tail}"


def _step(found: Occupancy, better: Occupancy) -> str:
    return f"{difference(found.launch, better.launch)} gives {percent(better.device_occupancy)}"


def percent(fraction: float) -> str:
    """A fraction as ``85.7 %``; a small one with two digits."""
    value = 100 * fraction
    return f"{value:.1f} %" if value == 0 or value >= 0.1 else f"{value:.2g} %"


def kernels_table(kernels: Sequence[KernelOccupancy], width: int) -> Table:
    """Launches of patterns, one a row: what each asks for, and how full that keeps the GPU."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_edge=False)
    headings = (("group", 5), ("SIMD", 4), ("SLM", 4), ("Xe-core", 7), ("device", 7), ("waves", 8), ("limited by", 11))
    # figures are never cut: the names have what is left
    left = width - sum(needed + 2 for _, needed in headings)
    table.add_column("variant, kernel", no_wrap=True, overflow="ellipsis", max_width=left)
    for heading, needed in headings:
        side: Literal["left", "right"] = "left" if heading == "limited by" else "right"
        table.add_column(heading, justify=side, no_wrap=True, min_width=needed)
    for kernel in kernels:
        found, name = kernel.found, f"{kernel.launch.variant}, {kernel.launch.kernel}"
        if found is None:
            table.add_row(name, *"-------")
            continue
        table.add_row(
            name,
            f"{found.launch.work_group_size}{'*' if kernel.assumed else ''}",
            str(found.launch.sub_group_size),
            _size(found.launch.slm_bytes),
            percent(found.xe_core_occupancy),
            percent(found.device_occupancy),
            "-" if found.waves is None else figure(found.waves),
            found.limited_by,
        )
    return table


def kernels_remarks(kernels: Sequence[KernelOccupancy]) -> list[str]:
    """What a reader of `kernels_table` must know: failures, assumptions, and the nearest better launches."""
    lines = [f"{one.launch.variant}, {one.launch.kernel}: {one.reason}" for one in kernels if one.reason]
    lines += sorted({f"* {one.assumed}" for one in kernels if one.assumed})
    for one in kernels:
        better = None if one.found is None else nearest_better(one.found)
        if one.found is not None and better is not None:
            lines.append(f"{one.launch.variant}, {one.launch.kernel}: nearest better: {_step(one.found, better)}")
    return list(dict.fromkeys(lines))


def heat_table(cells: Sequence[HeatCell], gpu: GpuParameters, sub_group_size: int) -> Table:
    """The heat map for a terminal: work-group sizes down, SLM per work-group across."""
    from rich.table import Table
    from rich.text import Text

    # narrow: thirteen columns must fit into a terminal of eighty
    table = Table(title=_title(gpu, sub_group_size), box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("group", justify="right")
    for slm_bytes in _columns(cells):
        table.add_column(_size(slm_bytes), justify="right")
    for work_group_size, row in _rows(cells).items():
        shown = [Text("-") if not _launches(cell) else Text(_figure(cell), style=_shade(cell)[0]) for cell in row]
        table.add_row(str(work_group_size), *shown)
    return table


def heat_json(cells: Sequence[HeatCell], gpu: GpuParameters, sub_group_size: int) -> str:
    """The same heat map as JSON: a list of points, those that cannot launch with 0 work-groups."""
    return json.dumps({"gpu": gpu.code, "sub_group_size": sub_group_size, "cells": [asdict(cell) for cell in cells]})


def heat_html(cells: Sequence[HeatCell], gpu: GpuParameters, sub_group_size: int) -> str:
    """The same heat map as one HTML table, which needs no style sheet."""
    head = "".join(f"<th>{_size(slm_bytes)}</th>" for slm_bytes in _columns(cells))
    body = "".join(
        f"<tr><th>{work_group_size}</th>{''.join(map(_html_cell, row))}</tr>\n"
        for work_group_size, row in _rows(cells).items()
    )
    caption = escape(_title(gpu, sub_group_size))
    return f"<table>\n<caption>{caption}</caption>\n<tr><th>work-group</th>{head}</tr>\n{body}</table>\n"


def _html_cell(cell: HeatCell) -> str:
    if not _launches(cell):
        return f'<td title="{escape(cell.limited_by)}">-</td>'
    title = f"{cell.work_groups_per_xe_core} work-groups per Xe-core, limited by {cell.limited_by}"
    return f'<td title="{escape(title)}" style="background:{_shade(cell)[1]}">{_figure(cell)}</td>'


def _title(gpu: GpuParameters, sub_group_size: int) -> str:
    return f"Xe-core occupancy in %, {gpu.code}, sub-group size {sub_group_size}, by work-group size and SLM"


def _columns(cells: Sequence[HeatCell]) -> list[int]:
    return sorted({cell.slm_bytes for cell in cells})


def _rows(cells: Sequence[HeatCell]) -> dict[int, list[HeatCell]]:
    rows: dict[int, list[HeatCell]] = {}
    for cell in sorted(cells, key=lambda cell: (cell.work_group_size, cell.slm_bytes)):
        rows.setdefault(cell.work_group_size, []).append(cell)
    return rows


def _launches(cell: HeatCell) -> bool:
    return cell.work_groups_per_xe_core > 0


def _figure(cell: HeatCell) -> str:
    return f"{100 * cell.xe_core_occupancy:.0f}"


def _shade(cell: HeatCell) -> tuple[str, str]:
    return next((style, colour) for limit, style, colour in _SHADES if cell.xe_core_occupancy < limit)


def _size(size_bytes: int) -> str:
    return f"{size_bytes // 1024}K" if size_bytes and size_bytes % 1024 == 0 else str(size_bytes)
