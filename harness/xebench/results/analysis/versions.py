"""Two versions in one run: each variant of the new version against itself in the old one.

Both were sampled side by side, in the same blocks of the same process, so what drifts or disturbs hits both. Many pairs
are looked at, and one that is slower by luck alone would fail a gate: so their intervals hold together, all in 95 % of
runs (`xebench.results.analysis.moderation.simultaneous`), and one must leave the band of the threshold to say anything.
Instances that load has disturbed count less (`weighted_interval`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from xebench.records.points import Row, by_device, device_key, rows
from xebench.results.analysis import intervals, summaries
from xebench.results.analysis.compare import (
    ComparedTables,
    Thresholds,
    obstacle_between,
    outcome_beyond,
    require_threshold,
    threshold_of,
)
from xebench.results.analysis.intervals import (
    CONFIDENCE,
    Interval,
    counted_groups,
    grouped_interval,
    median_interval,
    student_factor,
)
from xebench.results.analysis.moderation import ENOUGH_INSTANCES, WIDEST, simultaneous, simultaneous_confidence
from xebench.results.analysis.pairs import MeasuredPair, measured_pairs
from xebench.results.analysis.statistics import Floats
from xebench.vocabulary import NEW_VERSION, OLD_VERSION, Outcome

#: Columns that a row of `comparisons` copies from the variant's case.
_KEPT: Final = ("pattern", "preset", "parameters", "device_class", "role", "metric")


def compare_versions(run: ComparedTables, threshold: Thresholds) -> list[Row]:
    """The rows of table `comparisons`: one for each variant and state, with the old version as "before".

    Args:
        run: Tables of a run of `xebench ab`.
        threshold: Relative change that matters, such as 0.05.

    Raises:
        ValueError: The threshold is negative.
    """
    require_threshold(threshold)
    sides = _Sides(run)
    between = [pair for pair in measured_pairs(run.cases, run.samples, run.devices) if _are_versions(pair)]
    # the same program cannot be slower, so it is not judged
    count = sum(pair.speedup.groups > 1 and pair.speedup.known and not pair.same_program for pair in between)
    found = []
    for pair in between:
        ratio, outcome, reason = _concluded(pair, threshold_of(pair.case["pattern"], threshold), count)
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
    return ratio, *outcome_beyond(ratio, threshold, words)


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
        self._devices = by_device(run.devices)

    def row(self, before: Row | None, after: Row | None, state: str | None) -> Row:
        """A row without a conclusion; the columns of a missing side are empty."""
        case = after or before
        assert case is not None  # one side is there
        device = self._devices.get(device_key(case), {})
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


#: An instance is calm if its error is at most this many times the typical one.
CALM: Final = 2.0


def weighted_interval(groups: Sequence[ArrayLike], confidence: float = CONFIDENCE) -> Interval:
    """The mean over instances in which a disturbed one counts less, and its interval (random effects).

    Under load a burst may cover most of an instance's blocks. The median of such an instance lies anywhere, and one
    that is 50 % off makes Student's interval over ten instances 50 % wide, however well the other nine agree. But
    its blocks scatter, and so it shows itself how unsure it is. Each instance has the weight 1 / (its error
    squared + what instances really differ by squared). The latter is what the calm ones show, whose errors are of
    the typical size (the moment estimate of Hedges and Olkin 1985, "Statistical methods for meta-analysis"). Where
    instances differ by more than their errors, all weights are alike, and the interval is Student's.

    Errors of few blocks are uncertain, so no instance counts more than the typical one: an error below the median
    of all is taken for the median. The variance of the mean is that which the weighted instances show (Hartung and
    Knapp 2001, "On tests of the overall treatment effect in meta-analysis with normally distributed responses"),
    with as many degrees of freedom as so many equal instances would have (Kish 1965, "Survey sampling"), less one.

    Of 1000 synthetic pairs of ten instances, the part whose interval of 95 % misses the ratio, and the half-width
    that nine in ten stay below, against those of Student's interval over the plain medians:

        normal noise                                 4.9 %  0.0023    Student  6.0 %  0.0023
        instances that differ by 2 %                 4.5 %  0.0184             4.5 %  0.0183
        two modes, 10 % apart                        6.5 %  0.0379             6.6 %  0.0379
        a quarter of the instances disturbed         3.8 %  0.0026             1.7 %  0.0386
        the same, in one long burst each             4.8 %  0.0021             3.3 %  0.0189
        the same, and instances that differ by 1 %   3.3 %  0.0140             3.6 %  0.0398
        a fifth disturbed on one side alone          1.7 %  0.0037             5.8 %  0.1626

    Args:
        groups: samples of each instance, in the order of measurement.
        confidence: confidence level of the interval.

    Returns:
        The interval; without ends if fewer than `ENOUGH_INSTANCES` groups have enough samples for one of their own.
    """
    counted = counted_groups(groups)
    known = [(group, own) for group in counted if (own := median_interval(group)).known]
    if len(known) < ENOUGH_INSTANCES:
        plain = grouped_interval(counted)
        return Interval(plain.estimate, math.nan, math.nan, plain.n, plain.groups)
    medians = np.array([own.estimate for _, own in known])
    errors = np.array([own.half_width for _, own in known]) / student_factor(math.inf)
    weights = _weights(medians, errors)
    mean = float(weights @ medians)
    freedom = 1 / float(weights @ weights) - 1
    half = student_factor(freedom, confidence) * math.sqrt(float(weights @ (medians - mean) ** 2) / freedom)
    return Interval(mean, mean - half, mean + half, sum(group.size for group, _ in known), len(known))


def _weights(medians: Floats, errors: Floats) -> Floats:
    """The weight of each group, all together 1."""
    typical = float(np.median(errors))
    calm = medians[errors <= CALM * typical]
    # the spread of calm instances includes their own errors
    variances = max(float(calm.var(ddof=1)), typical**2) + np.maximum(errors**2 - typical**2, 0)
    if not variances.any():
        return np.full(medians.size, 1 / medians.size)
    weights: Floats = 1 / variances / (1 / variances).sum()
    return weights
