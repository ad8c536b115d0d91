"""The plot of cases under the measured roofs."""

from __future__ import annotations

import pytest
from changed_run import changed

from xebench.report.roofline_plot import HEIGHT, WIDTH, plots
from xebench.tables import Run


def test_every_case_with_work_and_a_time_is_a_point(run: Run) -> None:
    (plot,) = plots(run)
    measured = run.summaries.dropna(subset=["median_ns"])
    assert (plot.kind, len(plot.points)) == ("fp32", len(measured))
    assert plot.label == "500 GB/s and 15000 GFLOP/s"
    for point in plot.points:
        assert 0 < point.x < WIDTH
        assert 0 < point.y < HEIGHT
        assert point.title.endswith("of memory bandwidth")
    for axis in (plot.x_ticks, plot.y_ticks):
        assert axis


def test_the_roof_has_its_ridge_where_both_meet(run: Run) -> None:
    (plot,) = plots(run)
    (_, start_y), (ridge_x, ridge_y), (end_x, end_y) = (
        tuple(map(float, corner.split(","))) for corner in plot.roof.split()
    )
    assert start_y > ridge_y == end_y
    assert ridge_x < end_x == WIDTH
    # all cases do two operations a byte, fifteen times below the ridge of 30: left of it
    assert all(point.x < ridge_x for point in plot.points)


@pytest.mark.parametrize("column", ["bandwidth_roof_gbps", "fp32_roof_gflops"])
def test_without_a_roof_there_is_no_plot(run: Run, column: str) -> None:
    assert plots(changed(run, devices=run.devices.assign(**{column: float("nan")}))) == []
    assert plots(changed(run, devices=run.devices.iloc[:0])) == []


def test_a_case_above_its_roof_says_why(run: Run) -> None:
    fast = run.summaries.assign(roof_fraction=1.5, roof_note="faster than the measured roof: a reason")
    (plot,) = plots(changed(run, summaries=fast))
    assert all(
        point.title.endswith(">100 % of memory bandwidth, faster than the measured roof: a reason")
        for point in plot.points
    )
