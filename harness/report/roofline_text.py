"""A device's roofs, for the terminal and as JSON."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

from harness.report.units import duration
from harness.vocabulary import Roof

if TYPE_CHECKING:
    from harness.roofline.catalogue import Probe
    from harness.roofline.results import ProbeResult, Roofline

_WIDTH = 120


def as_json(measured: Roofline) -> str:
    """Everything that was measured."""
    return json.dumps(measured.to_json(), indent=2)


def as_text(measured: Roofline) -> str:
    """One line a probe under its group, and what the reader must know of the circumstances."""
    from rich.console import Console
    from rich.table import Table

    from harness.roofline.catalogue import GROUPS, find_probe

    buffer = io.StringIO()
    console = Console(file=buffer, width=_WIDTH)
    for group in GROUPS:
        table = Table(title=group.replace("_", " "), title_justify="left", box=None, pad_edge=False, show_header=False)
        table.add_column(width=36)
        table.add_column(width=15, justify="right")
        table.add_column(width=22)
        table.add_column(width=44, overflow="fold")
        for result in measured.results:
            probe = find_probe(result.probe)
            if probe.group == group:
                table.add_row(probe.title, *_cells(result, probe))
        console.print(table)
        console.print()
    lines = [line.rstrip() for line in buffer.getvalue().splitlines()]
    return "\n".join([*_head(measured), "", *lines, _roofs(measured), *_notices(measured)])


def quantity(value: float, unit: str) -> str:
    """A value with three digits and its unit; times with the unit that fits."""
    if unit == "ns":
        return duration(value)
    return f"{value:.{_decimals(value)}f} {unit}"


def _decimals(value: float) -> int:
    """Decimals that make three digits."""
    decimals = 2
    while decimals > 0 and value >= 10:
        value, decimals = value / 10, decimals - 1
    return decimals if value >= 1 else 4


def _cells(result: ProbeResult, probe: Probe) -> tuple[str, str, str]:
    if result.value is None or result.median is None:
        return "-", result.status, result.reason or ""
    form = ", ".join(f"{name} {value}" for name, value in result.form.items())
    wrong = f" ({len(result.rejected)} other forms rejected)" if result.rejected else ""
    return quantity(result.value, probe.unit), f"median {quantity(result.median, probe.unit)}", form + wrong


def _head(measured: Roofline) -> list[str]:
    device = measured.device
    source = "kept from" if measured.cached else "measured"
    return [
        f"{device.name} ({device.device}, driver {device.driver_version}), {source} {measured.measured_utc}",
        "values are the fastest sample of the best form; a median far from it tells of others at work",
    ]


def _roofs(measured: Roofline) -> str:
    found = measured.roofs()
    values = ((roof, found[roof.column], roof.unit) for roof in Roof)
    return "roofs: " + ", ".join(f"{name} {'-' if v is None else quantity(v, unit)}" for name, v, unit in values)


def _notices(measured: Roofline) -> list[str]:
    notices = []
    if measured.quick:
        notices.append("a quick look: few forms and samples of small problems, not kept")
    if measured.busy:
        notices.append(
            f"the host was busy (load {measured.load_average:.1f} on {measured.cores} cores), so the roofs may be too "
            "low: --refresh measures again"
        )
    if measured.failed:
        notices.append(f"failed, so nothing is kept: {', '.join(measured.failed)}")
    return notices
