"""Roofs that a run measured serve later runs for a while."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_device import GPU

from xebench.runner.calibration import MOST_AGE_S, RunRoofs, device_columns

ROOFS = {"bandwidth_roof_gbps": 20.0, "roofs_from": "this run", "roofs_disturbed": "", "bandwidth_levels": "[]"}


class Measures:
    """Counts what is measured."""

    def __init__(self, **roofs: Any) -> None:
        self.roofs, self.asked = {**ROOFS, "link_roofs": "{}", **roofs}, []  # type: ignore[var-annotated]

    def measure_roofs(self, *, brief: bool = False) -> Mapping[str, Any]:
        self.asked.append("brief" if brief else "roofs")
        return {**self.roofs, "empty_kernel_ns": 5.0}

    def measure_instrument(self) -> Mapping[str, Any]:
        self.asked.append("instrument")
        return {"empty_kernel_ns": 6.0}


def test_roofs_are_measured_once_a_week_and_the_instrument_in_each_run(tmp_path: Path) -> None:
    now = 1_700_000_000.0
    kept, measures = RunRoofs(tmp_path, lambda: now), Measures()
    first = device_columns(measures, GPU, None, kept, brief=False)
    assert (first["bandwidth_roof_gbps"], first["roofs_from"]) == (20.0, "this run")
    again = device_columns(measures, GPU, None, kept, brief=False)
    assert (again["bandwidth_roof_gbps"], again["empty_kernel_ns"]) == (20.0, 6.0)
    assert again["roofs_from"] == "a run of 2023-11-14T22:13Z"
    now += MOST_AGE_S + 1
    device_columns(measures, GPU, None, kept, brief=False)
    assert measures.asked == ["roofs", "instrument", "roofs"]


@pytest.mark.parametrize("change", [{"driver_version": "2"}, {"max_clock_mhz": 900}, {"name": "another"}])
def test_another_driver_or_clock_limit_has_roofs_of_its_own(change: dict[str, Any], tmp_path: Path) -> None:
    kept, measures = RunRoofs(tmp_path), Measures()
    device_columns(measures, GPU, None, kept, brief=False)
    device_columns(measures, replace(GPU, **change), None, kept, brief=False)
    assert measures.asked == ["roofs", "roofs"]


def test_neither_a_brief_look_nor_a_busy_machine_is_kept(tmp_path: Path) -> None:
    kept = RunRoofs(tmp_path)
    busy, measures = Measures(roofs_disturbed="memory bandwidth, fp32, fp64, int32, SLM"), Measures()
    device_columns(busy, GPU, None, kept, brief=False)
    device_columns(measures, GPU, None, kept, brief=True)
    device_columns(measures, GPU, None, kept, brief=False)
    assert measures.asked == ["brief", "roofs"]
