"""Cases under the measured roofs of their device: of a whole run, and of one pattern."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xebench.report import units
from xebench.report.charts import roofline
from xebench.report.charts.roofline import Placed, RoofLines
from xebench.report.result_rows import number, part_of_roof
from xebench.tables import Run
from xebench.tables.analysis import points
from xebench.tables.analysis.levels import MEMORY, levels_of
from xebench.tables.analysis.rows import Row, by_place, place, rows
from xebench.vocabulary import RATE_ROOFS, Role, Roof, State, Status


@dataclass(frozen=True)
class Under:
    """A case under its roofs.

    Attributes:
        roofs: of the device and the kind of operation.
        host: of the device, in a run over several; else "".
        pattern: whose case it is.
        name: variant and point.
        intensity: operations per byte of the least traffic.
        rate: in the roofs' unit.
        reached: part of the nearest roof, and which that is, in words.
        is_optimized: by its role.
    """

    roofs: RoofLines
    host: str
    pattern: str
    name: str
    intensity: float
    rate: float
    reached: str
    is_optimized: bool

    @property
    def title(self) -> str:
        """It in words."""
        return f"{self.name}: {units.figure(self.rate)} {self.roofs.unit}, {self.reached}"


def under_roofs(run: Run) -> list[Under]:
    """Every case with bytes, operations and a time, whose device has the roofs."""
    work = run.cases[["case_id", "bytes_moved", "operations", "operation_kind", "preset_parameters"]]
    right = run.summaries[run.summaries["status"] == Status.OK].merge(work, on="case_id")
    devices = by_place(run.devices)
    placed = right.dropna(subset=["bytes_moved", "operations", "median_ns"])
    return [found for case in rows(placed) if (found := _under(case, devices.get(place(case)))) is not None]


def _under(case: Row, device: Row | None) -> Under | None:
    roofs = None if device is None else _roofs(device, case["operation_kind"])
    if roofs is None or not case["bytes_moved"] or not case["rate_gops"]:
        return None
    cold = ["cold"] if case["state"] == State.COLD else []
    name = " ".join([case["variant"], *cold, points.words(points.point(case))])
    return Under(
        roofs,
        case["host"] or "",
        case["pattern"],
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
    """A roofline: what it is of, the drawing, and the cases by the number beside their points."""

    caption: str
    svg: str
    cases: Sequence[tuple[str, Under]]


def charts(cases: Sequence[Under], anchors: Mapping[str, str] | None = None) -> Iterator[Chart]:
    """A roofline for each kind of operation and device.

    Args:
        cases: of a run or of a pattern.
        anchors: of patterns, to which points lead as in an overview; else points have numbers.
    """
    groups: dict[tuple[str, str], list[Under]] = {}
    for case in cases:
        groups.setdefault((case.host, case.roofs.kind), []).append(case)
    for (host, kind), own in groups.items():
        numbered = [("" if anchors else str(n), case) for n, case in enumerate(own, 1)]
        placed = [
            Placed(
                case.intensity,
                case.rate,
                beside,
                f"{case.pattern} {case.title}" if anchors else case.title,
                case.is_optimized,
                anchors.get(case.pattern, "") if anchors else "",
            )
            for beside, case in numbered
        ]
        best = max(own, key=lambda case: case.rate / _reachable(case))
        label = f"{len(own)} cases under the roofs of {kind}; nearest to them {best.pattern} {best.title}"
        caption = ": ".join(filter(None, (host, f"{kind} operations")))
        yield Chart(caption, roofline.draw(own[0].roofs, placed, label), numbered)


def _reachable(case: Under) -> float:
    """The rate that the roofs allow at a case's intensity, by the memory alone."""
    return min(case.roofs.rate, case.intensity * case.roofs.levels[-1][1])
