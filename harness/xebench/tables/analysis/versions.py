"""Two versions in one run: each variant of the new version against itself in the old one.

Both were sampled side by side, in the same blocks of the same process, so what drifts or disturbs hits both. Many pairs
are looked at, and one that is slower by luck alone would fail a gate: so their intervals hold together, all in 95 % of
runs (`xebench.tables.analysis.moderation.simultaneous`), and one must leave the band of the threshold to say anything.
Instances that load has disturbed count less (`xebench.tables.analysis.weighting`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from xebench.tables.analysis import intervals, summaries
from xebench.tables.analysis.compare import ComparedTables, check, judge_ratio, obstacle_between
from xebench.tables.analysis.moderation import WIDEST, simultaneous, simultaneous_confidence
from xebench.tables.analysis.pairs import MeasuredPair, measured_pairs
from xebench.tables.analysis.points import Row, by_place, place, rows
from xebench.tables.analysis.weighting import weighted_interval
from xebench.vocabulary import NEW_VERSION, OLD_VERSION, Outcome

#: Of the variant's case, what a row of `comparisons` repeats.
_KEPT: Final = ("pattern", "preset", "parameters", "device_class", "role", "metric")


def compare_versions(run: ComparedTables, threshold: float) -> list[Row]:
    """The rows of the table `comparisons`, before being the old version: one for each variant of either, and state.

    Args:
        run: Of `xebench ab`.
        threshold: Relative change that matters, such as 0.05.

    Raises:
        ValueError: The threshold is negative.
    """
    check(threshold)
    sides = _Sides(run)
    between = [pair for pair in measured_pairs(run.cases, run.samples, run.devices) if _are_versions(pair)]
    # the same program cannot be slower, so nothing is asked of it
    count = sum(pair.speedup.groups > 1 and pair.speedup.known and not pair.same_program for pair in between)
    found = []
    for pair in between:
        ratio, outcome, reason = _concluded(pair, threshold, count)
        ends = {"speedup": ratio.estimate, "speedup_low": ratio.low, "speedup_high": ratio.high}
        found.append(sides.row(pair.baseline, pair.case, pair.state) | ends | {"outcome": outcome, "reason": reason})
    paired = {side["case_id"] for pair in between for side in (pair.baseline, pair.case)}
    return found + [row for case in rows(run.cases) if case["case_id"] not in paired for row in sides.of_one(case)]


def _are_versions(pair: MeasuredPair) -> bool:
    before, after = pair.baseline["variant"], pair.case["variant"]
    return bool(before.startswith(OLD_VERSION) and after == NEW_VERSION + before.removeprefix(OLD_VERSION))


def _concluded(pair: MeasuredPair, threshold: float, count: int) -> tuple[intervals.Interval, str, str]:
    before, after = ((side["status"], side["reason"]) for side in (pair.baseline, pair.case))
    obstacle = obstacle_between(pair.baseline, pair.case)
    if obstacle and before == after:
        obstacle = str(before[1])
    if not obstacle and not pair.speedup.n:
        obstacle = "the two versions share no block with a valid sample"
    if obstacle:
        return intervals.UNKNOWN, Outcome.NONE, obstacle
    ratio = _together(pair, count)
    if ratio.known:
        ratio = intervals.blurred(ratio, pair.quantum)
    if pair.same_program:
        words = f"the same program: machine code, sizes and arguments are equal (measured {ratio.estimate:.3f})"
        return ratio, Outcome.SAME, words
    if not ratio.known:
        taken = f"{ratio.n} blocks of {ratio.groups} instance{'' if ratio.groups == 1 else 's'}"
        why = f"too few samples: {taken} do not show what another instance would; raise --budget or --instances"
        return ratio, Outcome.INCONCLUSIVE, why
    together = f"all {count} pairs together" if count > 1 else "the only pair"
    span = f"{ratio.low:.3f} to {ratio.high:.3f} at 95 % for {together}"
    words = f"{ratio.estimate:.3f}, {span}, {ratio.n} blocks of {ratio.groups} instances"
    return ratio, *judge_ratio(ratio, threshold, words)


def _together(pair: MeasuredPair, count: int) -> intervals.Interval:
    """The interval of one of so many ratios: weighted where there are instances enough."""
    logs = weighted_interval(pair.ratios, simultaneous_confidence(count))
    if not logs.known or logs.half_width > WIDEST:
        return simultaneous(pair.speedup, pair.prior, count)
    estimate, low, high = (math.exp(value) for value in (logs.estimate, logs.low, logs.high))
    return replace(logs, estimate=estimate, low=low, high=high)


class _Sides:
    """The samples of a run, as many and as long as they are in each version."""

    def __init__(self, run: ComparedTables) -> None:
        usable = summaries.usable(run.cases, run.samples).groupby(["case_id", "state"])["time_ns"]
        self._counts: Mapping[Any, int] = usable.size().to_dict()
        self._medians: Mapping[Any, float] = usable.median().to_dict()
        self._devices = by_place(run.devices)

    def row(self, before: Row | None, after: Row | None, state: str | None) -> Row:
        """A row without a conclusion; the columns of a missing side are empty."""
        case = after or before
        assert case is not None  # one side is there
        device = self._devices.get(place(case), {})
        named = ", ".join(filter(None, (device.get("name"), device.get("driver_version")))) or None
        made: Row = {**{name: case[name] for name in _KEPT}, "variant": case["variant"].partition(":")[2]}
        made |= {"state": state, "before_device": named, "after_device": named}
        for when, side in (("before", before), ("after", after)):
            key = (side["case_id"] if side else "", state)
            made |= {f"{when}_n": self._counts.get(key, 0), f"{when}_ns": self._medians.get(key)}
        return made

    def of_one(self, case: Row) -> list[Row]:
        """The rows of a variant that one version lacks."""
        is_old = case["variant"].startswith(OLD_VERSION)
        before, after = (case, None) if is_old else (None, case)
        ended = "" if case["status"] == "ok" else f" ({case['status']}: {case['reason']})"
        unknown = dict.fromkeys(("speedup", "speedup_low", "speedup_high"), math.nan)
        why = f"only in the {'old' if is_old else 'new'} version{ended}"
        states = summaries.in_order(state for case_id, state in self._counts if case_id == case["case_id"])
        return [self.row(before, after, state) | unknown | {"outcome": Outcome.NONE, "reason": why} for state in states]
