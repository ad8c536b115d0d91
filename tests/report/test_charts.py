"""Charts: what their specifications hold, and what is said of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xebench.report.page import program_charts
from xebench.report.page.program_charts import Box, Lane, RoofLines, VariantSamples
from xebench.results import speedup_charts
from xebench.results.speedup_charts import Curve, Estimate, Point


def values(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The data of a chart."""
    found: list[dict[str, Any]] = spec["data"]["values"]
    return found


@pytest.mark.parametrize(
    ("ends", "shape", "at"),
    [
        ((2.0, 1.9, 2.1), "circle", 2),
        ((60.0, 50.0, 70.0), "circle", 60),
        ((0.01, 0.009, 0.011), "triangle-left", 0.125),
        ((100.0, 1.0, 110.0), "triangle-right", 64),
    ],
)
def test_what_is_beyond_the_common_axis_has_an_arrow_at_its_end(
    ends: tuple[float, float, float], shape: str, at: float
) -> None:
    (row,) = values(speedup_charts.strip([Estimate(*ends, None, "holds", "v")], "one"))
    assert (row["shape"], row["speedup"]) == (shape, at)
    assert 0.125 <= row["low"] <= row["high"] <= 64


def test_a_speedup_is_said_with_its_interval_and_the_guides_figure() -> None:
    estimate = Estimate(2.0, 1.9, 2.1, 2.9, "inverts", "cached")
    spec = speedup_charts.forest([estimate])
    said = "cached 2 times as fast, 95 % interval 1.9 to 2.1, the guide prints 2.9: inverts"
    assert spec["description"] == f"speed-ups: {said}" and values(spec)[0]["guide"] == 2.9
    alone = Estimate(2.0, None, None, None, "inverts", "cached")
    (row,) = values(speedup_charts.forest([alone]))
    assert "interval not known" in row["label"] and row["fill"] == "transparent", "without an interval it is hollow"


def test_one_wide_interval_does_not_press_the_others_together() -> None:
    wide = Estimate(2.0, 0.001, 4e4, None, "undecided", "wide")
    sure = Estimate(1.5, 1.4, 1.6, None, "holds", "sure")
    row, _ = values(speedup_charts.forest([wide, sure]))
    assert (row["low"], row["high"]) == (0.25, 4.0), "twice beyond the points, which lie in 0.5 to 2"


def test_a_curve_has_its_points_intervals_and_a_logarithmic_axis() -> None:
    points = [Point(x, y, 0.9 * y, 1.1 * y) for x, y in ((1, 1.0), (2, 2.0), (32, 3.0))]
    spec = speedup_charts.curves([Curve("padded", points)], "stride", "speed-up", is_ratio=True)
    assert [(row["x"], row["y"], row["low"]) for row in values(spec)] == [(x.x, x.y, x.low) for x in points]
    assert spec["encoding"]["x"]["scale"]["type"] == "log"
    assert spec["description"] == "speed-up along stride: padded from 1 at 1 to 3 at 32"


def test_at_most_500_samples_are_kept_evenly() -> None:
    many = VariantSamples("v", np.arange(1.0, 10_001), np.zeros(10_000))
    kept = program_charts.thinned_out(many)
    assert len(kept.times_ns) == program_charts.MOST == 500
    assert (kept.times_ns[0], kept.times_ns[-1]) == (1, 10_000)
    assert set(np.diff(kept.times_ns)) == {20.0, 21.0}
    (panel,) = values(program_charts.samples_in_order([many]))
    assert len(panel["change"]) == len(panel["instance"]) == 500
    assert panel["name"] == "v, 500 of 10000 samples"


def test_samples_are_drawn_as_changes_of_their_median() -> None:
    few = VariantSamples("v", np.array([100.0, 100.0, 150.0, 100.0]), np.array([0, 0, 1, 1]))
    (panel,) = values(program_charts.samples_in_order([few]))
    assert panel["instance"] == [0, 0, 1, 1] and panel["change"] == [0, 0, 50, 0]


def test_a_distribution_holds_every_sample_that_is_not_far_out() -> None:
    times = np.array([*np.linspace(44e3, 46e3, 144), 8000e3])
    spec = program_charts.distribution([VariantSamples("v", times, np.zeros(145))])
    (hill,) = values(spec)
    assert hill["name"] == "v, 145 samples, 1 beyond"
    assert sum(hill["share"]) == pytest.approx(100 * 144 / 145, rel=0.01)
    low, high = spec["encoding"]["x"]["scale"]["domain"]
    assert 43.9 < low < 44 and 46 < high < 46.1 and spec["encoding"]["x"]["title"] == "time (us)"


def test_one_late_sample_does_not_press_the_others_together() -> None:
    times = np.array([*np.linspace(44.0, 46.0, 144), 8000.0])
    assert program_charts.inner_range(times) == (44.0, 46.0)
    assert program_charts.inner_range(np.full(9, 3.0)) == (3.0, 3.0)
    (panel,) = values(program_charts.samples_in_order([VariantSamples("v", times, np.zeros(145))]))
    assert panel["name"] == "v, 145 samples, 1 beyond" and max(panel["change"]) < 3


def test_equal_samples_have_a_chart() -> None:
    equal = VariantSamples("v", np.full(9, 3.0), np.zeros(9))
    (hill,) = values(program_charts.distribution([equal]))
    assert sum(hill["share"]) == pytest.approx(100)


def test_variants_that_are_far_apart_are_shown_around_their_medians() -> None:
    near = [
        VariantSamples("a", np.array([1e3, 1.1e3]), np.zeros(2)),
        VariantSamples("b", np.array([2e3, 2.1e3]), np.zeros(2)),
    ]
    assert program_charts.distribution(near)["encoding"]["x"]["title"] == "time (us)"
    far = [near[0], VariantSamples("b", np.array([2e6, 2.1e6]), np.zeros(2))]
    assert program_charts.distribution(far)["encoding"]["x"]["title"] == "time over the variant's median"


def test_a_timeline_has_a_box_for_all_that_can_be_seen() -> None:
    long = [Box("k", "kernel", 0.0, 50.0), Box("k", "kernel", 50.0, 100.0)]
    short = [Box("k", "kernel", 0.01 * place, 0.01 * place + 0.01) for place in range(1000)]
    spec = program_charts.timeline("v", [Lane("q0 kernels", long), Lane("q1 kernels", short)], 100.0)
    assert [(row["what"], row["us"]) for row in values(spec)] == [("k", 50), ("k", 50), ("k and 999 more", 10)]
    assert program_charts.busy_us(Lane("", [*long, Box("k", "kernel", 20.0, 30.0)])) == 100.0
    assert spec["description"] == "v, 100 us: q0 kernels 2 in 100 us, q1 kernels 1000 in 10 us"


def test_a_roof_has_both_ends_and_a_program_its_number() -> None:
    placed = [{"x": 1.0, "y": 5.0, "number": str(number), "title": "v"} for number in range(1, 5)]
    spec = program_charts.under_roofs(RoofLines("fp32", "GFLOP/s", 100, [("memory", 10)]), placed, "four")
    lines = values(spec["layer"][0])
    assert {row["roof"] for row in lines} == {"fp32 100 GFLOP/s", "memory 10 GB/s"} and len(lines) == 4
    assert [row["number"] for row in values(spec)] == ["1", "2", "3", "4"]
