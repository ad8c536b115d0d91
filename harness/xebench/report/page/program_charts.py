"""Charts of programs: their samples, distributed and in order; their rates under roofs; one execution in time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from markupsafe import Markup

from xebench.report.page.svg import SERIES, WIDTH, Scale, around, below, beside, chart, line, tag, text, time_unit
from xebench.results.analysis.statistics import Floats

#: Bins of the whole axis.
BINS: Final = 72
_DISTRIBUTION_ROW, _HILL = 46.0, 24.0
#: Ratio of the largest to the smallest median from which each variant gets its own axis.
_APART: Final = 3.0
#: An axis ends where all samples do, or so many quartile distances beyond the quartiles (Tukey 1977 calls these far
#: out): some late samples must not press the others together. A chart of single samples draws those beyond at the ends.
_FAR_OUT: Final = 3.0


@dataclass(frozen=True)
class VariantSamples:
    """A variant's samples: its name, its times in ns in order, its instance of each."""

    name: str
    times_ns: Floats
    instances: Floats

    @property
    def median_ns(self) -> float:
        """The median of all samples."""
        return float(np.median(self.times_ns))


def inner_range(values: Floats) -> tuple[float, float]:
    """The lowest and the highest value that is not far out; of values that hardly differ, the quantiles of 0.5 %."""
    first, third = np.quantile(values, (0.25, 0.75))
    if third - first <= 1e-9 * abs(third):
        low, high = np.quantile(values, (0.005, 0.995))
        return float(low), float(high)
    far = _FAR_OUT * (third - first)
    inside = values[(values >= first - far) & (values <= third + far)]
    return float(inside.min()), float(inside.max())


def draw_distribution(variants: Sequence[VariantSamples]) -> Markup:
    """The chart of variants that have samples, on one axis: of times, or of each time over its variant's median."""
    medians = [each.median_ns for each in variants]
    relative = max(medians) > _APART * min(medians)
    factor, unit = (1.0, "") if relative else time_unit(max(medians))
    values = [each.times_ns / (each.median_ns if relative else factor) for each in variants]
    x = around([end for own in values for end in inner_range(own)], 8, WIDTH - 8, logarithmic=False, room=0.02)
    bottom = 8 + _DISTRIBUTION_ROW * len(variants)
    title = "time over the variant's median" if relative else f"time in {unit}"
    parts = below(x, [(value, f"{value:.6g}") for value in x.ticks()], 4, bottom, title)
    for number, (each, own) in enumerate(zip(variants, values, strict=True)):
        parts += _distribution_row(number, each, own, x, 8 + _DISTRIBUTION_ROW * number)
    return chart(_distribution_finding(variants), bottom + 36, parts)


def _distribution_row(number: int, variant: VariantSamples, values: Floats, x: Scale, top: float) -> list[Markup]:
    kind = f"s{number % SERIES}"
    base = top + _DISTRIBUTION_ROW - 8
    counts, _ = np.histogram(values, bins=BINS, range=(x.low, x.high))
    step = (x.end - x.begin) / BINS
    heights = _HILL * counts / max(1, counts.max())
    hill = " ".join(f"V{base - height:.0f}h{step:.1f}" for height in heights)
    low, middle, high = (float(value) for value in np.quantile(values, (0.25, 0.5, 0.75)))
    beyond = int((values > x.high).sum() + (values < x.low).sum())
    told = f"{variant.name}, {len(values)} samples" + (f", {beyond} beyond" if beyond else "")
    return [
        tag("path", d=f"M{x.begin:.0f} {base:.0f}{hill}V{base:.0f}Z", class_=f"{kind} hill"),
        tag("rect", x=x.at(low), y=base + 1, width=max(1.0, x.at(high) - x.at(low)), height=4, class_=f"{kind} dot"),
        line(x.at(middle), base - _HILL, x.at(middle), base + 6, f"{kind} bar"),
        text(x.begin, top + 10, told, kind=f"{kind} name"),
    ]


def _distribution_finding(variants: Sequence[VariantSamples]) -> str:
    def describe(each: VariantSamples) -> str:
        low, high = np.quantile(each.times_ns, (0.25, 0.75)) / each.median_ns - 1
        factor, unit = time_unit(each.median_ns)
        around_it = f"half of them from {100 * low:+.2g} to {100 * high:+.2g} %"
        return f"{each.name} median {each.median_ns / factor:.3g} {unit}, {around_it}"

    return f"distribution of the samples: {'; '.join(map(describe, variants))}"


#: Most samples drawn per variant, evenly spaced: more would not be visible.
MOST: Final = 500
_PANEL, _PLOT, _LEFT = 74.0, 48.0, 40.0
#: Subdivision of the chart's unit for points, so that coordinates are short integers.
_FINE: Final = 2


def thinned_out(variant: VariantSamples, most: int = MOST) -> VariantSamples:
    """At most so many of a variant's samples, at even distances, the first and the last among them."""
    count = len(variant.times_ns)
    if count <= most:
        return variant
    places = np.linspace(0, count - 1, most).round().astype(int)
    return VariantSamples(variant.name, variant.times_ns[places], variant.instances[places])


def draw_samples(variants: Sequence[VariantSamples]) -> Markup:
    """The chart of variants that have samples: a panel each, around its own median; each instance has its shade."""
    parts: list[Markup] = []
    for number, variant in enumerate(variants):
        parts += _sample_panel(number, variant, _PANEL * number)
    return chart(_samples_finding(variants), _PANEL * len(variants) + 16, parts)


def _sample_panel(number: int, variant: VariantSamples, top: float) -> Iterator[Markup]:
    shown, median = thinned_out(variant), variant.median_ns
    percent = 100 * (shown.times_ns / median - 1)
    plot = top + 20
    y = around([*inner_range(percent), 0.0], plot + _PLOT, plot, logarithmic=False)
    beyond = sum(not y.holds(float(value)) for value in percent)
    step = (WIDTH - _LEFT) / max(1, len(percent))
    name = f"{variant.name}, {len(percent)} of {len(variant.times_ns)} samples in order"
    name += f", {beyond} beyond" if beyond else ""
    yield text(0, top + 12, name, kind=f"s{number % SERIES} name")
    for first, last in _bands(shown):
        yield tag("rect", x=_LEFT + step * first, y=plot, width=step * (last - first), height=_PLOT, class_="band")
    for value in dict.fromkeys((y.ticks(3)[0], 0.0, y.ticks(3)[-1])):
        yield line(_LEFT, y.at(value), WIDTH, y.at(value), "one" if value == 0 else "grid")
        yield text(_LEFT - 4, y.at(value) + 4, _change(value), anchor="end")
    rows = [round(_FINE * y.at(float(value))) for value in percent]
    columns = [round(_FINE * (_LEFT + step * (place + 0.5))) for place in range(len(rows))]
    yield tag(
        "path",
        d=_dots(columns, rows),
        transform=f"scale({1 / _FINE})",
        class_=f"s{number % SERIES} dots",
    )


def _change(percent: float) -> str:
    """A change beside an axis, which has room for six characters: ``+20 %``, ``21x``."""
    if not percent:
        return "0 %"
    return f"{percent:+.3g} %" if abs(percent) < 1000 else f"{1 + percent / 100:.3g}x"


def _bands(variant: VariantSamples) -> Iterator[tuple[int, int]]:
    """Every second instance: the places of its first sample, and of the one after its last."""
    changes = [0, *(np.flatnonzero(np.diff(variant.instances)) + 1).tolist(), len(variant.instances)]
    yield from zip(changes[1::2], changes[2::2], strict=False)


def _dots(columns: Sequence[int], rows: Sequence[int]) -> str:
    """A path of points: lines without length, whose round ends are what is seen."""
    found, x, y = [f"M{columns[0]} {rows[0]}h0"], columns[0], rows[0]
    for column, row in zip(columns[1:], rows[1:], strict=True):
        between = "" if row < y else " "  # a minus begins a number, too
        found.append(f"m{column - x}{between}{row - y}h0")
        x, y = column, row
    return "".join(found)


def _samples_finding(variants: Sequence[VariantSamples]) -> str:
    def describe(each: VariantSamples) -> str:
        half = len(each.times_ns) // 2
        if not half:
            return f"{each.name} has one"
        change = np.median(each.times_ns[half:]) / np.median(each.times_ns[:half]) - 1
        count = len(np.unique(each.instances))
        return f"{each.name} changes by {100 * change:+.2g} % from first to second half, over {count} instances"

    return f"samples in order: {'; '.join(map(describe, variants))}"


_AXIS_LEFT, _PLOT_TOP, _PLOT_HEIGHT = 46.0, 26.0, 200.0


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


@dataclass(frozen=True)
class Placed:
    """A program under the roofs.

    Attributes:
        intensity: operations per byte of the least traffic.
        rate: rate of operations, in 1e9 per second.
        number: label next to the point; "" for none.
        title: name of the program for readers.
        is_optimized: True to fill the point.
        anchor: anchor that the point links to; "" for no link.
    """

    intensity: float
    rate: float
    number: str
    title: str
    is_optimized: bool
    anchor: str = ""


def draw_roofs(roofs: RoofLines, programs: Sequence[Placed], label: str) -> Markup:
    """The chart of at least one program."""
    ridges = [roofs.rate / bandwidth for _, bandwidth in roofs.levels]
    x = around([*ridges, *(each.intensity for each in programs)], _AXIS_LEFT, WIDTH - 8, logarithmic=True, room=0.1)
    bottom = _PLOT_TOP + _PLOT_HEIGHT
    y = around([roofs.rate, *(each.rate for each in programs)], bottom, _PLOT_TOP, logarithmic=True, room=0.1)
    parts = [
        *beside(y, [(value, f"{value:g}") for value in y.ticks(6)], _AXIS_LEFT, WIDTH, roofs.unit),
        *below(x, [(value, f"{value:g}") for value in x.ticks(6)], _PLOT_TOP, bottom, "operations per byte"),
        *_roofs(roofs, x, y),
        *_points(programs, x, y),
    ]
    return chart(label, bottom + 36, parts)


def _roofs(roofs: RoofLines, x: Scale, y: Scale) -> Iterator[Markup]:
    top = min(roofs.rate / bandwidth for _, bandwidth in roofs.levels)
    yield line(x.at(top), y.at(roofs.rate), x.end, y.at(roofs.rate), "roof")
    yield text(x.end, y.at(roofs.rate) - 5, f"{roofs.kind} {roofs.rate:.4g} {roofs.unit}", anchor="end")
    for name, bandwidth in roofs.levels:
        # a slope begins where it enters the plot, at the left or lower edge
        begin = max(x.low, y.low / bandwidth)
        ridge = roofs.rate / bandwidth
        yield line(x.at(begin), y.at(begin * bandwidth), x.at(ridge), y.at(roofs.rate), "roof")
        yield _along(f"{name} {bandwidth:.4g} GB/s", begin, ridge, bandwidth, x, y)


def _along(words: str, begin: float, end: float, bandwidth: float, x: Scale, y: Scale) -> Markup:
    """Words along the lower part of a slope."""
    first, last = (x.at(begin), y.at(begin * bandwidth)), (x.at(end), y.at(end * bandwidth))
    angle = math.degrees(math.atan2(last[1] - first[1], last[0] - first[0]))
    place = f"translate({first[0] + 6:.1f} {first[1] - 4:.1f}) rotate({angle:.1f})"
    return tag("text", words, transform=place, class_="level")


def _points(programs: Sequence[Placed], x: Scale, y: Scale) -> Iterator[Markup]:
    written: list[tuple[float, float]] = []
    for program in programs:
        at_x, at_y = x.at(program.intensity), y.at(program.rate)
        kind = "s0 dot" if program.is_optimized else "s0 hollow"
        point = tag("circle", tag("title", program.title), cx=at_x, cy=at_y, r=4, class_=kind)
        yield tag("a", point, href=f"#{program.anchor}", tabindex=-1) if program.anchor else point
        if program.number:
            place = at_x + 6
            while any(abs(place - other) < 12 and abs(at_y - row) < 10 for other, row in written):
                place += 13
            written.append((place, at_y))
            yield text(place, at_y + 4, program.number, kind="number")


_LANE, _BOX = 30.0, 14.0
#: Lanes of one execution that are drawn.
LANES: Final = 8
#: Boxes of one kind that are this narrow and this close together are drawn as one, in units of the chart.
_NEAR, _NARROW = 0.5, 1.5

#: Kinds of boxes that share the look of another kind.
_ALIKE: Final = {"fill": "copy", "build": "compile", "queue": "allocation", "barrier": "wait"}


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


def draw_timeline(name: str, lanes: Sequence[Lane], end_us: float) -> Markup:
    """The chart of one execution.

    Args:
        name: name of the variant.
        lanes: rows of the chart, from the top.
        end_us: end of the axis, in us.
    """
    shown = lanes[:LANES]
    x = Scale(0.0, end_us or 1.0, 4, WIDTH - 4)
    bottom = 22 + _LANE * len(shown)
    factor, unit = time_unit(1e3 * end_us)
    ticks = [(value, f"{1e3 * value / factor:.4g}") for value in x.ticks(5)]
    parts = [text(0, 13, name, kind="name"), *below(x, ticks, 20, bottom, f"{unit} since the first moment")]
    for number, lane in enumerate(shown):
        top = 22 + _LANE * number
        parts.append(text(4, top + 11, f"{lane.name} ({len(lane.boxes)})", kind="lane"))
        parts += _boxes(lane, x, top + 14)
    return chart(_timeline_finding(name, lanes, end_us), bottom + 36, parts)


def _boxes(lane: Lane, x: Scale, top: float) -> Iterator[Markup]:
    drawn: list[tuple[float, float, list[Box]]] = []
    # enclosing boxes first, so that they lie behind
    for box in sorted(lane.boxes, key=lambda box: (box.begin_us, -box.end_us)):
        begin, end = x.at(box.begin_us), x.at(box.end_us)
        if drawn and drawn[-1][2][0].kind == box.kind and begin <= drawn[-1][1] + _NEAR and end - begin < _NARROW:
            start, last, boxes = drawn.pop()
            drawn.append((start, max(last, end), [*boxes, box]))
        else:
            drawn.append((begin, end, [box]))
    for begin, end, boxes in drawn:
        first = boxes[0]
        lasted = boxes[-1].end_us - first.begin_us
        told = first.name if len(boxes) == 1 else f"{first.name} and {len(boxes) - 1} more"
        inside = tag("title", f"{told}: {lasted:.4g} us from {first.begin_us:.4g} us")
        width = end - begin
        kind = f"k-{word(first.kind)} {'box' if width > 3 else 'thin'}"
        yield tag("rect", inside, x=begin, y=top, width=max(width, 1.0), height=_BOX, class_=kind)


def word(kind: str) -> str:
    """A kind as the page's style has it; copies and fills, for one, have one colour."""
    return _ALIKE.get(kind, kind if kind.isalpha() else "other")


def _timeline_finding(name: str, lanes: Sequence[Lane], end_us: float) -> str:
    told = (f"{lane.name} {len(lane.boxes)} in {busy_us(lane):.4g} us" for lane in lanes[:LANES])
    return f"{name}, {end_us:.4g} us: {', '.join(told)}"


def busy_us(lane: Lane) -> float:
    """Time in which anything of a lane was under way, in us."""
    total, until = 0.0, 0.0
    for box in sorted(lane.boxes, key=lambda box: box.begin_us):
        total += max(0.0, box.end_us - max(box.begin_us, until))
        until = max(until, box.end_us)
    return total
