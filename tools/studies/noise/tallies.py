"""The statements of a tool, or its user, on each pair, and their quality: false alarms, detections, coverage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from tools.studies.noise.known_pairs import CONDITIONS, EXCESSES
from xebench.measuring.sampling import Sampling
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
        name: Name as its user would write it.
        calls: Decides on rows of that tool.
    """

    tool: str
    name: str
    calls: Callable[..., Calls]

    @property
    def label(self) -> str:
        """Tool and name."""
        return f"{self.tool}, {self.name}"


def stated(rows: pd.DataFrame) -> Calls:
    """The tool's own statement."""
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

#: What the study is about, with the default precision and with a fine one.
OURS: Final = RULES[0]
OURS_FINE: Final = RULES[1]

#: The precision of each arm of xebench.
PRECISIONS: Final = {XEBENCH: Sampling.precision, XEBENCH_FINE: 0.002}


def _moments(rows: pd.DataFrame, side: str) -> tuple[Any, Any, Any]:
    return rows[f"{side}_mean_ns"].to_numpy(), rows[f"{side}_stdev_ns"].to_numpy(), rows[f"{side}_n"].to_numpy()


def _signs(faster: NDArray[np.bool_], slower: NDArray[np.bool_]) -> Calls:
    return np.where(faster, Outcome.FASTER, np.where(slower, Outcome.SLOWER, NEITHER))


#: Most false alarms that are put up with.
MOST_ALARMS: Final = 0.05


@dataclass(frozen=True)
class Share:
    """A part of a number of pairs.

    Attributes:
        hits: How many.
        n: Number of pairs.
    """

    hits: int
    n: int

    @classmethod
    def of(cls, hits: ArrayLike) -> Share:
        """The tally of an array of truth values."""
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
    """The results of a way to decide in one condition.

    Attributes:
        alarms: A/A pairs called faster or slower.
        detected: Pairs called in the right direction, by excess.
        wrong: Pairs with a difference that were called in the wrong direction, of all of them.
    """

    alarms: Share
    detected: dict[float, Share]
    wrong: Share


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


def coverage(rows: pd.DataFrame, arm: str, condition: str) -> dict[float | None, Share]:
    """Intervals of an arm of xebench that hold the true ratio, by excess and (None) altogether.

    No other tool states an interval of a ratio.
    """
    own = part(rows, arm, condition)
    own = own[own["low"].notna()]
    truth, excess = own["truth"].to_numpy(), own["excess"].to_numpy()
    holds = (own["low"].to_numpy() <= truth) & (truth <= own["high"].to_numpy())
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
    """The name of pairs whose longer side is longer by this: ``A/A``, ``20%``."""
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
