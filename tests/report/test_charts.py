"""Charts: numbers to pixels, and what is said of them."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xebench.report.page import program_charts, speedup_charts
from xebench.report.page.program_charts import Box, Lane, Placed, RoofLines, VariantSamples
from xebench.report.page.speedup_charts import Estimate
from xebench.report.page.svg import WIDTH, Scale, around, tag

HOSTILE = "<script>alert(1)</script>"
SIZES = st.floats(1e-6, 1e12)


def drawn(chart: str) -> ElementTree.Element:
    """A chart as elements; it is well formed, and has a label."""
    root = ElementTree.fromstring(chart)
    assert root.tag == "svg" and root.get("role") == "img" and root.get("aria-label")
    return root


def classes(root: ElementTree.Element, word: str) -> list[ElementTree.Element]:
    return [each for each in root.iter() if word in (each.get("class") or "").split()]


@given(st.lists(SIZES, min_size=1, max_size=9))
def test_an_axis_holds_its_values_in_order(values: list[float]) -> None:
    scale = around(values, 10, 200)
    places = [scale.at(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(10 <= place <= 200 and scale.holds(value) for place, value in zip(places, sorted(values), strict=True))
    ticks = scale.ticks(6)
    assert len(ticks) <= 12 and all(scale.holds(tick) or tick == pytest.approx(scale.low) for tick in ticks)


def test_a_logarithmic_axis_has_equal_ratios_of_equal_length_and_clips() -> None:
    scale = Scale(0.25, 64, 0, 232, logarithmic=True)
    assert scale.at(1) == pytest.approx(232 / 4)
    assert scale.at(1e9) == pytest.approx(232) and scale.at(0.001) == 0
    assert scale.at(4) - scale.at(2) == pytest.approx(scale.at(2) - scale.at(1))
    assert scale.ratios(5) == [0.25, 1, 4, 16, 64]


def test_ticks_are_round() -> None:
    assert Scale(0, 10, 0, 1).ticks(6) == [0, 2, 4, 6, 8, 10]
    assert Scale(1, 100, 0, 1, logarithmic=True).ticks(7) == [1, 2, 5, 10, 20, 50, 100]
    assert Scale(1, 1e6, 0, 1, logarithmic=True).ticks(7) == [1, 10, 100, 1e3, 1e4, 1e5, 1e6]


def test_whatever_is_written_into_a_chart_is_text() -> None:
    assert tag("text", HOSTILE, title='"') == ('<text title="&#34;">&lt;script&gt;alert(1)&lt;/script&gt;</text>')
    sampled = VariantSamples(HOSTILE, np.array([1.0, 2.0]), np.zeros(2))
    box = Box(HOSTILE, HOSTILE, 0.0, 1.0)
    for chart in (
        speedup_charts.row(Estimate(2.0, 1.9, 2.1, None, "holds", HOSTILE), Scale(0.5, 4, 0, 9, logarithmic=True)),
        speedup_charts.draw([speedup_charts.ChartLine(HOSTILE, [speedup_charts.Point(1, 2)])], HOSTILE, HOSTILE),
        program_charts.draw_distribution([sampled]),
        program_charts.draw_samples([sampled]),
        program_charts.draw_timeline(HOSTILE, [Lane(HOSTILE, [box])], 1.0),
        program_charts.draw_roofs(
            RoofLines(HOSTILE, "Gop/s", 10, [(HOSTILE, 1)]), [Placed(1, 1, "1", HOSTILE, True)], HOSTILE
        ),
    ):
        drawn(chart)
        assert "<script" not in chart and "alert(1)" in chart


@pytest.mark.parametrize(
    ("ends", "arrows", "shapes"),
    [((2.0, 1.9, 2.1), 0, 1), ((60.0, 50.0, 70.0), 1, 1), ((0.01, 0.009, 0.011), 1, 0), ((100.0, 1.0, 110.0), 1, 0)],
)
def test_what_is_beyond_the_axis_has_an_arrow(ends: tuple[float, float, float], arrows: int, shapes: int) -> None:
    root = drawn(speedup_charts.row(Estimate(*ends, None, "holds", "v"), Scale(0.25, 64, 6, 226, logarithmic=True)))
    assert (len(classes(root, "beyond")), len(classes(root, "dot"))) == (arrows, shapes)


def test_a_speedup_is_said_with_its_interval_and_the_guides_figure() -> None:
    scale = speedup_charts.axis_of([estimate := Estimate(2.0, 1.9, 2.1, 2.9, "inverts", "cached")])
    root = drawn(speedup_charts.row(estimate, scale))
    assert root.get("aria-label") == ("cached 2 times as fast, 95 % interval 1.9 to 2.1, the guide prints 2.9: inverts")
    assert len(classes(root, "guide")) == 1
    alone = Estimate(2.0, None, None, None, "undecided", "cached")
    root = drawn(speedup_charts.row(alone, scale))
    assert "interval not known" in (root.get("aria-label") or "") and len(classes(root, "hollow")) == 1


def test_a_curve_goes_through_its_points() -> None:
    points = [speedup_charts.Point(x, y, 0.9 * y, 1.1 * y) for x, y in ((1, 1.0), (2, 2.0), (32, 3.0))]
    root = drawn(speedup_charts.draw([speedup_charts.ChartLine("padded", points)], "stride", "speed-up", is_ratio=True))
    (line,) = classes(root, "curve")
    corners = [tuple(map(float, corner.split(","))) for corner in (line.get("points") or "").split()]
    assert [x for x, _ in corners] == sorted(x for x, _ in corners)
    assert [y for _, y in corners] == sorted((y for _, y in corners), reverse=True), "larger is higher"
    assert len(classes(root, "bar")) == 3
    assert root.get("aria-label") == "speed-up along stride: padded from 1 at 1 to 3 at 32"


def test_at_most_500_samples_are_kept_evenly() -> None:
    many = VariantSamples("v", np.arange(1.0, 10_001), np.zeros(10_000))
    kept = program_charts.thinned_out(many)
    assert len(kept.times_ns) == program_charts.MOST == 500
    assert (kept.times_ns[0], kept.times_ns[-1]) == (1, 10_000)
    assert set(np.diff(kept.times_ns)) == {20.0, 21.0}
    root = drawn(program_charts.draw_samples([many]))
    (dots,) = classes(root, "dots")
    assert (dots.get("d") or "").count("h0") == 500
    assert "500 of 10000 samples in order" in "".join(root.itertext())


def test_samples_are_drawn_where_they_are() -> None:
    few = VariantSamples("v", np.array([100.0, 100.0, 150.0, 100.0]), np.array([0, 0, 1, 1]))
    root = drawn(program_charts.draw_samples([few]))
    (dots,) = classes(root, "dots")
    (first, *steps) = re.findall(r"([Mm])(-?\d+) ?(-?\d+)h0", dots.get("d") or "")
    rows = np.cumsum([int(first[2]), *(int(step[2]) for step in steps)])
    assert rows[0] == rows[1] == rows[3] > rows[2], "the slow one is above"
    assert len(classes(root, "band")) == 1, "the second instance"


def test_one_late_sample_does_not_press_the_others_together() -> None:
    times = np.array([*np.linspace(44.0, 46.0, 144), 8000.0])
    assert program_charts.inner_range(times) == (44.0, 46.0)
    assert program_charts.inner_range(np.full(9, 3.0)) == (3.0, 3.0)
    late = VariantSamples("v", times, np.zeros(145))
    assert "v, 145 samples, 1 beyond" in "".join(drawn(program_charts.draw_distribution([late])).itertext())
    assert "samples in order, 1 beyond" in "".join(drawn(program_charts.draw_samples([late])).itertext())
    wide = VariantSamples("v", np.geomspace(1.0, 1e4, 100), np.zeros(100))
    assert not [each for each in drawn(program_charts.draw_samples([wide])).itertext() if "e+" in each]


def test_variants_that_are_far_apart_are_shown_around_their_medians() -> None:
    near = [
        VariantSamples("a", np.array([1e3, 1.1e3]), np.zeros(2)),
        VariantSamples("b", np.array([2e3, 2.1e3]), np.zeros(2)),
    ]
    assert "time in us" in program_charts.draw_distribution(near)
    far = [near[0], VariantSamples("b", np.array([2e6, 2.1e6]), np.zeros(2))]
    assert "time over the variant's median" in drawn(program_charts.draw_distribution(far)).itertext()


def test_a_timeline_has_a_box_for_all_that_can_be_seen() -> None:
    long = [Box("k", "kernel", 0.0, 50.0), Box("k", "kernel", 50.0, 100.0)]
    short = [Box("k", "kernel", 0.01 * place, 0.01 * place + 0.01) for place in range(1000)]
    root = drawn(program_charts.draw_timeline("v", [Lane("q0 kernels", long), Lane("q1 kernels", short)], 100.0))
    assert len(classes(root, "box")) == 3, "two long ones that meet, and a thousand as one"
    assert "k and 999 more: 10 us from 0 us" in "".join(root.itertext())
    assert program_charts.busy_us(Lane("", [*long, Box("k", "kernel", 20.0, 30.0)])) == 100.0
    assert root.get("aria-label") == "v, 100 us: q0 kernels 2 in 100 us, q1 kernels 1000 in 10 us"


def test_numbers_of_points_do_not_cover_each_other() -> None:
    same = [Placed(1.0, 5.0, str(number), "v", False) for number in range(1, 5)]
    root = drawn(program_charts.draw_roofs(RoofLines("fp32", "GFLOP/s", 100, [("memory", 10)]), same, "four"))
    places = sorted(float(each.get("x") or 0) for each in classes(root, "number"))
    assert min(np.diff(places)) >= 12 and places[-1] < WIDTH
