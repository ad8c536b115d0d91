"""Two versions in one run: the intervals hold together, and what cannot be compared says why."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np
import pytest
from synthetic import Synthetic

from xebench.results import Run, compare_versions
from xebench.results.analysis.intervals import Interval
from xebench.results.analysis.moderation import NOTHING, Prior, moderated_speedup, simultaneous

INSTANCES, BLOCKS = 6, 12


def versions(made: Synthetic, ratio: float, seed: int, pattern: str = "p", spread: float = 0.003, **new: Any) -> None:
    """A variant whose new version takes ``ratio`` times as long; instances differ, blocks a little."""
    source = np.random.default_rng(seed)
    places = np.repeat(np.arange(INSTANCES), BLOCKS)
    for prefix, role, length in (("old:", "baseline", 1e5), ("new:", "optimized", 1e5 * ratio)):
        against = {"against": "old:v"} if prefix == "new:" else {}
        case = made.case(f"{prefix}v", role, pattern=pattern, claims="[]", **against, **(new if against else {}))
        level = length * np.exp(source.normal(0, spread, INSTANCES))[places]
        times = level * np.exp(source.normal(0, 0.002, places.size))
        if new.get("status", "ok") == "ok" or not against:
            made.times(case, times, instances=places.tolist())


def compared(run: Run, threshold: float = 0.01) -> dict[str, dict[Hashable, Any]]:
    return {row["pattern"]: row for row in compare_versions(run, threshold).to_dict("records")}


@pytest.mark.parametrize(
    ("ratio", "outcome"), [(1.0, "same"), (1.05, "slower"), (0.95, "faster"), (1.02, "inconclusive")]
)
def test_a_version_is_compared_with_itself(ratio: float, outcome: str) -> None:
    made = Synthetic()
    versions(made, ratio, seed=3)
    row = compared(made.run(), 0.02)["p"]
    assert (row["variant"], row["outcome"]) == ("v", outcome)
    assert row["speedup"] == pytest.approx(1 / ratio, rel=0.01)
    assert (row["before_n"], row["after_n"]) == (INSTANCES * BLOCKS, INSTANCES * BLOCKS)
    assert "at 95 % for the only pair, 72 blocks of 6 instances" in row["reason"]


def test_more_pairs_make_wider_intervals_and_no_false_alarm() -> None:
    alone, many = Synthetic(), Synthetic()
    versions(alone, 1.0, seed=0)
    for seed in range(30):
        versions(many, 1.0, seed, pattern=f"p{seed}")
    found = compared(many.run(), 0.0)
    widths = [float(np.log(row["speedup_high"] / row["speedup_low"])) for row in found.values()]
    assert "for all 30 pairs together" in found["p0"]["reason"]
    assert not any(row["outcome"] == "slower" for row in found.values())
    lone = compared(alone.run(), 0.0)["p"]
    assert np.log(lone["speedup_high"] / lone["speedup_low"]) < np.median(widths)


def test_in_a_hundred_runs_of_equal_versions_few_report_anything() -> None:
    """What is promised is 5 % of runs at most, slower or faster, without any threshold."""
    source, alarms = np.random.default_rng(7), 0
    for _ in range(400):
        medians = source.normal(0, 0.01, (20, INSTANCES))
        intervals = [
            Interval(math.exp(mean), math.exp(mean - half), math.exp(mean + half), 72, INSTANCES)
            for one in medians
            for mean, half in [(one.mean(), 2.5706 * one.std(ddof=1) / np.sqrt(INSTANCES))]
        ]
        together = [simultaneous(one, NOTHING, len(intervals)) for one in intervals]
        alarms += any(not one.low <= 1 <= one.high for one in together)
    assert alarms <= 0.08 * 400


def test_load_on_one_instance_hides_no_regression() -> None:
    made = Synthetic()
    versions(made, 1.03, seed=4)
    source = np.random.default_rng(4)
    for sample in made.samples:
        if sample["instance"] == 0 and sample["case_id"].startswith("p/new:"):
            sample["device_ns"] *= float(np.exp(source.normal(0.4, 0.5)))
    row = compared(made.run())["p"]
    assert row["outcome"] == "slower" and row["speedup_high"] - row["speedup_low"] < 0.04


def test_what_the_other_pairs_know_narrows_the_interval() -> None:
    one = Interval(1.0, 1 / 1.02, 1.02, 30, 3)
    assert simultaneous(one, Prior(0.0001, 10), 20).half_width < simultaneous(one, NOTHING, 20).half_width
    assert simultaneous(one, NOTHING, 1).low == pytest.approx(moderated_speedup(one, NOTHING).low)
    assert not simultaneous(Interval(1.0, 0.99, 1.01, 30, 1), NOTHING, 1).known
    assert not simultaneous(Interval(1.0, 0.01, 100.0, 30, 2), NOTHING, 1000).known, "too wide for a number"


def test_one_instance_decides_nothing() -> None:
    made = Synthetic()
    for prefix, role in (("old:", "baseline"), ("new:", "optimized")):
        case = made.case(f"{prefix}v", role, claims="[]", against="old:v" if role == "optimized" else None)
        made.times(case, np.full(20, 1e5 if role == "baseline" else 3e5), instances=[0] * 20)
    row = compared(made.run())["p"]
    assert row["outcome"] == "inconclusive" and "20 blocks of 1 instance do not show" in row["reason"]


def test_the_same_program_is_no_slower() -> None:
    made = Synthetic()
    versions(made, 1.2, seed=1)
    for case in made.cases:
        case["program"] = "one"
    row = compared(made.run())["p"]
    assert row["outcome"] == "same" and row["reason"].startswith("the same program: machine code")


def test_what_has_no_time_says_why() -> None:
    made = Synthetic()
    versions(made, 1.0, 1, "wrong", status="wrong", reason="y: 1 of 9 elements differ")
    versions(made, 1.0, 2, "skipped", status="skipped", reason="not compared: its metric changed")
    made.cases[-2] |= {"status": "skipped", "reason": "not compared: its metric changed"}
    made.times(made.case("old:w", "baseline", pattern="gone", claims="[]"), np.full(20, 1e5))
    made.case("new:w", "optimized", pattern="come", claims="[]", status="wrong", reason="y differs")
    found = compared(made.run())
    assert {row["outcome"] for row in found.values()} == {"none"}
    assert found["wrong"]["reason"] == "wrong after: y: 1 of 9 elements differ"
    assert (found["wrong"]["before_n"], found["wrong"]["after_n"]) == (INSTANCES * BLOCKS, 0)
    assert found["skipped"]["reason"] == "not compared: its metric changed"
    assert found["gone"]["reason"] == "only in the old version"
    assert (found["gone"]["before_n"], found["gone"]["before_ns"], found["gone"]["after_n"]) == (20, 1e5, 0)
    assert found["come"]["reason"] == "only in the new version (wrong: y differs)"


def test_a_negative_threshold_is_refused() -> None:
    made = Synthetic()
    versions(made, 1.0, seed=0)
    with pytest.raises(ValueError, match="negative"):
        compare_versions(made.run(), -0.1)
