"""The cases of a run under the device's measured roofs: a plot for each kind of operation (Williams et al. 2009)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pandas as pd

from xebench.analysis import points
from xebench.analysis.rows import Place, Row, by_place, place, rows
from xebench.report import units
from xebench.report.result_rows import number, part_of_roof
from xebench.tables import Run
from xebench.vocabulary import RATE_ROOFS, Roof, Status

WIDTH, HEIGHT = 420, 260
#: Room around the cases, as a factor.
MARGIN: Final = 2.0


@dataclass(frozen=True)
class Point:
    """A case: its place in pixels, and what a reader sees of it when pointing there."""

    x: float
    y: float
    key: str
    title: str


@dataclass(frozen=True)
class Tick:
    """A power of ten on an axis, in pixels from its origin."""

    at: float
    label: str


@dataclass(frozen=True)
class Plot:
    """One kind of operation.

    Attributes:
        kind: fp32, fp64 or int32.
        unit: of its rate.
        roof: the roofs as points of an SVG polyline: memory's slope, then the rate.
        label: both roofs in words.
        points: the cases.
        x_ticks, y_ticks: operations a byte, and the rate.
    """

    kind: str
    unit: str
    roof: str
    label: str
    points: list[Point]
    x_ticks: list[Tick]
    y_ticks: list[Tick]


def plots(run: Run) -> list[Plot]:
    """A plot for each device and kind of operation that has a roof and a case with bytes, operations and a time."""
    return [plot for key, device in by_place(run.devices).items() for plot in _plots(run, key, device)]


def _plots(run: Run, where: Place, device: Row) -> list[Plot]:
    bandwidth = number(device[Roof.BANDWIDTH.column])
    work = run.cases[["case_id", "bytes_moved", "operations", "operation_kind"]]
    here = pd.Series([place(row) == where for row in rows(run.summaries)], index=run.summaries.index, dtype=bool)
    right = run.summaries[here & (run.summaries["status"] == Status.OK)]
    placed = right.merge(work, on="case_id").dropna(subset=["bytes_moved", "operations", "median_ns"])
    result = []
    for kind, roof in RATE_ROOFS.items():
        rate = number(device[roof.column])
        cases = placed[placed["operation_kind"] == kind].to_dict("records")
        if bandwidth and rate and cases:
            plot = _plot(kind, bandwidth, rate, cases)
            result.append(replace(plot, label=f"{where[0]}: {plot.label}") if where[0] else plot)
    return result


def _plot(kind: str, bandwidth: float, rate: float, cases: Sequence[dict[Any, Any]]) -> Plot:
    unit = RATE_ROOFS[kind].unit
    ridge = rate / bandwidth
    places = [(case["operations"] / case["bytes_moved"], case["rate_gops"]) for case in cases]
    x_axis = _Axis([ridge, *(x for x, _ in places)], WIDTH)
    y_axis = _Axis([rate, *(y for _, y in places)], HEIGHT)
    # the slope begins where it enters the plot, at its left or its lower edge
    start = max(x_axis.low, y_axis.low / bandwidth)
    corners = [(start, start * bandwidth), (ridge, rate), (x_axis.high, rate)]
    return Plot(
        kind,
        unit,
        " ".join(f"{x_axis.pixel(x):.1f},{HEIGHT - y_axis.pixel(y):.1f}" for x, y in corners),
        f"{units.figure(bandwidth)} GB/s and {units.figure(rate)} {unit}",
        [
            Point(
                round(x_axis.pixel(x), 1),
                round(HEIGHT - y_axis.pixel(y), 1),
                str(case["role"]),
                f"{_case_name(case)}: {units.figure(y)} {unit}, "
                f"{part_of_roof(number(case['roof_fraction'])).rstrip('*')} of {_roof_name(case)}",
            )
            for case, (x, y) in zip(cases, places, strict=True)
        ],
        x_axis.ticks(),
        y_axis.ticks(),
    )


def _case_name(case: dict[Any, Any]) -> str:
    return " ".join(filter(None, [case["pattern"], case["variant"], points.words(points.parse(case["parameters"]))]))


def _roof_name(case: dict[Any, Any]) -> str:
    """Of a case's nearest roof, and why it is above it."""
    name = str(case["nearest_roof"])
    return name if pd.isna(case["roof_note"]) else f"{name}, {case['roof_note']}"


class _Axis:
    """A logarithmic axis around some values, of so many pixels."""

    def __init__(self, values: Sequence[float], pixels: int) -> None:
        self.low, self.high = min(values) / MARGIN, max(values) * MARGIN
        self._pixels = pixels

    def pixel(self, value: float) -> float:
        return self._pixels * math.log(value / self.low) / math.log(self.high / self.low)

    def ticks(self) -> list[Tick]:
        powers = range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
        step = max(1, len(powers) // 6)
        return [Tick(round(self.pixel(10.0**power), 1), f"{10.0**power:g}") for power in powers[::step]]
