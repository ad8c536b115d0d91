"""Cases under the measured roofs."""

from __future__ import annotations

import json

import pytest
from changed_run import changed

from xebench.report.page.figures import charts, under_roofs
from xebench.results import Run


def test_every_case_with_work_and_a_time_is_a_point_with_a_number_and_a_row(run: Run) -> None:
    under = under_roofs(run)
    measured = run.summaries.dropna(subset=["median_ns"])
    assert sorted(case.rate for case in under) == sorted(measured["rate_gops"])
    assert {case.intensity for case in under} == {2.0}
    (chart,) = charts(under)
    assert chart.caption == "fp32 operations"
    assert [number for number, _ in chart.cases] == ["1", "2", "3"]
    assert len(chart.spec["data"]["values"]) == 3
    assert all(case.title.endswith("of memory bandwidth") for case in under)


def test_each_level_of_the_memory_has_a_slope_and_its_name(run: Run) -> None:
    levels = [{"level": name, "working_set_bytes": 1, "gbps": gbps} for name, gbps in (("L1", 4e3), ("memory", 500))]
    (chart,) = charts(under_roofs(changed(run, devices=run.devices.assign(bandwidth_levels=json.dumps(levels)))))
    lines = chart.spec["layer"][0]["data"]["values"]
    assert [row["words"] for row in lines if row["words"]][1:] == ["L1 4000 GB/s", "memory 500 GB/s"]
    assert len({row["roof"] for row in lines}) == 3, "two slopes under one rate"


@pytest.mark.parametrize("column", ["bandwidth_roof_gbps", "fp32_roof_gflops"])
def test_without_a_roof_there_is_no_chart(run: Run, column: str) -> None:
    assert under_roofs(changed(run, devices=run.devices.assign(**{column: float("nan")}))) == []
    assert under_roofs(changed(run, devices=run.devices.iloc[:0])) == []


def test_a_case_above_its_roof_says_why(run: Run) -> None:
    fast = run.summaries.assign(roof_fraction=1.5, roof_note="faster than the measured roof: a reason")
    for case in under_roofs(changed(run, summaries=fast)):
        assert case.title.endswith(">100 % of memory bandwidth, faster than the measured roof: a reason")
