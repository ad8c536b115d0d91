"""A device's roofs, for the terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from textwrap import fill
from typing import Final

from rich.table import Table

from xebench.measuring.roofline.catalogue import GROUPS, Probe, find_probe
from xebench.measuring.roofline.measure import DISTURBED, ProbeResult, Roofline
from xebench.report.console import draw
from xebench.report.units import duration, figure
from xebench.tables.roofs import Roof

ROWS: Final = "results"

_WIDTH = 120


def as_json(measured: Roofline) -> str:
    """Everything that was measured."""
    return json.dumps(measured.to_json(), indent=2)


def as_text(measured: Roofline) -> str:
    """One line a probe under its group, and remarks on the circumstances."""
    lines = [line.rstrip() for line in draw(_groups(measured), _WIDTH).splitlines()]
    return "\n".join([*_head(measured), "", *lines, "", _roofs(measured), *_notices(measured)])


def _groups(measured: Roofline) -> Iterator[Table | str]:
    measured_groups = {find_probe(result.probe).group for result in measured.results}
    for group in filter(measured_groups.__contains__, GROUPS):
        table = Table(title=group.replace("_", " "), title_justify="left", box=None, pad_edge=False, show_header=False)
        table.add_column(width=36)
        table.add_column(width=15, justify="right")
        table.add_column(width=22)
        table.add_column(width=44, overflow="fold")
        for result in measured.results:
            probe = find_probe(result.probe)
            if probe.group == group:
                table.add_row(probe.title, *_cells(result, probe))
        yield table
        yield ""


def quantity(value: float, unit: str) -> str:
    """A value with three digits and its unit; times with the unit that fits."""
    return duration(value) if unit == "ns" else f"{figure(value)} {unit}"


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
    by_column = measured.roofs()
    asked = {result.probe for result in measured.results}
    values = ((roof, by_column[roof.column]) for roof in Roof if asked & set(roof.probes))
    line = "roofs: " + ", ".join(f"{roof} {'-' if v is None else quantity(v, roof.unit)}" for roof, v in values)
    return fill(line, _WIDTH, subsequent_indent="  ")


def _notices(measured: Roofline) -> list[str]:
    notices = []
    if measured.quick:
        notices.append("a quick look: few forms and samples of small problems, not kept")
    if measured.busy:
        notices.append(
            f"the host was busy (load {measured.load_average:.1f} on {measured.cores} cores), so the roofs may be too "
            "low: --refresh measures again"
        )
    if disturbed := [result.probe for result in measured.results if result.disturbed]:
        notices.append(
            f"repeats differ by more than {DISTURBED - 1:.0%}, others were at work or the times are short: "
            f"{', '.join(disturbed)}"
        )
    if measured.failed:
        notices.append(f"failed, so nothing is kept: {', '.join(measured.failed)}")
    return notices
