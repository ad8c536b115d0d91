"""From what a tool observed to what it, or its user, says of a pair: faster, slower, or neither."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from xebench.measuring.sampling.limits import Sampling
from xebench.vocabulary import Outcome

XEBENCH: Final = "xebench"
#: The same tool, asked for a precision that takes about as long as the peers are given.
XEBENCH_FINE: Final = "xebench --precision 0.002"
PYTEST: Final = "pytest-benchmark"
PYPERF: Final = "pyperf"
BEST_OF: Final = "best of n"

TOOLS: Final = (XEBENCH, XEBENCH_FINE, PYTEST, PYPERF, BEST_OF)

NEITHER: Final = ""

#: For each row of the study's table: faster, slower or neither.
Calls = NDArray[np.str_]


@dataclass(frozen=True)
class Rule:
    """A way to decide.

    Attributes:
        tool: Whose observations it reads.
        name: As its user would write it.
        calls: Decides on rows of that tool; one of `KNOBS` with a threshold in percent, which it leaves to its user.
    """

    tool: str
    name: str
    calls: Callable[..., Calls]

    @property
    def label(self) -> str:
        """Tool and name."""
        return f"{self.tool}, {self.name}"


def stated(rows: pd.DataFrame) -> Calls:
    """What the tool itself says."""
    outcome = rows["outcome"].to_numpy(str)
    return np.where(np.isin(outcome, (Outcome.FASTER, Outcome.SLOWER)), outcome, NEITHER)


def differs_by(rows: pd.DataFrame, percent: float, statistic: str) -> Calls:
    """By a ratio beyond a threshold, as ``--benchmark-compare-fail=STATISTIC:PERCENT%``, in both directions.

    That option fails when the new value is more than so many percent above the old one; the second program is faster
    when the first one fails against it.
    """
    first, second = (rows[f"{side}_{statistic}_ns"].to_numpy(float) for side in ("first", "second"))
    return _signs(first / second * 100 - 100 > percent, second / first * 100 - 100 > percent)


def significant(rows: pd.DataFrame, percent: float = 0.0) -> Calls:
    """As ``pyperf compare_to --min-speed=PERCENT``: Student's t-test at 5 %, and means at least so far apart."""
    first, second = rows["first_mean_ns"].to_numpy(float), rows["second_mean_ns"].to_numpy(float)
    apart = (np.maximum(first / second, second / first) - 1) * 100 >= percent
    test = stats.ttest_ind_from_stats(*_moments(rows, "first"), *_moments(rows, "second"))
    told = (test.pvalue <= 1 - CONFIDENCE) & apart
    return _signs(told & (first > second), told & (first < second))


def t_interval(rows: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The interval of the ratio of means that goes with pyperf's t-test: the ratios that it would not reject.

    pyperf does not state it. The variance is pooled, as in the test (Fieller's interval, to first order).
    """
    n, m = rows["first_n"].to_numpy(float), rows["second_n"].to_numpy(float)
    first, second = rows["first_mean_ns"].to_numpy(float), rows["second_mean_ns"].to_numpy(float)
    squares = (n - 1) * rows["first_stdev_ns"].to_numpy() ** 2 + (m - 1) * rows["second_stdev_ns"].to_numpy() ** 2
    error = np.sqrt(squares / (n + m - 2) * (1 / n + 1 / m))
    half = stats.t.ppf((1 + CONFIDENCE) / 2, n + m - 2) * error
    return (first - half) / second, (first + half) / second


CONFIDENCE: Final = 0.95

RULES: Final = (
    Rule(XEBENCH, "outcome", stated),
    Rule(XEBENCH_FINE, "outcome", stated),
    *(
        Rule(PYTEST, f"{statistic}:{percent}%", partial(differs_by, percent=percent, statistic=statistic))
        for statistic in ("min", "median", "mean")
        for percent in (1, 5)
    ),
    Rule(PYPERF, "compare_to", significant),
    Rule(PYPERF, "compare_to --min-speed=1", partial(significant, percent=1.0)),
    Rule(PYPERF, "compare_to --min-speed=5", partial(significant, percent=5.0)),
    Rule(BEST_OF, "any difference", partial(differs_by, percent=0.0, statistic="min")),
    Rule(BEST_OF, "1 %", partial(differs_by, percent=1.0, statistic="min")),
    Rule(BEST_OF, "5 %", partial(differs_by, percent=5.0, statistic="min")),
)

#: What the study is about, with the default precision and with a fine one; the rest is what might have been chosen.
OURS: Final = RULES[0]
OURS_FINE: Final = RULES[1]

#: The precision of each arm of xebench.
PRECISIONS: Final = {XEBENCH: Sampling.precision, XEBENCH_FINE: 0.002}

#: Ways to decide that leave a threshold to their user; they are named by what is held against it.
KNOBS: Final = (
    *(Rule(PYTEST, statistic, partial(differs_by, statistic=statistic)) for statistic in ("min", "median", "mean")),
    Rule(PYPERF, "compare_to --min-speed", significant),
    Rule(BEST_OF, "min", partial(differs_by, statistic="min")),
)


def _moments(rows: pd.DataFrame, side: str) -> tuple[Any, Any, Any]:
    return rows[f"{side}_mean_ns"].to_numpy(), rows[f"{side}_stdev_ns"].to_numpy(), rows[f"{side}_n"].to_numpy()


def _signs(faster: NDArray[np.bool_], slower: NDArray[np.bool_]) -> Calls:
    return np.where(faster, Outcome.FASTER, np.where(slower, Outcome.SLOWER, NEITHER))
