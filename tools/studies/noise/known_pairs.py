"""The pairs of the study: what is compared with what, and what the right answer is."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from xebench.results.analysis.intervals import Interval
from xebench.vocabulary import Outcome

Condition = Literal["quiet", "load"]

CONDITIONS: Final[tuple[Condition, ...]] = ("quiet", "load")

#: By how much the longer side's trip count is longer; 0 is an A/A pair.
EXCESSES: Final = (0.0, 0.01, 0.02, 0.05, 0.2)

#: Pairs of each excess in a repetition. False alarms are rare, so they need the most pairs.
PAIRS_OF: Final = {0.0: 3, 0.01: 1, 0.02: 1, 0.05: 1, 0.2: 1}


#: Further pairs, which xebench alone measures with its defaults: a share of 5 % that is sure to be below 7 % takes more
#: than 600 equal pairs, and the other tools are worse by far more than that.
ALONE_OF: Final = {0.0: 30, 0.02: 6}


@dataclass(frozen=True)
class Plan:
    """How much to measure.

    Attributes:
        repetitions: Rounds over all pairs, at most.
        seconds_per_pair: What each tool may take to decide on a pair.
        limit_s: Seconds after which no further repetition begins that would not end in time.
        seed: Seed of everything random.
        conditions: What is measured.
        first: Number of the first repetition; those before it are measured already.
    """

    repetitions: int
    seconds_per_pair: float
    limit_s: float
    seed: int
    conditions: Sequence[Condition] = CONDITIONS
    first: int = 0


@dataclass(frozen=True)
class KnownPair:
    """Two programs that every tool compares.

    Attributes:
        repetition: Round of the study.
        condition: quiet, or under the study's own load.
        excess: Excess of the longer side's trip count.
        answer: What the second program is against the first: faster, slower, or same for an A/A pair.
        swapped: Whether the first program is the second of the two kernels.
        seed: Seed of the tools' order and of xebench's blocks.
        alone: Whether xebench alone measures it, with its defaults.
    """

    repetition: int
    condition: Condition
    excess: float
    answer: str
    swapped: bool
    seed: int
    alone: bool = False


def pair_of(row: Mapping[str, Any]) -> KnownPair:
    """The pair that a row of the study's table is of."""
    return KnownPair(**{field.name: row[field.name] for field in fields(KnownPair)})


def repetition_pairs(repetition: int, seed: int) -> Iterator[KnownPair]:
    """The pairs of one repetition in random order, each condition a block of its own; its order is random too.

    Args:
        repetition: Number of the repetition.
        seed: Seed of the whole study.
    """
    source = random.Random(f"{seed}/{repetition}")
    for condition in source.sample(CONDITIONS, len(CONDITIONS)):
        kinds = [
            (excess, alone)
            for alone, counts in ((False, PAIRS_OF), (True, ALONE_OF))
            for excess, count in counts.items()
            for _ in range(count)
        ]
        source.shuffle(kinds)
        for excess, alone in kinds:
            answer = source.choice((Outcome.FASTER, Outcome.SLOWER)) if excess else Outcome.SAME
            yield KnownPair(repetition, condition, excess, answer, source.random() < 0.5, source.getrandbits(32), alone)


#: Most distance from a straight line with which the true ratios count as known.
MOST_RESIDUAL: Final = 0.01


@dataclass(frozen=True)
class LengthLine:
    """Wall time as a straight line over the trip count, relative to the time of the shorter side.

    Attributes:
        trips: Trip count of the shorter side.
        fixed_share: Part of the shorter side's time that does not depend on the trip count: launching and waiting.
        residual: Largest distance of a measured length from the line, relative to the line.
    """

    trips: int
    fixed_share: float
    residual: float

    def ratio(self, excess: float) -> float:
        """The time of a program with a trip count longer by ``excess``, relative to that of the original program."""
        longer = round(self.trips * (1 + excess)) / self.trips
        return self.fixed_share + (1 - self.fixed_share) * longer

    def true_speedup(self, pair: KnownPair) -> float:
        """Time of the pair's first program over that of the second."""
        ratio = self.ratio(pair.excess)
        return ratio if pair.answer == Outcome.FASTER else 1 / ratio


@dataclass(frozen=True)
class Calibration:
    """The measurements before the study.

    Attributes:
        line: Line of both kernels.
        length_ns: Median wall time of the shorter side.
        kernels: Time of one kernel over the other's, at the same trip count: not told from 1, or A/A pairs are none.
        lengths: Trip counts that were measured, relative to the shorter side's.
        times: The wall time of each, relative to the shorter side's: medians over rounds.
    """

    line: LengthLine
    length_ns: float
    kernels: Interval
    lengths: Sequence[float]
    times: Sequence[float]

    @property
    def usable(self) -> bool:
        """True if the true ratios are known well enough to judge intervals by them."""
        return self.line.residual <= MOST_RESIDUAL and self.kernels.low <= 1 <= self.kernels.high


def fit_line(lengths: ArrayLike, times: ArrayLike, trips: int) -> LengthLine:
    """Least squares of the relative error.

    Args:
        lengths: Trip counts, relative to that of the shorter side.
        times: The time of each, in any unit.
        trips: Trip count of the shorter side.
    """
    x, y = np.asarray(lengths, float), np.asarray(times, float)
    slope, fixed = np.polyfit(x, y, 1, w=1 / y)
    line = fixed + slope * x
    return LengthLine(trips, float(fixed / (fixed + slope)), float(np.abs(y / line - 1).max()))
