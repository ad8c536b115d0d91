"""The figures of a pattern: curves over its parameters, its cases under the roofs, and timelines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from xebench.records import points
from xebench.records.device_facts import MEMORY, RATE_ROOFS, Roof, levels_of
from xebench.records.points import Row, by_device, device_key, rows
from xebench.report import units
from xebench.report.page import program_charts
from xebench.report.page.families import ReportFamily
from xebench.report.page.program_charts import Box, Lane, RoofLines
from xebench.report.result_rows import number, part_of_roof
from xebench.report.trace_events import Event
from xebench.results import Run
from xebench.results.speedup_charts import Curve, Point, Spec
from xebench.results.speedup_charts import curves as curves_chart
from xebench.vocabulary import Role, State, Status

#: Most charts per pattern: there is one for each combination of the other parameters.
MOST_CHARTS: Final = 6
_BLUE: Final = "#2f87c8"
#: Columns for the second chart, with their units; the first that has values is shown.
_QUANTITIES: Final = {"bandwidth_gbps": "GB/s", "rate_gops": "10^9 operations/s", "median_ns": "ns"}


def curves(families: Sequence[ReportFamily], colours: Mapping[str, str]) -> list[Spec]:
    """Two charts for each combination of the other parameters: speed-ups, and a rate or the time.

    Args:
        families: families of a pattern.
        colours: colour of each variant.
    """
    parameter = _swept_parameter(families)
    if parameter is None:
        return []
    groups: dict[str, list[ReportFamily]] = {}
    for family in families:
        if isinstance(family.point.get(parameter), int | float):
            groups.setdefault(_other_parameters(family, parameter), []).append(family)
    long = {others: own for others, own in groups.items() if len({each.point[parameter] for each in own}) > 1}
    drawn = [chart for others, own in long.items() for chart in _charts(own, parameter, others, colours)]
    return drawn[:MOST_CHARTS]


def _swept_parameter(families: Sequence[ReportFamily]) -> str | None:
    """The parameter with the most values that are numbers; None if none has two."""
    values: dict[str, set[points.Value]] = {}
    for family in families:
        for name, value in family.point.items():
            if isinstance(value, int | float):
                values.setdefault(name, set()).add(value)
    swept = max(values, key=lambda name: len(values[name]), default=None)
    return swept if swept is not None and len(values[swept]) > 1 else None


def _other_parameters(family: ReportFamily, parameter: str) -> str:
    """A family's values of the other parameters, in words."""
    point = points.words({name: value for name, value in family.point.items() if name != parameter})
    return ", ".join(filter(None, (point, family.state, family.preset, family.host)))


def _charts(
    families: Sequence[ReportFamily], parameter: str, others: str, colours: Mapping[str, str]
) -> Iterator[Spec]:
    title = f"{parameter} ({others})"
    speedups: dict[str, list[Point]] = {}
    variants: dict[str, str] = {}
    for family in families:
        for pair in family.pairs:
            speedup, low, high = pair.line.ends
            if speedup is not None and speedup > 0:
                speedups.setdefault(pair.line.label, []).append(Point(_x(family, parameter), speedup, low, high))
                variants[pair.line.label] = colours[pair.line.variant]
    if speedups:
        yield curves_chart(_series(speedups, variants), title, "speed-up", is_ratio=True)
    summaries = [(family, summary) for family in families for summary in family.summaries]
    for column, unit in _QUANTITIES.items():
        found: dict[str, list[Point]] = {}
        for family, summary in summaries:
            if (value := summary[column]) is not None and value > 0:
                found.setdefault(summary["variant"], []).append(_rate(family, summary, parameter, column))
        if found:
            yield curves_chart(_series(found, colours), title, unit)
            return


def _rate(family: ReportFamily, summary: Row, parameter: str, column: str) -> Point:
    """A rate with the interval of its median time, whose ends change places."""
    value, median, low, high = (summary[name] for name in (column, "median_ns", "low_ns", "high_ns"))
    if low is None or high is None or column == "median_ns":
        return Point(_x(family, parameter), value, low, high)
    return Point(_x(family, parameter), value, value * median / high, value * median / low)


def _x(family: ReportFamily, parameter: str) -> float:
    return float(family.point[parameter])


def _series(found: Mapping[str, list[Point]], colours: Mapping[str, str]) -> list[Curve]:
    return [Curve(name, sorted(own, key=lambda point: point.x), colours[name]) for name, own in found.items()]


@dataclass(frozen=True)
class CaseUnderRoofs:
    """A case under its roofs.

    Attributes:
        roofs: roofs of the device for this kind of operation.
        host: the device's host in a run over several hosts; else "".
        pattern: name of its pattern.
        variant: name of its variant.
        name: its variant and point.
        intensity: operations per byte of the least traffic.
        rate: operations per time, in the roofs' unit.
        reached: share of the nearest roof that the case reaches, with the roof's name, as text.
        is_optimized: True if its variant has that role.
    """

    roofs: RoofLines
    host: str
    pattern: str
    variant: str
    name: str
    intensity: float
    rate: float
    reached: str
    is_optimized: bool

    @property
    def title(self) -> str:
        """Name, rate and what it reaches, for a reader."""
        return f"{self.name}: {units.figure(self.rate)} {self.roofs.unit}, {self.reached}"


def under_roofs(run: Run) -> list[CaseUnderRoofs]:
    """The cases with bytes, operations and a time whose device has the roofs for them."""
    work = run.cases[["case_id", "bytes_moved", "operations", "operation_kind", "preset_parameters"]]
    right = run.summaries[run.summaries["status"] == Status.OK].merge(work, on="case_id")
    devices = by_device(run.devices)
    placed = right.dropna(subset=["bytes_moved", "operations", "median_ns"])
    return [
        found for case in rows(placed) if (found := _case_under_roofs(case, devices.get(device_key(case)))) is not None
    ]


def _case_under_roofs(case: Row, device: Row | None) -> CaseUnderRoofs | None:
    roofs = None if device is None else _roofs(device, case["operation_kind"])
    if roofs is None or not case["bytes_moved"] or not case["rate_gops"]:
        return None
    cold = ["cold"] if case["state"] == State.COLD else []
    name = " ".join([case["variant"], *cold, points.words(points.point(case))])
    return CaseUnderRoofs(
        roofs,
        case["host"] or "",
        case["pattern"],
        case["variant"],
        name,
        case["operations"] / case["bytes_moved"],
        case["rate_gops"],
        f"{part_of_roof(number(case['roof_fraction'])).rstrip('*')} of {_roof_name(case)}",
        case["role"] == Role.OPTIMIZED,
    )


def _roofs(device: Row, kind: Any) -> RoofLines | None:
    """The roofs of a device for a kind of operation; None if one of them is unknown."""
    memory = number(device[Roof.BANDWIDTH.column])
    roof = RATE_ROOFS.get(kind)
    rate = None if roof is None else number(device[roof.column])
    if not memory or not rate or roof is None:
        return None
    best: dict[str, float] = {}
    for level in levels_of(device["bandwidth_levels"]):
        if level.level != MEMORY:
            best[level.level] = max(best.get(level.level, 0.0), level.gbps)
    return RoofLines(kind, roof.unit, rate, (*best.items(), (MEMORY, memory)))


def _roof_name(case: Row) -> str:
    """The name of a case's nearest roof, and the reason if the case is above it."""
    name = str(case["nearest_roof"])
    return name if case["roof_note"] is None else f"{name}, {case['roof_note']}"


@dataclass(frozen=True)
class Chart:
    """A roofline chart: its caption, its specification, and the cases with the numbers beside their points."""

    caption: str
    spec: Spec
    cases: Sequence[tuple[str, CaseUnderRoofs]]


def charts(
    cases: Sequence[CaseUnderRoofs], anchors: Mapping[str, str] | None = None, colours: Mapping[str, str] | None = None
) -> Iterator[Chart]:
    """A roofline for each kind of operation and device.

    Args:
        cases: cases of a run or of a pattern.
        anchors: anchor of each pattern on the page, for links from its points; without anchors the points are numbered.
        colours: colour of each variant, of a pattern.
    """
    groups: dict[tuple[str, str], list[CaseUnderRoofs]] = {}
    for case in cases:
        groups.setdefault((case.host, case.roofs.kind), []).append(case)
    for (host, kind), own in groups.items():
        numbered = [("" if anchors else str(n), case) for n, case in enumerate(own, 1)]
        placed = [_placed(case, beside, anchors, (colours or {}).get(case.variant, _BLUE)) for beside, case in numbered]
        best = max(own, key=lambda case: case.rate / _reachable(case))
        label = f"{len(own)} cases under the roofs of {kind}; nearest to them {best.pattern} {best.title}"
        caption = ": ".join(filter(None, (host, f"{kind} operations")))
        yield Chart(caption, program_charts.under_roofs(own[0].roofs, placed, label), numbered)


def _placed(case: CaseUnderRoofs, number: str, anchors: Mapping[str, str] | None, color: str) -> Spec:
    """A case's point, with a number beside it or a link to its pattern."""
    fill = color if case.is_optimized else "transparent"
    place = {"x": case.intensity, "y": case.rate, "color": color, "fill": fill}
    if anchors is None:
        return {**place, "title": case.title, "number": number}
    return {**place, "title": f"{case.pattern} {case.title}", "href": f"#{anchors[case.pattern]}"}


def _reachable(case: CaseUnderRoofs) -> float:
    """The rate that the roofs allow at a case's intensity, by the memory alone."""
    return min(case.roofs.rate, case.intensity * case.roofs.levels[-1][1])


#: Timelines share an axis if the longest execution is at most this many times the shortest.
_ONE_AXIS_UP_TO: Final = 6.0


@dataclass(frozen=True)
class Timeline:
    """One execution of a variant: its chart, and each lane's name, boxes and busy time."""

    spec: Spec
    lanes: Sequence[tuple[str, int, str]]


def timelines(executions: Sequence[Sequence[Event]]) -> list[Timeline]:
    """The timelines of one execution of each variant, from its events in the trace format."""
    read = [(_title(events), _lanes(events)) for events in executions]
    ends = [max((box.end_us for lane in lanes for box in lane.boxes), default=0.0) for _, lanes in read]
    common = max(ends, default=0.0) if min(ends, default=0.0) * _ONE_AXIS_UP_TO >= max(ends, default=0.0) else None
    return [
        Timeline(
            program_charts.timeline(name, lanes, end if common is None else common),
            [(lane.name, len(lane.boxes), units.duration(1e3 * program_charts.busy_us(lane))) for lane in lanes],
        )
        for (name, lanes), end in zip(read, ends, strict=True)
    ]


def _title(events: Sequence[Event]) -> str:
    return next((event["args"]["name"] for event in events if event["name"] == "process_name"), "")


def _lanes(events: Sequence[Event]) -> list[Lane]:
    """A lane for each thread, in the order of the format; ranks one below the other."""
    names: dict[tuple[int, int], str] = {}
    processes: dict[int, str] = {}
    boxes: dict[tuple[int, int], list[Box]] = {}
    for event in events:
        key = event["pid"], event["tid"]
        if event["name"] == "process_name":
            processes[event["pid"]] = event["args"]["name"]
        elif event["name"] == "thread_name":
            names[key] = event["args"]["name"]
        elif event["ph"] == "X":
            box = Box(event["name"], event["cat"], event["ts"], event["ts"] + event["dur"])
            boxes.setdefault(key, []).append(box)
    return [
        Lane(f"{processes[pid].rpartition(', ')[2]} {name}" if len(processes) > 1 else name, boxes[pid, tid])
        for (pid, tid), name in names.items()
        if (pid, tid) in boxes
    ]
