"""Shares of pairs with their intervals: false alarms, detections, coverage; and the best threshold in hindsight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from tools.studies.noise.known_pairs import CONDITIONS, EXCESSES
from tools.studies.noise.rules import CONFIDENCE, KNOBS, NEITHER, PRECISIONS, PYPERF, RULES, TOOLS, Calls, Rule
from tools.studies.noise.rules import t_interval as interval_of_t_test

#: Most false alarms that are put up with.
MOST_ALARMS: Final = 0.05

#: Thresholds that are tried in hindsight, in percent.
THRESHOLDS: Final = np.concatenate([np.arange(0, 10, 0.05), np.arange(10, 100.1, 0.5)])


@dataclass(frozen=True)
class Share:
    """A part of a number of pairs.

    Attributes:
        hits: How many.
        n: Of how many.
    """

    hits: int
    n: int

    @classmethod
    def of(cls, hits: ArrayLike) -> Share:
        """Of an array of truth values."""
        array = np.asarray(hits, bool)
        return cls(int(array.sum()), array.size)

    @property
    def value(self) -> float:
        """The share; NaN of nothing."""
        return self.hits / self.n if self.n else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval (Wilson 1927, "Probable Inference"); 0 to 1 of nothing."""
        if not self.n:
            return 0.0, 1.0
        z2 = float(special.ndtri((1 + CONFIDENCE) / 2)) ** 2
        middle = (self.hits + z2 / 2) / (self.n + z2)
        half = (z2 * (self.hits * (self.n - self.hits) / self.n + z2 / 4)) ** 0.5 / (self.n + z2)
        return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class Score:
    """What a way to decide did in one condition.

    Attributes:
        alarms: A/A pairs called faster or slower.
        detected: By excess, pairs called in the right direction.
        wrong: Pairs with a difference that were called in the wrong direction, of all of them.
    """

    alarms: Share
    detected: dict[float, Share]
    wrong: Share


@dataclass(frozen=True)
class Hindsight:
    """The smallest threshold with which a tool would have kept to `MOST_ALARMS`, known only afterwards.

    Attributes:
        knob: What the threshold is of.
        percent: The threshold; None when none keeps to it.
        score: With that threshold.
    """

    knob: Rule
    percent: float | None
    score: Score | None


def score(rows: pd.DataFrame, calls: Calls) -> Score:
    """Tally calls on rows of one tool and condition."""
    excess, answer = rows["excess"].to_numpy(float), rows["answer"].to_numpy(str)
    called = calls != NEITHER
    right = called & (calls == answer)
    detected = {value: Share.of(right[excess == value]) for value in EXCESSES if value}
    return Score(Share.of(called[excess == 0]), detected, Share.of((called & ~right)[excess > 0]))


def scores(rows: pd.DataFrame, condition: str) -> dict[Rule, Score]:
    """Every rule's score in a condition."""
    parts = {tool: part(rows, tool, condition) for tool in TOOLS}
    return {rule: score(parts[rule.tool], rule.calls(parts[rule.tool])) for rule in RULES}


def curve(rows: pd.DataFrame, knob: Rule, condition: str) -> list[tuple[float, Score]]:
    """Threshold in percent and score, for every threshold that is tried."""
    own = part(rows, knob.tool, condition)
    return [(float(percent), score(own, knob.calls(own, float(percent)))) for percent in THRESHOLDS]


def hindsight(rows: pd.DataFrame, condition: str) -> list[Hindsight]:
    """The best that the user of each tool could have chosen."""
    return [best_of_curve(knob, curve(rows, knob, condition)) for knob in KNOBS]


def best_of_curve(knob: Rule, points: list[tuple[float, Score]]) -> Hindsight:
    """The smallest threshold with few enough false alarms."""
    for percent, reached in points:
        if reached.alarms.value <= MOST_ALARMS:
            return Hindsight(knob, percent, reached)
    return Hindsight(knob, None, None)


def coverage(rows: pd.DataFrame, tool: str, condition: str) -> dict[float | None, Share]:
    """Intervals that hold the true ratio, by excess and (None) altogether; none for a tool without an interval.

    xebench states its interval. pyperf's is the one that goes with its test.
    """
    own = part(rows, tool, condition)
    if tool in PRECISIONS:
        own = own[own["low"].notna()]
        low, high = own["low"].to_numpy(), own["high"].to_numpy()
    elif tool == PYPERF:
        low, high = interval_of_t_test(own)
    else:
        return {}
    truth, excess = own["truth"].to_numpy(), own["excess"].to_numpy()
    holds = (low <= truth) & (truth <= high)
    by_excess: dict[float | None, Share] = {value: Share.of(holds[excess == value]) for value in EXCESSES}
    return by_excess | {None: Share.of(holds)}


def seconds(rows: pd.DataFrame) -> dict[tuple[str, str], float]:
    """Mean seconds that a tool took for a pair, by condition and tool."""
    return {
        (condition, tool): float(part(rows, tool, condition)["seconds"].mean())
        for condition in CONDITIONS
        for tool in TOOLS
    }


def part(rows: pd.DataFrame, tool: str, condition: str) -> pd.DataFrame:
    """The rows of one tool in one condition."""
    return rows[(rows["tool"] == tool) & (rows["condition"] == condition)]
