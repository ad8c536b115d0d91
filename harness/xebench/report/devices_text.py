"""The table of devices, for the terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table

from xebench.report.console import draw, plain_table

_WIDTH = 120


def as_json(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as they are."""
    return json.dumps(list(rows), indent=2)


def as_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """One line a device, what it can do below it."""
    return draw(_parts(rows), _WIDTH) if rows else "no SYCL device: 'xebench doctor' tells what is missing"


def _parts(rows: Sequence[Mapping[str, Any]]) -> Iterator[str | Table]:
    table = plain_table()
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
    yield table
    yield from (f"{row['device']}: {row['aspects'].replace(',', ', ')}" for row in rows)
