"""A heat map of occupancy, for the terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Final

from rich.table import Table
from rich.text import Text

from xebench.report.console import draw, terminal_width
from xebench.report.units import binary_size
from xebench.system.gpu_model.gpus import GpuParameters
from xebench.system.gpu_model.occupancy import HeatCell

ROWS: Final = "cells"

# from empty to full; the figures stand beside the colours, which carry nothing alone
_SHADES = ((0.25, "red"), (0.5, "yellow"), (0.75, "green"), (2.0, "bold green"))


def as_json(cells: Sequence[HeatCell], gpu: GpuParameters, sub_group_size: int) -> str:
    """A list of points, those that cannot launch with 0 work-groups."""
    return json.dumps({"gpu": gpu.code, "sub_group_size": sub_group_size, "cells": [asdict(cell) for cell in cells]})


def as_text(cells: Sequence[HeatCell], gpu: GpuParameters, sub_group_size: int, width: int | None = None) -> str:
    """Work-group sizes down, SLM per work-group across; coloured in a terminal."""
    title = f"Xe-core occupancy in %, {gpu.code}, sub-group size {sub_group_size}, by work-group size and SLM"
    # narrow: thirteen columns must fit into a terminal of eighty
    table = Table(title=title, box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("group", justify="right")
    for slm_bytes in dict.fromkeys(cell.slm_bytes for cell in cells):
        table.add_column(binary_size(slm_bytes), justify="right")
    for work_group_size, row in groupby(cells, key=lambda cell: cell.work_group_size):
        table.add_row(str(work_group_size), *map(_heat, row))
    return draw([table], width or terminal_width(), colour=None)


def _heat(cell: HeatCell) -> Text:
    if not cell.work_groups_per_xe_core:
        return Text("-")
    style = next(style for limit, style in _SHADES if cell.xe_core_occupancy < limit)
    return Text(f"{100 * cell.xe_core_occupancy:.0f}", style=style)
