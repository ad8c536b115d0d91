"""The instrument's own error in words."""

from __future__ import annotations

import pandas as pd
import pytest

from xebench.records.device_facts import noise_floor

DEVICE = {
    "timer_resolution_ns": 52.0,
    "empty_kernel_ns": 780.0,
    "empty_kernel_queue_ns": 6700.0,
    "empty_kernel_host_ns": 16_800.0,
    "launch_overhead_ns": 11_500.0,
    "aa_speedup": 1.00026,
    "aa_low": 0.9994,
    "aa_high": 1.0008,
}


def test_everything_that_was_measured_is_said() -> None:
    assert noise_floor(DEVICE) == (
        "1.0003x for a kernel against itself (0.9994 to 1.0008); "
        "empty kernel 780 ns on the device, 16.8 us on the host; "
        "submit to start 6.7 us; launch 11.5 us; timer quantum 52 ns"
    )


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_what_was_not_measured_is_left_out(missing: object) -> None:
    few = {**dict.fromkeys(DEVICE, missing), "timer_resolution_ns": 1.0, "aa_speedup": 1.0}
    assert noise_floor(few) == "timer quantum 1 ns"
    assert noise_floor(dict.fromkeys(DEVICE, missing)) is None
    assert noise_floor({}) is None


@pytest.mark.parametrize("queue_ns", [1.54e15, 0.0, -5.0])
def test_submissions_that_cannot_be_true_are_not_printed(queue_ns: float) -> None:
    said = noise_floor(DEVICE | {"empty_kernel_queue_ns": queue_ns})
    assert said is not None
    assert "the driver gives no submission times" in said
    assert "submit to start" not in said
