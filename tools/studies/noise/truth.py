"""The true ratio of a pair: wall time is a straight line over the trip count, and the line is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from tools.studies.noise.known_pairs import KnownPair
from xebench.tables.analysis.intervals import Interval
from xebench.vocabulary import Outcome

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
        """How much longer a program takes whose trip count is longer by ``excess``, as a ratio."""
        longer = round(self.trips * (1 + excess)) / self.trips
        return self.fixed_share + (1 - self.fixed_share) * longer

    def true_speedup(self, pair: KnownPair) -> float:
        """Time of the pair's first program over that of the second."""
        ratio = self.ratio(pair.excess)
        return ratio if pair.answer == Outcome.FASTER else 1 / ratio


@dataclass(frozen=True)
class Calibration:
    """What was found before the study.

    Attributes:
        line: Of both kernels.
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
        """Whether the true ratios are known well enough to judge intervals by them."""
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
