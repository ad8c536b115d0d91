"""Preliminary results of a family's instances: for the plan of visits and for progress, never for a table.

The answers are those of the one judge (`xebench.tables.analysis.judge`). For the table `pairs` it knows more: the
timer's quantum, drift, and the host's times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from xebench.runner.family_progress import FamilyProgress
from xebench.runner.visits import PairState
from xebench.tables.analysis.answer import Circumstances, judge
from xebench.tables.analysis.claim import Claim
from xebench.tables.analysis.intervals import Interval, grouped_interval
from xebench.tables.analysis.judge import Comparison, family_comparisons
from xebench.tables.analysis.judgement import Judgement, in_brief
from xebench.tables.analysis.moderation import NOTHING, Prior, moderate
from xebench.tables.analysis.steady import settled
from xebench.vocabulary import Answer, Outcome, Reason, StopReason, find_baseline

#: How many times as wide an interval must be that still answers, before a family makes room for others on that
#: ground. Who looks again and again until there is an answer finds one by luck: with ten looks, intervals wider by 1.3
#: (confidence 0.9894) are wrong together as often as one of 95 % is alone (Pocock 1977, "Group sequential methods in
#: the design and analysis of clinical trials", table 1).
MARGIN: Final = 1.3


@dataclass(frozen=True)
class PairSoFar:
    """A variant and what it is compared with.

    Attributes:
        variant: its name.
        judgement: the answer as it would be now.
        words: the speed-up in a few characters, or what became of the variant.
        state: for the plan; None when there is no speed-up, and none to come.
    """

    variant: str
    judgement: Judgement
    words: str
    state: PairState | None = None


#: What the pairs of a run say together, by state of the caches.
PriorOf = Callable[[str], Prior]


def pairs_so_far(
    progress: FamilyProgress, device: Mapping[str, Any], prior_of: PriorOf = lambda state: NOTHING
) -> list[PairSoFar]:
    """All pairs of a family, in each state of the caches.

    Args:
        progress: what is known of the family.
        device: its row of the table `devices`.
        prior_of: what the run's other pairs of this metric say; it counts where it has ended the sampling.
    """
    members = progress.rows()
    baseline = find_baseline(members, role=lambda case: str(case["role"]))
    return [
        pair
        for one in family_comparisons(members)
        for pair in _pair(progress, one, device, prior_of, is_first=one.baseline is baseline)
    ]


def _pair(
    progress: FamilyProgress, one: Comparison, device: Mapping[str, Any], prior_of: PriorOf, *, is_first: bool
) -> Iterator[PairSoFar]:
    name, against = str(one.case["variant"]), str(one.baseline["variant"])
    if judged := one.ended():
        yield PairSoFar(name, judged, in_brief(judged, one.claim.word if one.claim else None, against))
        return
    states, sampling = progress.sampling.states, progress.sampling
    for state in states:
        logs = _logs(progress, state, name if is_first else f"{name}/{against}")
        if one.case["stopped_by"] == StopReason.PRECISION:  # as the sampling saw it
            logs = moderate(logs, prior_of(state))
        judged = one.judge(ratio_of(logs), device, Circumstances(one.case["stopped_by"]))
        shown = f"{math.exp(logs.estimate):.3g}x" if logs.n else Reason.NO_SAMPLE
        over = "" if is_first else f"over {against}"
        words = " ".join(filter(None, (shown, over, state if len(states) > 1 else "")))
        yield PairSoFar(name, judged, words, pair_state(logs, one.claim, one.band, sampling.few_instances))


def _logs(progress: FamilyProgress, state: str, key: str) -> Interval:
    """The interval of a log speed-up so far."""
    series = (one.get(key, ()) for one in progress.speedups.get(state, ()))
    return grouped_interval([settled(ratios) for ratios in series if len(ratios)])


def ratio_of(logs: Interval) -> Interval:
    """The interval of a speed-up from that of its logarithm."""
    estimate, low, high = (math.exp(value) for value in (logs.estimate, logs.low, logs.high))
    return replace(logs, estimate=estimate, low=low, high=high)


def pair_state(logs: Interval, claim: Claim | None, band: float, fewest: int) -> PairState:
    """The state of a pair, for the plan of visits.

    Args:
        logs: the interval of its log speed-up.
        claim: None when nothing is claimed.
        band: relative difference below which two times are the same in practice.
        fewest: instances that an answer needs: the interval of one alone does not hold what differs between them.
    """
    groups = logs.groups if logs.n else 0
    if claim is None or claim.not_asked:
        return PairState(logs.half_width, groups)
    wider = replace(logs, low=logs.estimate - MARGIN * logs.half_width, high=logs.estimate + MARGIN * logs.half_width)
    ratio = ratio_of(wider) if logs.known else logs
    undecided = judge(ratio, claim, Circumstances(), band).answer == Answer.UNDECIDED
    open_still = undecided or groups < fewest
    return PairState(logs.half_width, groups, _wanted(logs, claim, band) if open_still else None)


def _wanted(logs: Interval, claim: Claim, band: float) -> float:
    """The half-width that would answer a claim, if the estimate stays: see `xebench.tables.analysis.answer.judge`."""
    distance, edge = abs(logs.estimate), math.log1p(claim.within or band)
    if not logs.known:
        return edge / MARGIN
    own_width = claim.word == Outcome.SAME and claim.within
    return (abs(distance - edge) if own_width else max(distance, edge - distance)) / MARGIN
