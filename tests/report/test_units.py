"""Numbers as people read them."""

from __future__ import annotations

import math

import pytest

from xebench.records.device_facts import Roof
from xebench.report import units


@pytest.mark.parametrize(
    ("ns", "text"),
    [(None, "-"), (math.nan, "-"), (3.2, "3.20 ns"), (1234, "1.23 us"), (8.4e6, "8.40 ms"), (2e9, "2.00 s")],
)
def test_durations(ns: float | None, text: str) -> None:
    assert units.duration(ns) == text


@pytest.mark.parametrize(("value", "text"), [(None, "-"), (1.234, "1.23x"), (0.5, "0.50x"), (123.4, "123x")])
def test_ratios(value: float | None, text: str) -> None:
    assert units.ratio(value) == text


def test_a_ratio_has_the_digits_of_its_interval() -> None:
    assert units.ratio(0.9951, 0.994, 0.996) == "0.995x"
    assert units.ratio(17.04, 14.0, 20.6) == "17.0x"
    assert units.ratio(132.4, 120.0, 150.4) == "132x"
    assert units.ratio(1.234, math.nan, math.nan) == "1.23x"


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (None, 1.0, "-"),
        (1.071, 1.104, "1.07 - 1.10"),
        (1.0712, 1.0804, "1.071 - 1.080"),
        (12.34, 15.6, "12.3 - 15.6"),
        (120.0, 150.4, "120 - 150"),
    ],
)
def test_intervals(low: float | None, high: float | None, text: str) -> None:
    assert units.interval(low, high) == text


def test_percentages() -> None:
    assert units.percent(0.1234) == "12.3 %"
    assert units.percent(0.000_123_4) == "0.012 %"
    assert units.percent(0.000_001_234) == "<0.01 %"
    assert units.percent(0.0) == "0 %"
    assert units.percent(None) == "-"


@pytest.mark.parametrize(
    ("value", "text"), [(0.012345, "0.0123"), (37.44, "37.4"), (999.6, "1000"), (52428.8, "52429"), (0.0, "0")]
)
def test_large_figures_have_no_exponent(value: float, text: str) -> None:
    assert units.figure(value) == text


def test_roofs_that_are_unknown_are_left_out() -> None:
    known = {Roof.BANDWIDTH: 3276.8, Roof.FP32: 52428.8, Roof.FP64: None, Roof.INT32: 214.26, Roof.SLM: 456.1}
    assert units.roofs(known) == "3277 GB/s, 52429 GFLOP/s fp32, 214 Gop/s int32, 456 GB/s SLM"
    assert units.roofs({Roof.BANDWIDTH: None}) == ""


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0 s"), (19.4, "19 s"), (59.7, "1 min 0 s"), (232, "3 min 52 s"), (7500, "2 h 5 min")]
)
def test_long_times_are_said_as_people_do(seconds: float, text: str) -> None:
    assert units.long_time(seconds) == text


def test_a_small_speed_up_keeps_two_digits_and_lies_in_its_interval() -> None:
    assert units.ratio(0.006354, 0.006302, 0.006408) == "0.0064x"
    assert units.interval(0.006302, 0.006408) == "0.0063 - 0.0064"
