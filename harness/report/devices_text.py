"""The table of devices, for the terminal and as JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table


def as_json(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as they are."""
    return json.dumps(list(rows), indent=2)


def as_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """One line a device, what it can do below it."""
    if not rows:
        return "no SYCL device: 'xebench doctor' tells what is missing"
    buffer = io.StringIO()
    console = Console(file=buffer, width=120)
    table = Table(box=None, pad_edge=False)
    for heading in ("device", "name", "class", "driver"):
        table.add_column(heading, overflow="fold")
    for heading in ("units", "sub-groups", "max work-group", "SLM", "memory"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            row["device"],
            row["name"],
            row["device_class"],
            row["driver_version"],
            str(row["compute_units"]),
            row["sub_group_sizes"] or "none",
            str(row["max_work_group_size"]),
            f"{row['local_memory_bytes'] / 1024:.0f} KiB",
            f"{row['global_memory_bytes'] / 2**30:.1f} GiB",
        )
    console.print(table)
    for row in rows:
        console.print(f"{row['device']}: {row['aspects'].replace(',', ', ')}", highlight=False)
    return buffer.getvalue().rstrip("\n")
