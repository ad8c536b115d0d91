"""Charts of programs in Vega-Lite: samples, distributed and in order; rates under roofs; one execution in time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from xebench.results.analysis.statistics import Floats
from xebench.results.speedup_charts import Spec, by_name, chart, quantity

#: Bins of the whole axis.
_BINS: Final = 60
#: Ratio of the largest to the smallest median from which each variant is shown around its own.
_APART: Final = 3.0
#: An axis ends where all samples do, or so many quartile distances beyond the quartiles (Tukey 1977 calls these far
#: out): some late samples must not press the others together. A chart of single samples draws those beyond at the ends.
_FAR_OUT: Final = 3.0


@dataclass(frozen=True)
class VariantSamples:
    """A variant's samples: its name, its times in ns in order, its instance of each; and its colour."""

    name: str
    times_ns: Floats
    instances: Floats
    color: str = "#85888c"

    @property
    def median_ns(self) -> float:
        """The median of all samples."""
        return float(np.median(self.times_ns))


def time_unit(largest_ns: float) -> tuple[float, str]:
    """The unit for an axis of times: how many ns it has, and its name."""
    return next((known for known in ((1e9, "s"), (1e6, "ms"), (1e3, "us")) if largest_ns >= known[0]), (1.0, "ns"))


def inner_range(values: Floats) -> tuple[float, float]:
    """The lowest and the highest value that is not far out; of values that hardly differ, the quantiles of 0.5 %."""
    first, third = np.quantile(values, (0.25, 0.75))
    if third - first <= 1e-9 * abs(third):
        low, high = np.quantile(values, (0.005, 0.995))
        return float(low), float(high)
    far = _FAR_OUT * (third - first)
    inside = values[(values >= first - far) & (values <= third + far)]
    return float(inside.min()), float(inside.max())


def distribution(variants: Sequence[VariantSamples]) -> Spec:
    """The chart of variants that have samples, on one axis: of times, or of each time over its variant's median."""
    medians = [each.median_ns for each in variants]
    relative = max(medians) > _APART * min(medians)
    factor, unit = (1.0, "") if relative else time_unit(max(medians))
    values = [each.times_ns / (each.median_ns if relative else factor) for each in variants]
    ends = [end for own in values for end in inner_range(own)]
    room = 0.02 * (max(ends) - min(ends)) or 0.02 * max(ends)
    edges = np.linspace(min(ends) - room, max(ends) + room, _BINS + 1)
    title = "time over the variant's median" if relative else f"time ({unit})"
    domain = {"domain": [float(edges[0]), float(edges[-1])], "nice": False}
    hills = [_hill(each, own, edges) for each, own in zip(variants, values, strict=True)]
    return chart(
        f"distribution of the samples: {'; '.join(map(_spread, variants))}",
        hills,
        transform=[{"flatten": ["at", "share"]}],
        height=150,
        mark={"type": "area", "interpolate": "step-after", "line": True, "fillOpacity": 0.3},
        encoding={
            "x": quantity("at", title, scale=domain, axis={"tickCount": 5, "labelOverlap": "greedy"}),
            "y": quantity("share", "samples (%)", stack=None),
            "color": by_name({hill["name"]: each.color for hill, each in zip(hills, variants, strict=True)}),
        },
    )


def _hill(variant: VariantSamples, values: Floats, edges: Floats) -> Spec:
    shares = np.append(100 * np.histogram(values, bins=edges)[0] / len(values), 0.0)
    beyond = int(((values < edges[0]) | (values > edges[-1])).sum())
    shown = np.flatnonzero(shares)
    part = slice(max(0, shown[0] - 1), shown[-1] + 2)  # empty bins at both ends add nothing
    return {
        "name": f"{variant.name}, {len(values)} samples" + (f", {beyond} beyond" if beyond else ""),
        "at": _rounded(edges[part], 6),
        "share": _rounded(shares[part], 3),
    }


def _rounded(values: Floats, digits: int) -> list[float]:
    return [float(f"{value:.{digits}g}") for value in values]


def _spread(each: VariantSamples) -> str:
    low, high = np.quantile(each.times_ns, (0.25, 0.75)) / each.median_ns - 1
    factor, unit = time_unit(each.median_ns)
    around_it = f"half of them from {100 * low:+.2g} to {100 * high:+.2g} %"
    return f"{each.name} median {each.median_ns / factor:.3g} {unit}, {around_it}"


#: Most samples drawn per variant, evenly spaced: more would not be visible.
MOST: Final = 500


def thinned_out(variant: VariantSamples, most: int = MOST) -> VariantSamples:
    """At most so many of a variant's samples, at even distances, the first and the last among them."""
    count = len(variant.times_ns)
    if count <= most:
        return variant
    places = np.linspace(0, count - 1, most).round().astype(int)
    return replace(variant, times_ns=variant.times_ns[places], instances=variant.instances[places])


def samples_in_order(variants: Sequence[VariantSamples]) -> Spec:
    """The chart of variants that have samples: a panel each, around its own median; instances differ in shade.

    The page sets the panels' width, since Vega-Lite has no container for them.
    """
    scale = {"zero": True, "nice": False, "padding": 4}
    axis = {"tickCount": 3, "labelExpr": "format(datum.value, '+~g') + ' %'"}
    shades = {"condition": {"test": "datum.instance % 2", "value": 0.4}, "value": 1}
    return {
        "description": f"samples in order: {'; '.join(map(_drift, variants))}",
        "data": {"values": [_panel(each) | {"row": row} for row, each in enumerate(variants)]},
        "transform": [
            {"flatten": ["change", "instance"]},
            {"window": [{"op": "row_number", "as": "place"}], "groupby": ["name"]},
        ],
        "facet": {
            "field": "name",
            "sort": {"field": "row", "op": "min"},
            "title": None,
            "header": {"labelAnchor": "start", "labelLimit": 340},
        },
        "columns": 1,
        "spacing": 8,
        "spec": {
            "height": 60,
            "mark": {"type": "point", "filled": True, "size": 9},
            "encoding": {
                "x": quantity("place", axis=None),
                "y": quantity("change", scale=scale, axis=axis),
                "color": {"field": "color", "scale": None},
                "opacity": shades,
            },
        },
        "resolve": {"scale": {"y": "independent", "x": "independent"}},
    }


def _panel(variant: VariantSamples) -> Spec:
    shown, median = thinned_out(variant), variant.median_ns
    percent = 100 * (shown.times_ns / median - 1)
    low, high = inner_range(percent)
    beyond = int(((percent < low) | (percent > high)).sum())
    of = f" of {len(variant.times_ns)}" if len(percent) < len(variant.times_ns) else ""
    return {
        "name": f"{variant.name}, {len(percent)}{of} samples" + (f", {beyond} beyond" if beyond else ""),
        "color": variant.color,
        "change": [round(float(value), 2) for value in np.clip(percent, low, high)],
        "instance": [int(value) for value in shown.instances],
    }


def _drift(each: VariantSamples) -> str:
    half = len(each.times_ns) // 2
    if not half:
        return f"{each.name} has one"
    change = np.median(each.times_ns[half:]) / np.median(each.times_ns[:half]) - 1
    count = len(np.unique(each.instances))
    return f"{each.name} changes by {100 * change:+.2g} % from first to second half, over {count} instances"


@dataclass(frozen=True)
class RoofLines:
    """The roofs of a device.

    Attributes:
        kind: kind of operation: fp32, fp64 or int32.
        unit: unit of the rate.
        rate: highest rate of operations, in 1e9 per second.
        levels: name and bandwidth of each level of the memory, in GB/s; the slowest is the memory itself.
    """

    kind: str
    unit: str
    rate: float
    levels: Sequence[tuple[str, float]]


_HEIGHT: Final = 220


def under_roofs(roofs: RoofLines, programs: Sequence[Spec], label: str) -> Spec:
    """The chart of at least one program.

    Args:
        roofs: roofs of the device.
        programs: operations per byte as ``x``, rate as ``y``, ``title``, ``color``, ``fill``; ``number`` beside it or
            ``href``.
        label: sentence that describes the chart.
    """
    ridges = [roofs.rate / bandwidth for _, bandwidth in roofs.levels]
    x = _decades([*ridges, *(each["x"] for each in programs)])
    y = _decades([roofs.rate, *(each["y"] for each in programs)])
    # a slope has the same angle on the page for every bandwidth, since both axes are logarithmic
    slope = f"-atan2(height / {math.log(y[1] / y[0])}, width / {math.log(x[1] / x[0])}) * 180 / PI"
    axes = {"x": quantity("x", "operations per byte", **_log(x)), "y": quantity("y", roofs.unit, **_log(y))}
    words = {"type": "text", "align": "left", "baseline": "bottom", "dx": 3, "dy": -3, "fontSize": 10}
    at_side = {"align": {"expr": "datum.side"}, "angle": {"expr": f"datum.side == 'left' ? {slope} : 0"}}
    link = {"href": {"field": "href"}} if "href" in programs[0] else {}
    colors = {channel: {"field": channel, "scale": None} for channel in ("color", "fill")}
    return chart(
        label,
        programs,
        height=_HEIGHT,
        encoding=axes,
        layer=[
            {
                "data": {"values": [*_roof_lines(roofs, x, y)]},
                "layer": [
                    {"mark": {"type": "line", "color": "#85888c"}, "encoding": {"detail": {"field": "roof"}}},
                    {"mark": {**words, **at_side}, "encoding": {"text": {"field": "words"}}},
                ],
            },
            {
                "mark": {"type": "point", "size": 50, "opacity": 1},
                "encoding": {**colors, "tooltip": {"field": "title"}, **link},
            },
            {"mark": {**words, "dx": 6, "dy": 4}, "encoding": {"text": {"field": "number"}}},
        ],
    )


def _roof_lines(roofs: RoofLines, x: Sequence[float], y: Sequence[float]) -> Iterator[Spec]:
    """Both ends of each roof, with words at one of them."""
    top = min(roofs.rate / bandwidth for _, bandwidth in roofs.levels)
    words = f"{roofs.kind} {roofs.rate:.4g} {roofs.unit}"
    yield {"roof": words, "x": top, "y": roofs.rate, "words": ""}
    yield {"roof": words, "x": x[1], "y": roofs.rate, "words": words, "side": "right"}
    for name, bandwidth in roofs.levels:
        words = f"{name} {bandwidth:.4g} GB/s"
        begin = max(x[0], y[0] / bandwidth)  # where it enters the plot, at the left or lower edge
        yield {"roof": words, "x": begin, "y": begin * bandwidth, "words": words, "side": "left"}
        yield {"roof": words, "x": roofs.rate / bandwidth, "y": roofs.rate, "words": ""}


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """The ends of a logarithmic axis around some values."""
    return min(values) / 1.6, max(values) * 1.6


def _log(domain: Sequence[float]) -> Spec:
    return {"scale": {"type": "log", "domain": [*domain], "nice": False}, "axis": {"tickCount": 5, "grid": False}}


#: Lanes of one execution that are drawn.
LANES: Final = 8
#: Boxes narrower than this part of the axis are widened to it, and drawn as one where they are closer than it.
_NARROW: Final = 1 / 300

#: Kinds of boxes in words, with their colours, in the order of legends.
_KERNEL: Final = ("kernel", "#2f87c8")
_COPY: Final = ("copy or fill", "#d9661f")
_WAIT: Final = ("wait", "#74797f")
_COMPILE: Final = ("compile or build", "#a06cd5")
_ALLOCATION: Final = ("allocation or queue", "#a0703c")
_OTHER: Final = ("other", "#85888c")
_KINDS: Final = {
    "kernel": _KERNEL,
    "copy": _COPY,
    "fill": _COPY,
    "library": ("library", "#c9b458"),
    "submission": ("launch or call", "#8fb8d8"),
    "wait": _WAIT,
    "barrier": _WAIT,
    "compile": _COMPILE,
    "build": _COMPILE,
    "allocation": _ALLOCATION,
    "queue": _ALLOCATION,
    "execution": ("the whole execution", "#b5b8bd"),
}


@dataclass(frozen=True)
class Box:
    """Something that lasted: its name and kind, and when it began and ended, in us from the execution's begin."""

    name: str
    kind: str
    begin_us: float
    end_us: float


@dataclass(frozen=True)
class Lane:
    """A thread of the host, or commands of one sort on a queue."""

    name: str
    boxes: Sequence[Box]


def timeline(name: str, lanes: Sequence[Lane], end_us: float) -> Spec:
    """The chart of one execution.

    Args:
        name: name of the variant.
        lanes: rows of the chart, from the top.
        end_us: end of the axis, in us.
    """
    factor, unit = time_unit(1e3 * end_us)
    rows = [
        {"lane": f"{lane.name} ({len(lane.boxes)})", **row}
        for lane in lanes[:LANES]
        for row in _boxes(lane, end_us or 1.0, factor / 1e3)
    ]
    met = {row["kind"] for row in rows}
    kinds = {words: color for words, color in (*_KINDS.values(), _OTHER) if words in met}
    colors = {"domain": [*kinds], "range": [*kinds.values()]}
    legend = {"title": None, "orient": "top", "columns": 3}
    domain = {"domain": [0, 1e3 * (end_us or 1.0) / factor], "nice": False}
    told = (f"{lane.name} {len(lane.boxes)} in {busy_us(lane):.4g} us" for lane in lanes[:LANES])
    return chart(
        f"{name}, {end_us:.4g} us: {', '.join(told)}",
        rows,
        title=name,
        height=26 * len({row["lane"] for row in rows}),
        mark={"type": "bar", "height": {"band": 0.7}},
        encoding={
            "x": quantity("begin", f"{unit} since the first moment", scale=domain),
            "x2": {"field": "end"},
            "y": {"field": "lane", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 105}},
            "color": {"field": "kind", "type": "nominal", "scale": colors, "legend": legend},
            "tooltip": [{"field": "what"}, {"field": "begin", "title": f"begin ({unit})"}, {"field": "us"}],
        },
    )


def _boxes(lane: Lane, end_us: float, unit_us: float) -> Iterator[Spec]:
    """Rows for the boxes of a lane: those too narrow and too close to be seen apart have one together."""
    least = _NARROW * end_us
    drawn: list[list[Box]] = []
    # enclosing boxes first, so that they lie behind
    for box in sorted(lane.boxes, key=lambda box: (box.begin_us, -box.end_us)):
        last = drawn[-1] if drawn else []
        is_narrow = box.end_us - box.begin_us < least
        if last and is_narrow and last[0].kind == box.kind and box.begin_us <= last[-1].end_us + least:
            last.append(box)
        else:
            drawn.append([box])
    for boxes in drawn:
        begin, end = boxes[0].begin_us, max(box.end_us for box in boxes)
        name = boxes[0].name if len(boxes) == 1 else f"{boxes[0].name} and {len(boxes) - 1} more"
        yield {
            "kind": _KINDS.get(boxes[0].kind, _OTHER)[0],
            "begin": float(f"{begin / unit_us:.5g}"),
            "end": float(f"{max(end, begin + least) / unit_us:.5g}"),
            "what": name,
            "us": float(f"{end - begin:.4g}"),
        }


def busy_us(lane: Lane) -> float:
    """Time in which anything of a lane was under way, in us."""
    total, until = 0.0, 0.0
    for box in sorted(lane.boxes, key=lambda box: box.begin_us):
        total += max(0.0, box.end_us - max(box.begin_us, until))
        until = max(until, box.end_us)
    return total
