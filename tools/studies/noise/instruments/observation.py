"""What a tool found about a pair: enough to decide as the tool does."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

Program = Callable[[], None]


@dataclass(frozen=True)
class ProgramTimes:
    """One program's times in a tool's own statistics.

    Attributes:
        n: How many values the statistics are of.
        min_ns: Smallest value.
        mean_ns: Mean.
        median_ns: Median.
        stdev_ns: Standard deviation of the sample.
    """

    n: int
    min_ns: float
    mean_ns: float
    median_ns: float
    stdev_ns: float

    @classmethod
    def of(cls, values_ns: Sequence[float]) -> ProgramTimes:
        """The statistics of values; at least two."""
        return cls(
            len(values_ns),
            float(min(values_ns)),
            statistics.fmean(values_ns),
            float(statistics.median(values_ns)),
            statistics.stdev(values_ns),
        )


@dataclass(frozen=True)
class Observation:
    """What a tool says of a pair.

    Attributes:
        first: The first program's times.
        second: The second program's.
        speedup: The first's time over the second's, where the tool states one.
        low: Lower end of the interval that the tool states.
        high: Upper end.
        outcome: What the tool concludes: faster, slower, same or inconclusive; "" where that is left to its user.
        reason: Why.
        stopped_by: What ended the measurement, where that varies.
    """

    first: ProgramTimes
    second: ProgramTimes
    speedup: float = math.nan
    low: float = math.nan
    high: float = math.nan
    outcome: str = ""
    reason: str = ""
    stopped_by: str = ""

    def row(self) -> dict[str, Any]:
        """Columns of the study's table."""
        sides = {"first": self.first, "second": self.second}
        columns = {f"{side}_{name}": value for side, times in sides.items() for name, value in asdict(times).items()}
        return columns | {name: value for name, value in vars(self).items() if name not in sides}
