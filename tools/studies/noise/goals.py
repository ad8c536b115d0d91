"""The goals that the study was made for, each reached or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import pandas as pd

from tools.studies.noise.known_pairs import CONDITIONS
from tools.studies.noise.rules import OURS, OURS_FINE, PRECISIONS, XEBENCH, XEBENCH_FINE, Rule
from tools.studies.noise.tallies import MOST_ALARMS, Score, Share, coverage, scores

#: The difference that xebench should find in each condition, and in what part of the pairs.
TARGETS: Final = {"quiet": 0.02, "load": 0.05}
LEAST_DETECTED: Final = {"quiet": 0.97, "load": 0.95}
COVERAGE: Final = (0.93, 0.98)

#: Where the interval of the share of false alarms must end, of the arm that has enough pairs for that.
SURELY_AT_MOST: Final = 0.07


@dataclass(frozen=True)
class Goal:
    """One goal.

    Attributes:
        text: What was wanted.
        reached: Whether the share is where it should be; its interval may still reach beyond.
        result: The share that was reached, in words.
    """

    text: str
    reached: bool
    result: str


def goals(rows: pd.DataFrame) -> list[Goal]:
    """Every goal, in both conditions where it applies.

    Coverage is of all pairs of a condition and arm: those of one ratio other than 1 are too few to tell 92 from 98 %.
    The ratio that is covered least is named beside it.
    """
    result: list[Goal] = []
    for condition in (each for each in CONDITIONS if (rows["condition"] == each).any()):
        reached = scores(rows, condition)
        own, fine, target = reached[OURS], reached[OURS_FINE], TARGETS[condition]
        result += [
            *(_few_alarms(condition, arm, score.alarms) for arm, score in ((XEBENCH, own), (XEBENCH_FINE, fine))),
            _better_than_peers(condition, reached),
            *(_coverage(condition, arm, coverage(rows, arm, condition)) for arm in PRECISIONS),
            _found(condition, target, own.detected[target]),
        ]
    return result


def name_of(excess: float) -> str:
    """What pairs are called whose longer side is longer by this: ``A/A``, ``20%``."""
    return f"{excess:.0%}" if excess else "A/A"


def percent(share: Share) -> str:
    """A share with its interval: ``94 % (88 to 97)``."""
    if not share.n:
        return "no pairs"
    low, high = share.interval
    return f"{100 * share.value:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def rivals(reached: Mapping[Rule, Score]) -> Iterator[Rule]:
    """Rules of peers that raise few enough false alarms, and find no less than xebench, whatever the ratio."""
    own = reached[OURS_FINE].detected
    for rule, score in reached.items():
        as_many = all(share.value >= own[excess].value for excess, share in score.detected.items())
        if rule.tool not in PRECISIONS and score.alarms.value <= MOST_ALARMS and as_many:
            yield rule


def _better_than_peers(condition: str, reached: Mapping[Rule, Score]) -> Goal:
    text = (
        f"{condition}: every peer has more false alarms than {MOST_ALARMS:.0%}, or finds fewer pairs of some ratio "
        f"than {XEBENCH_FINE}, which may take as long"
    )
    equal = [rule.label for rule in rivals(reached)]
    return Goal(
        text, not equal, f"as good or better: {'; '.join(equal)}" if equal else "so it is with every rule tried"
    )


def _few_alarms(condition: str, arm: str, alarms: Share) -> Goal:
    text = f"{condition}: false alarms of {arm} at most {MOST_ALARMS:.0%}"
    reached = alarms.value <= MOST_ALARMS
    if arm == XEBENCH:
        text += f", surely at most {SURELY_AT_MOST:.0%}"
        reached = reached and alarms.interval[1] <= SURELY_AT_MOST
    return Goal(text, reached, f"{percent(alarms)} of {alarms.n}")


def _found(condition: str, target: float, detected: Share) -> Goal:
    least = LEAST_DETECTED[condition]
    text = f"{condition}: {target:.0%} found in at least {least:.0%} of pairs"
    return Goal(text, detected.value >= least, f"{percent(detected)} of {detected.n}")


def _coverage(condition: str, arm: str, shares: Mapping[float | None, Share]) -> Goal:
    low, high = COVERAGE
    text = (
        f"{condition}: the 95 % interval of {arm} covers the true ratio in {low:.0%} to {high:.0%} of pairs, "
        "those of every ratio together"
    )
    pooled = shares[None]
    if not pooled.n:
        return Goal(text, False, percent(pooled))
    worst = min((excess for excess in shares if excess is not None and shares[excess].n), key=lambda e: shares[e].value)
    result = f"{percent(pooled)} of {pooled.n}; fewest of the {name_of(worst)} pairs: {percent(shares[worst])}"
    return Goal(text, low <= pooled.value <= high, result)
