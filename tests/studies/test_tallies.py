"""Shares, their intervals, scores, coverage and goals, on tables made by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tools.studies.noise import tallies
from tools.studies.noise.known_pairs import CONDITIONS, EXCESSES
from tools.studies.noise.tallies import OURS_FINE, PRECISIONS, RULES, TOOLS, XEBENCH, Score, Share


@pytest.mark.parametrize(("hits", "n"), [(0, 10), (1, 10), (5, 10), (10, 10), (3, 96), (29, 32)])
def test_intervals_are_those_of_wilson(hits: int, n: int) -> None:
    expected = stats.binomtest(hits, n).proportion_ci(0.95, "wilson")
    assert Share(hits, n).interval == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_a_share_of_nothing_says_nothing() -> None:
    assert math.isnan(Share(0, 0).value)
    assert Share(0, 0).interval == (0.0, 1.0)
    assert tallies.percent(Share(0, 0)) == "no pairs"


def test_a_score_counts_alarms_right_and_wrong_calls() -> None:
    rows = pd.DataFrame(
        [(0.0, "same"), (0.0, "same"), (0.02, "faster"), (0.02, "slower"), (0.02, "faster"), (0.05, "slower")],
        columns=["excess", "answer"],
    )
    calls = np.array(["", "slower", "faster", "faster", "", "slower"])
    found = tallies.score(rows, calls)
    assert found.alarms == Share(1, 2)
    assert found.detected[0.02] == Share(1, 3)
    assert found.detected[0.05] == Share(1, 1)
    assert found.detected[0.2] == Share(0, 0)
    assert found.wrong == Share(1, 4)


def row(tool: str, condition: str, excess: float, measured: float, half: float) -> dict[str, Any]:
    """A pair whose first program is longer by ``excess``, and was measured as ``measured``."""
    low, high = measured - half, measured + half
    times = {"min_ns": 1.0, "mean_ns": 1.0, "median_ns": 1.0, "stdev_ns": half / 3, "n": 20}
    return {
        "tool": tool,
        "condition": condition,
        "excess": excess,
        "answer": "faster" if excess else "same",
        "truth": 1 + excess,
        "seconds": 0.5,
        "repetition": 0,
        **{f"second_{name}": value for name, value in times.items()},
        **{f"first_{name}": measured if name[-3:] == "_ns" and name[0] == "m" else v for name, v in times.items()},
        "speedup": measured,
        "low": low if tool in PRECISIONS else math.nan,
        "high": high if tool in PRECISIONS else math.nan,
        "outcome": ("faster" if low > 1 else "inconclusive") if tool in PRECISIONS else "",
        "stopped_by": "precision" if tool in PRECISIONS else "",
    }


def perfect(tools: tuple[str, ...] = TOOLS, error: float = 0.0) -> pd.DataFrame:
    """Every tool measures every ratio with the same relative error."""
    return pd.DataFrame(
        [
            row(tool, condition, excess, (1 + excess) * (1 + error), 0.004)
            for tool in tools
            for condition in CONDITIONS
            for excess in EXCESSES
            for _ in range(4)
        ]
    )


def test_coverage_is_counted_by_excess_and_altogether() -> None:
    rows = perfect()
    rows.loc[rows["excess"] == 0.2, ["low", "high"]] = 1.0, 1.1
    found = tallies.coverage(rows, XEBENCH, "quiet")
    assert found[0.02] == Share(4, 4)
    assert found[0.2] == Share(0, 4)
    assert found[None] == Share(16, 20)


def test_an_interval_that_is_unknown_is_not_counted() -> None:
    rows = perfect()
    rows.loc[rows["excess"] == 0, ["low", "high"]] = math.nan, math.nan
    assert tallies.coverage(rows, XEBENCH, "load")[None] == Share(16, 16)


def test_every_rule_is_right_where_all_measure_right() -> None:
    for rule, score in tallies.scores(perfect(), "quiet").items():
        assert score.alarms == Share(0, 4), rule.label
        assert score.detected[0.2] == Share(4, 4), rule.label
        assert score.wrong == Share(0, 16), rule.label


def test_a_peer_that_is_as_good_is_named() -> None:
    reached = tallies.scores(perfect(), "quiet")
    labels = {rule.label for rule in tallies.rivals(reached)}
    assert "pyperf, compare_to" in labels
    assert not any(label.startswith(XEBENCH) for label in labels)
    better = [goal for goal in tallies.goals(perfect()) if "every peer" in goal.text]
    assert [goal.reached for goal in better] == [False, False]
    assert "pyperf, compare_to" in better[0].result


def test_peers_with_false_alarms_or_less_detection_are_no_rivals() -> None:
    good, none = Share(10, 10), Share(0, 10)
    own, alarming, blind = (
        Score(none, {0.02: good}, none),
        Score(good, {0.02: good}, none),
        Score(none, {0.02: none}, none),
    )
    peers = [rule for rule in RULES if rule.tool not in PRECISIONS]
    reached = {OURS_FINE: own} | {rule: alarming if number % 2 else blind for number, rule in enumerate(peers)}
    assert list(tallies.rivals(reached)) == []
    assert list(tallies.rivals(reached | {peers[0]: own})) == [peers[0]]


def test_a_peer_that_finds_less_of_one_ratio_is_no_rival() -> None:
    good, none = Share(10, 10), Share(0, 10)
    own = Score(none, {0.01: good, 0.02: good}, none)
    peer = next(rule for rule in RULES if rule.tool not in PRECISIONS)
    reached = {OURS_FINE: own, peer: Score(none, {0.01: Share(9, 10), 0.02: good}, none)}
    assert not list(tallies.rivals(reached))


def test_goals_follow_the_shares() -> None:
    rows = perfect()
    reached = {goal.text: goal.reached for goal in tallies.goals(rows)}
    few_alarms = "quiet: false alarms of xebench at most 5%, surely at most 7%"
    assert not reached[few_alarms], "none of four is no proof"
    assert {goal.text: goal.reached for goal in tallies.goals(pd.concat([rows] * 20))}[few_alarms]
    assert reached["quiet: 2% found in at least 97% of pairs"]
    assert reached["load: 5% found in at least 95% of pairs"]
    # 100 % coverage is not what a 95 % interval should have
    pooled = "covers the true ratio in 93% to 98% of pairs, those of every ratio together"
    assert not reached[f"quiet: the 95 % interval of xebench {pooled}"]
    assert not reached[f"load: the 95 % interval of xebench --precision 0.002 {pooled}"]
    rows.loc[(rows["tool"] == XEBENCH) & (rows["excess"] == 0), "outcome"] = "faster"
    assert not tallies.goals(rows)[0].reached


def test_the_goal_of_coverage_says_what_it_is_of_and_names_the_worst_ratio() -> None:
    rows = perfect()
    fine = rows["tool"] == list(PRECISIONS)[1]
    rows.loc[fine & (rows["condition"] == "quiet") & (rows["excess"] == 0.2), ["low", "high"]] = 1.0, 1.1
    found = {goal.text.split(" covers")[0]: goal.result for goal in tallies.goals(rows) if "covers" in goal.text}
    every = "100 % (84 to 100) of 20; fewest of the A/A pairs: 100 % (51 to 100)"
    assert found == {
        "quiet: the 95 % interval of xebench": every,
        "quiet: the 95 % interval of xebench --precision 0.002": (
            "80 % (58 to 92) of 20; fewest of the 20% pairs: 0 % (0 to 49)"
        ),
        "load: the 95 % interval of xebench": every,
        "load: the 95 % interval of xebench --precision 0.002": every,
    }


def test_coverage_of_no_interval_is_no_goal_reached() -> None:
    rows = perfect()
    rows[["low", "high"]] = math.nan
    assert not any(goal.reached for goal in tallies.goals(rows) if "covers" in goal.text)
