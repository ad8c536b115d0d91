"""Curves of a pattern over its swept parameters: speed-ups, and how much is moved or computed a second."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from markupsafe import Markup

from xebench.report.charts import curve
from xebench.report.charts.curve import ChartLine, Point
from xebench.report.page.families import ReportFamily
from xebench.tables.analysis import points
from xebench.tables.analysis.rows import Row

#: Charts of a pattern at most: with many parameters every combination of the others is one.
MOST: Final = 6
#: What is shown beside the speed-up: the first of these that there is.
_QUANTITIES: Final = {"bandwidth_gbps": "GB/s", "rate_gops": "10^9 operations/s", "median_ns": "ns"}


def curves(families: Sequence[ReportFamily]) -> list[Markup]:
    """Two charts for each combination of the other parameters: speed-ups, and a rate or the time."""
    parameter = _longest(families)
    if parameter is None:
        return []
    groups: dict[str, list[ReportFamily]] = {}
    for family in families:
        if isinstance(family.point.get(parameter), int | float):
            groups.setdefault(_others(family, parameter), []).append(family)
    long = {others: own for others, own in groups.items() if len({each.point[parameter] for each in own}) > 1}
    drawn = [chart for others, own in long.items() for chart in _charts(own, parameter, others)]
    return drawn[:MOST]


def _longest(families: Sequence[ReportFamily]) -> str | None:
    """The parameter with the most numbers, more than one."""
    values: dict[str, set[points.Value]] = {}
    for family in families:
        for name, value in family.point.items():
            if isinstance(value, int | float):
                values.setdefault(name, set()).add(value)
    longest = max(values, key=lambda name: len(values[name]), default=None)
    return longest if longest is not None and len(values[longest]) > 1 else None


def _others(family: ReportFamily, parameter: str) -> str:
    """The other parameters at which a family is measured, in words."""
    host = family.pairs[0].row["host"]
    point = points.words({name: value for name, value in family.point.items() if name != parameter})
    preset = str(family.pairs[0].row["preset"])
    return ", ".join(filter(None, (point, family.state, preset, host if isinstance(host, str) else "")))


def _charts(families: Sequence[ReportFamily], parameter: str, others: str) -> Iterator[Markup]:
    title = f"{parameter} ({others})"
    speedups: dict[str, list[Point]] = {}
    for family in families:
        for pair in family.pairs:
            speedup, low, high = pair.line.ends
            if speedup is not None and speedup > 0:
                speedups.setdefault(pair.line.label, []).append(Point(_at(family, parameter), speedup, low, high))
    if speedups:
        yield curve.draw(_series(speedups), title, "speed-up", is_ratio=True)
    summaries = [(family, summary) for family in families for summary in family.summaries]
    for column, unit in _QUANTITIES.items():
        found: dict[str, list[Point]] = {}
        for family, summary in summaries:
            if (value := summary[column]) is not None and value > 0:
                found.setdefault(summary["variant"], []).append(_rate(family, summary, parameter, column))
        if found:
            yield curve.draw(_series(found), title, unit)
            return


def _rate(family: ReportFamily, summary: Row, parameter: str, column: str) -> Point:
    """A rate with the interval of its median time, whose ends change places."""
    value, median, low, high = (summary[name] for name in (column, "median_ns", "low_ns", "high_ns"))
    if low is None or high is None or column == "median_ns":
        return Point(_at(family, parameter), value, low, high)
    return Point(_at(family, parameter), value, value * median / high, value * median / low)


def _at(family: ReportFamily, parameter: str) -> float:
    return float(family.point[parameter])


def _series(found: Mapping[str, list[Point]]) -> list[ChartLine]:
    return [ChartLine(name, sorted(own, key=lambda point: point.x)) for name, own in found.items()]
