"""Views of the commands on this machine: findings, devices, roofs; as text and JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final

from rich.table import Table

from xebench.records.device_facts import Roof
from xebench.report import View
from xebench.report.console import draw, plain_table
from xebench.report.units import figure
from xebench.roofs.catalogue import GROUPS, Probe, find_probe

if TYPE_CHECKING:
    from xebench.doctor.examination import Report
    from xebench.roofs.measure import ProbeResult, Roofline

#: Columns of tables that do not fill the terminal.
_WIDTH: Final = 120


_MARKS: Final = {"ok": "ok     ", "warning": "warning", "error": "ERROR  "}


def _findings_json(report: Report) -> str:
    return json.dumps({"usable": report.usable, **asdict(report)}, indent=2)


def _findings_text(report: Report) -> str:
    """One line a finding under its topic, with the next step where there is one."""
    lines: list[str] = []
    for topic, findings in groupby(report.findings, key=lambda finding: finding.topic):
        lines.append(topic)
        for finding in findings:
            lines.append(f"  {_MARKS[finding.status]} {finding.title}: {finding.detail}")
            lines += [f"          -> {finding.next_step}"] if finding.next_step else []
    usable = [result.device for result in report.selftests if result.ok]
    lines.append("")
    lines.append(f"usable: {', '.join(usable)}" if usable else "no usable device: fix what is marked ERROR first")
    return "\n".join(lines)


def _devices_json(rows: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps(list(rows), indent=2)


def _devices_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """One line a device, what it can do below it."""
    return draw(_devices_parts(rows), _WIDTH) if rows else "no SYCL device: 'xebench doctor' shows what is missing"


def _devices_parts(rows: Sequence[Mapping[str, Any]]) -> Iterator[str | Table]:
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


def _roofline_json(measured: Roofline) -> str:
    """Everything that was measured."""
    return json.dumps(measured.to_json(), indent=2)


def _roofline_text(measured: Roofline) -> str:
    """One line a probe under its group, and remarks on the circumstances."""
    lines = [line.rstrip() for line in draw(_groups(measured), _WIDTH).splitlines()]
    return "\n".join([*_roofline_head(measured), "", *lines, "", _roofs(measured), *_notices(measured)])


def _groups(measured: Roofline) -> Iterator[Table | str]:
    measured_groups = {find_probe(result.probe).group for result in measured.results}
    for group in filter(measured_groups.__contains__, GROUPS):
        table = Table(title=_heading(group), title_justify="left", box=None, pad_edge=False, show_header=False)
        table.add_column(width=36)
        table.add_column(width=15, justify="right")
        table.add_column(width=22)
        table.add_column(width=44, overflow="fold")
        for result in measured.results:
            probe = find_probe(result.probe)
            if probe.group == group:
                table.add_row(probe.title, *_probe_cells(result, probe))
        yield table
        yield ""


def _heading(group: str) -> str:
    """``memory_probes.GlobalMemory`` as people read it: ``global memory``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", group.rpartition(".")[2]).lower()


def quantity(value: float, unit: str) -> str:
    """A value with three digits and its unit."""
    return f"{figure(value)} {unit}"


def _probe_cells(result: ProbeResult, probe: Probe) -> tuple[str, str, str]:
    if result.value is None or result.median is None:
        return "-", result.status, result.reason or ""
    form = ", ".join(f"{name} {value}" for name, value in result.form.items())
    wrong = f" ({len(result.rejected)} other forms rejected)" if result.rejected else ""
    return quantity(result.value, probe.unit), f"median {quantity(result.median, probe.unit)}", form + wrong


def _roofline_head(measured: Roofline) -> list[str]:
    device = measured.device
    source = "kept from" if measured.cached else "measured"
    return [
        f"{device.name} ({device.device}, driver {device.driver_version}), {source} {measured.measured_utc}",
        "values are the fastest samples of the best form; a median far from them means that other programs ran",
    ]


def _roofs(measured: Roofline) -> str:
    by_column = measured.roofs()
    asked = {result.probe for result in measured.results}
    values = ((roof, by_column[roof.column]) for roof in Roof if asked & set(roof.probes))
    line = "roofs: " + ", ".join(f"{roof} {'-' if v is None else quantity(v, roof.unit)}" for roof, v in values)
    return fill(line, _WIDTH, subsequent_indent="  ")


def _notices(measured: Roofline) -> list[str]:
    from xebench.roofs.measure import DISTURBED  # with pandas behind it, which the other views do without

    notices = []
    if measured.busy:
        notices.append(
            f"the host was busy (load {measured.load_average:.1f} on {measured.cores} cores), so the roofs may be too "
            "low: --refresh measures again"
        )
    if disturbed := [result.probe for result in measured.results if result.disturbed]:
        notices.append(
            f"repeats differ by more than {DISTURBED - 1:.0%}, since other programs ran or the times are short: "
            f"{', '.join(disturbed)}"
        )
    if measured.failed:
        notices.append(f"failed, so nothing is kept: {', '.join(measured.failed)}")
    return notices


FINDINGS: Final = View(_findings_text, _findings_json, ROWS="findings")
DEVICES: Final = View(_devices_text, _devices_json)
ROOFLINE: Final = View(_roofline_text, _roofline_json, ROWS="results")
