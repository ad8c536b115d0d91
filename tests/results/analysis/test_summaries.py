"""Summaries: which samples count, in which column, and how near the roofs they come."""

import json

import numpy as np
import pandas as pd
import pytest
from synthetic import Synthetic, noisy

from xebench.results.analysis.intervals import median_interval


def only(frame: pd.DataFrame) -> pd.Series:
    assert len(frame) == 1
    return frame.iloc[0]


def test_statistics_of_a_case() -> None:
    made = Synthetic()
    times = np.append(noisy(1000, 30), 5000.0)
    made.times(made.case("v", "naive"), times)
    row = only(made.run().summaries)
    assert row["state"] == "hot"
    assert row["n"] == 31
    assert row["median_ns"] == np.median(times)
    assert row["low_ns"] < row["median_ns"] < row["high_ns"]
    assert row["min_ns"] == times.min()
    assert [row["q25_ns"], row["q75_ns"]] == pytest.approx(np.quantile(times, [0.25, 0.75]))
    assert row["outliers"] == 1
    assert abs(row["drift"]) < 0.02


@pytest.mark.parametrize(("metric", "factor"), [("device", 1), ("span", 2), ("wall", 3)])
def test_the_metric_chooses_the_column(metric: str, factor: int) -> None:
    made = Synthetic()
    made.times(made.case("v", "naive", metric=metric), [100.0] * 8)
    assert only(made.run().summaries)["median_ns"] == 100 * factor


def test_hot_and_cold_are_rows_of_their_own() -> None:
    made = Synthetic()
    case = made.case("v", "naive")
    made.times(case, [100.0] * 7)
    made.times(case, [300.0] * 9, state="cold")
    found = made.run().summaries.set_index("state")
    assert list(found.index) == ["hot", "cold"]
    assert list(found["median_ns"]) == [100, 300]
    assert list(found["n"]) == [7, 9]


def test_invalid_warmup_and_compile_rows_are_not_in_the_statistics() -> None:
    made = Synthetic()
    case = made.case("v", "naive")
    made.times(case, [100.0] * 7)
    made.sample(case, block=7, device_ns=9e9, valid=False, sample_flags="stale")
    made.sample(case, device_ns=9e9, state="warmup")
    made.sample(case, state="compile", stage="typing", host_ns=2e6)
    made.sample(case, state="compile", stage="build", host_ns=3e6)
    row = only(made.run().summaries)
    assert (row["n"], row["median_ns"], row["compile_ns"]) == (7, 100, 5e6)


def test_a_case_that_was_never_sampled_has_a_row_with_its_reason() -> None:
    made = Synthetic()
    made.case("v", "naive", status="skipped", reason="needs fp64")
    row = only(made.run().summaries)
    assert (row["n"], row["status"], row["reason"]) == (0, "skipped", "needs fp64")
    assert row[["state", "median_ns", "low_ns", "drift", "compile_ns", "bandwidth_gbps"]].isna().all()


def test_a_case_whose_samples_are_all_invalid_keeps_its_state() -> None:
    made = Synthetic()
    made.sample(made.case("v", "naive"), block=0, device_ns=0.0, valid=False, sample_flags="zero")
    row = only(made.run().summaries)
    assert (row["state"], row["n"]) == ("hot", 0)
    assert pd.isna(row["median_ns"])


ROOFS = {
    "bandwidth_roof_gbps": 20.0,
    "fp32_roof_gflops": 100.0,
    "fp64_roof_gflops": 25.0,
    "int32_roof_gops": 50.0,
    "slm_roof_gbps": 200.0,
    "host_link_roof_gbps": 5.0,
    "peer_link_roof_gbps": 8.0,
}
LEVELS = json.dumps(
    [
        {"level": "L1", "working_set_bytes": 1 << 15, "gbps": 400.0},
        {"level": "L2", "working_set_bytes": 1 << 17, "gbps": 100.0},
        {"level": "memory", "working_set_bytes": 1 << 20, "gbps": 30.0},
        {"level": "memory", "working_set_bytes": 1 << 21, "gbps": 20.0},
    ]
)


@pytest.mark.parametrize(
    ("work", "fraction", "bound_by"),
    [
        ({"bytes_moved": 1000, "operations": 1000, "operation_kind": "fp32"}, 0.5, "memory"),
        ({"bytes_moved": 1000, "operations": 9000, "operation_kind": "fp32"}, 0.9, "compute"),
        ({"bytes_moved": 1000, "operations": 4000, "operation_kind": "int32"}, 0.8, "compute"),
        ({"bytes_moved": 1000, "operations": 2000, "operation_kind": "fp64"}, 0.8, "compute"),
        ({"bytes_moved": 1000, "operations": 9000, "operation_kind": "bf16"}, 0.5, "memory"),
        ({"bytes_moved": 1000, "slm_bytes": 15000}, 0.75, "slm"),
        ({"bytes_moved": 1000, "host_bytes": 400}, 0.8, "host link"),
        ({"host_bytes": 100, "peer_bytes": 600}, 0.75, "device link"),
        ({"operations": 9000, "operation_kind": "fp32"}, 0.9, "compute"),
        ({"bytes_moved": 5000}, 2.5, "cache"),
        ({"operations": 20000, "operation_kind": "fp32"}, 2.0, "compute"),
        ({}, None, None),
    ],
)
def test_fraction_of_the_nearer_roof(work: dict[str, object], fraction: float | None, bound_by: str | None) -> None:
    made = Synthetic(**ROOFS)
    made.times(made.case("v", "naive", **work), [100.0] * 8)
    row = only(made.run().summaries)
    if fraction is None:
        assert row[["roof_fraction", "bound_by", "bandwidth_gbps", "rate_gops"]].isna().all()
    else:
        assert row["roof_fraction"] == pytest.approx(fraction)
        assert row["bound_by"] == bound_by


@pytest.mark.parametrize(
    ("working_set", "roof", "gbps", "bound_by"),
    [
        (1 << 10, "L1 bandwidth", 400.0, "cache"),
        (1 << 16, "L1 bandwidth", 400.0, "cache"),
        (1 << 17, "L2 bandwidth", 100.0, "cache"),
        ((1 << 20) - 4, "L2 bandwidth", 100.0, "cache"),
        (1 << 20, "memory bandwidth", 30.0, "memory"),
        (1 << 30, "memory bandwidth", 20.0, "memory"),
    ],
)
def test_a_case_is_held_against_the_level_that_its_working_set_fits_in(
    working_set: int, roof: str, gbps: float, bound_by: str
) -> None:
    made = Synthetic(**ROOFS, bandwidth_levels=LEVELS)
    case = made.case("v", "naive", bytes_moved=2 * working_set, working_set_bytes=working_set)
    made.times(case, [2 * working_set / (0.8 * gbps)] * 8)
    made.times(case, [2 * working_set / 16.0] * 8, state="cold")
    hot, cold = (row for _, row in made.run().summaries.iterrows())
    assert (hot["nearest_roof"], hot["bound_by"]) == (roof, bound_by)
    assert hot["roof_fraction"] == pytest.approx(0.8)
    assert pd.isna(hot["roof_note"])
    assert (cold["nearest_roof"], cold["bound_by"]) == ("memory bandwidth", "memory"), (
        "flushed: it comes from the memory"
    )
    assert cold["roof_fraction"] == pytest.approx(0.8)


MIX = {
    "memory_read_roof_gbps": 19.0, "memory_write_roof_gbps": 16.0, "memory_copy_roof_gbps": 14.0,
    "memory_triad_roof_gbps": 15.0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("read_part", "roof", "gbps"),
    [
        (1.0, "memory read", 19.0),
        (0.0, "memory write", 16.0),
        (1 / 2, "memory copy", 14.0),
        (2 / 3, "memory triad", 15.0),
        (0.55, "memory triad", 15.0),  # between two mixes the higher roof
        (0.25, "memory write", 16.0),
        (0.9, "memory read", 19.0),
        (None, "memory bandwidth", 20.0),
    ],
)
def test_a_case_in_memory_is_held_against_the_roof_of_its_mix(read_part: float | None, roof: str, gbps: float) -> None:
    made = Synthetic(**ROOFS | MIX, bandwidth_levels=LEVELS)
    large = {"bytes_moved": 1 << 31, "working_set_bytes": 1 << 30}
    made.times(made.case("v", "naive", read_part=read_part, **large), [(1 << 31) / (0.9 * gbps)] * 8)
    row = only(made.run().summaries)
    assert (row["nearest_roof"], row["bound_by"]) == (roof, "memory")
    assert row["roof_fraction"] == pytest.approx(0.9)


def test_a_case_that_is_faster_than_its_problems_mix_has_another_one() -> None:
    made = Synthetic(**ROOFS | MIX, bandwidth_levels=LEVELS)
    large = {"bytes_moved": 1 << 31, "working_set_bytes": 1 << 30}
    made.times(made.case("v", "naive", read_part=0.5, **large), [(1 << 31) / 18.0] * 8)
    row = only(made.run().summaries)
    assert row["nearest_roof"] == "memory read" and pd.isna(row["roof_note"])
    assert row["roof_fraction"] == pytest.approx(18 / 19)


def test_only_mixes_that_were_measured_count_and_caches_have_none() -> None:
    made = Synthetic(**ROOFS, memory_read_roof_gbps=19.0, bandwidth_levels=LEVELS)
    made.times(
        made.case("in_memory", "naive", read_part=0.5, bytes_moved=1 << 31, working_set_bytes=1 << 30), [1e9] * 8
    )
    made.times(
        made.case("in_cache", "optimized", read_part=0.5, bytes_moved=1 << 17, working_set_bytes=1 << 17), [1e9] * 8
    )
    found = made.run().summaries.set_index("variant")["nearest_roof"]
    assert found.to_dict() == {"in_memory": "memory bandwidth", "in_cache": "L2 bandwidth"}


def test_a_case_that_touches_a_part_of_its_arrays_belongs_where_that_part_lies() -> None:
    made = Synthetic(**ROOFS, bandwidth_levels=LEVELS)
    made.times(made.case("v", "naive", bytes_moved=1 << 15, working_set_bytes=1 << 30), [1e3] * 8)
    assert only(made.run().summaries)["nearest_roof"] == "L1 bandwidth"


@pytest.mark.parametrize(("fraction", "doubted"), [(1.0, False), (1.019, False), (1.021, True), (19.25, True)])
def test_a_fraction_more_than_two_percent_above_its_roof_is_a_doubt_of_it(fraction: float, doubted: bool) -> None:
    made = Synthetic(**ROOFS)
    made.times(made.case("v", "naive", operations=9000, operation_kind="fp32"), [90.0 / fraction] * 8)
    row = only(made.run().summaries)
    assert row["roof_fraction"] == pytest.approx(fraction)
    assert pd.notna(row["roof_note"]) == doubted


def test_no_doubt_of_a_roof_without_its_word() -> None:
    made = Synthetic(**ROOFS, bandwidth_levels=LEVELS)
    made.times(made.case("a", "naive", bytes_moved=1 << 22, working_set_bytes=1 << 22), [1e5] * 8)
    made.times(made.case("b", "optimized", operations=20000, operation_kind="fp32"), [100.0] * 8)
    made.times(made.case("c", "optimized", bytes_moved=5000), [100.0] * 8)
    notes = made.run().summaries.set_index("variant")
    assert (notes["roof_fraction"] > 1).all()
    assert notes["bound_by"].to_dict() == {"a": "memory", "b": "compute", "c": "cache"}
    assert notes["roof_note"].to_dict() == {
        "a": "faster than the measured roof: memory bandwidth was measured too low, or bytes_moved counts too much",
        "b": "faster than the measured roof: fp32 was measured too low, or operations counts too much",
        "c": "faster than the memory: its data came from a cache",
    }


def test_rates_are_in_giga_per_second() -> None:
    made = Synthetic()
    made.times(made.case("v", "naive", bytes_moved=4_000_000, operations=1_000_000), [1e6] * 8)  # 1 ms
    row = only(made.run().summaries)
    assert (row["bandwidth_gbps"], row["rate_gops"]) == (4.0, 1.0)


def test_wall_time_is_placed_under_the_same_roofs() -> None:
    made = Synthetic(**ROOFS)
    made.times(made.case("v", "naive", bytes_moved=1000, metric="wall"), [100.0] * 8)
    row = only(made.run().summaries)
    assert (row["median_ns"], row["roof_fraction"]) == (300, pytest.approx(0.5 / 3))


def test_no_fraction_without_roofs() -> None:
    made = Synthetic()
    made.times(made.case("v", "naive", bytes_moved=1000), [100.0] * 8)
    row = only(made.run().summaries)
    assert row["bandwidth_gbps"] > 0
    assert pd.isna(row["roof_fraction"])
    assert pd.isna(row["bound_by"])


def test_the_interval_of_the_median_knows_that_instances_differ() -> None:
    source, made, count = np.random.default_rng(1), Synthetic(), 150
    instances = [block // 12 for block in range(72)]
    for case in range(count):
        shifts = np.repeat(source.normal(0, 0.01, 6), 12)
        times = 1e6 * np.exp(shifts + source.normal(0, 0.005, 72))
        made.times(made.case("v", "naive", parameters=f'{{"n":{case}}}'), times, instances=instances)
    found = made.run().summaries
    covered = ((found["low_ns"] <= 1e6) & (found["high_ns"] >= 1e6)).mean()
    # 95 % of 150, and three standard errors
    assert covered >= 0.89


def test_the_interval_reaches_as_far_as_the_median_that_is_shown() -> None:
    made = Synthetic()
    # the instance with most samples is not like the others
    times, instances = noisy(1000, 90), [0] * 60 + [block // 6 for block in range(6, 36)]
    times[:60] *= 1.5
    made.times(made.case("v", "naive"), times, instances=instances)
    row = only(made.run().summaries)
    assert row["median_ns"] == np.median(times) > 1450
    assert row["low_ns"] < 1300 < row["high_ns"]
    assert row["low_ns"] <= row["median_ns"] <= row["high_ns"]


def test_one_instance_has_the_interval_of_its_median() -> None:
    made, times = Synthetic(), noisy(1000, 30)
    made.times(made.case("v", "naive"), times, instances=[4] * 30)
    row, expected = only(made.run().summaries), median_interval(times)
    assert (row["low_ns"], row["high_ns"]) == (expected.low, expected.high)
