"""Two runs side by side: the same case in both, before against after.

The two runs share no blocks, so their intervals hold only what each run saw: noise, and how much its instances differ
(where arrays and code lie in memory), if it had several. What else differs from one run to the next (clocks, neighbours
on the machine) is not in them, hence the threshold: a change must leave the band around 1, not only 1 itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Final, NamedTuple, Protocol

import numpy as np
import pandas as pd

from xebench.records import points
from xebench.records.points import Row, by_device, device_key, rows
from xebench.results.analysis import answer, intervals, summaries
from xebench.results.analysis.compilers import compilers_of
from xebench.results.analysis.summaries import NONE, Series
from xebench.vocabulary import ANSWERED, Answer, Outcome, Status

#: Default relative change up to which two runs are the same.
THRESHOLD: Final = 0.05

#: Columns that two cases of two runs must share, with the values of their axes, to be one problem. Sizes may differ.
#: The device class is part of it; the device's name is compared apart.
_PLACE: Final = ("pattern", "variant", "preset", "device_class")

#: Further columns that two pairs must share to ask the same question.
_QUESTION: Final = ("pattern", "variant", "baseline", "preset", "device_class", "parameters", "state", "claim")

#: Answers that can change between runs; the others mean that nothing is known.
DECIDED: Final = frozenset(ANSWERED) - {Answer.UNDECIDED}

#: One threshold for all, or those of patterns by name or glob: the first that fits counts, else `THRESHOLD`.
Thresholds = float | Mapping[str, float]

RowPlace = tuple[str, ...]

Match = tuple[Row | None, Row | None]


class ComparedTables(Protocol):
    """The tables of a run that a comparison reads, as in `xebench.results.Run`."""

    @property
    def devices(self) -> pd.DataFrame: ...
    @property
    def cases(self) -> pd.DataFrame: ...
    @property
    def samples(self) -> pd.DataFrame: ...
    @property
    def pairs(self) -> pd.DataFrame: ...


def compare(before: ComparedTables, after: ComparedTables, threshold: Thresholds = THRESHOLD) -> list[Row]:
    """The rows of the table `comparisons`: one for each case and state that either run has, in the order of ``after``.

    ``faster`` and ``slower`` mean that the whole interval is outside the band of the threshold, ``same`` that all of
    it is inside. A case of one run only, or that is not ok in both, has outcome none with the reason. Cases on
    different devices are compared, and the reason begins by saying so; a GPU is never compared with a CPU, nor one size
    with another.

    Args:
        before: The first run.
        after: The second run; a speed-up above 1 says that it is faster.
        threshold: Relative change that matters, such as 0.05.

    Raises:
        ValueError: The threshold is negative.
    """
    require_threshold(threshold)
    sides = _RunSide(before), _RunSide(after)
    return [row for match in _matches(*sides) for row in _rows(match, sides, threshold)]


def compare_pairs(before: ComparedTables, after: ComparedTables, threshold: Thresholds = THRESHOLD) -> list[Row]:
    """The rows of the table `pair_comparisons`: one for each pair and state that either run has.

    ``faster`` and ``slower`` say that the variant gained on its baseline, or lost. Both sides of a pair are of one run,
    so what differs between the runs and slows both sides alike is not in it.

    Args:
        before: The first run.
        after: The second run.
        threshold: Relative change that matters.

    Raises:
        ValueError: The threshold is negative.
    """
    require_threshold(threshold)
    sides = _RunSide(before), _RunSide(after)
    old, new = ({_question(pair): pair for pair in rows(run.pairs)} for run in (before, after))
    matches = [(old.get(key), new.get(key)) for key in {**new, **old}]
    return [_pair_row(match, sides, threshold) for match in matches]


def require_threshold(threshold: Thresholds) -> None:
    """Refuse what is no threshold.

    Raises:
        ValueError: The threshold is negative.
    """
    if min(threshold.values(), default=0) < 0 if isinstance(threshold, Mapping) else threshold < 0:
        raise ValueError("the threshold must not be negative")


def threshold_of(pattern: str, threshold: Thresholds) -> float:
    """The threshold of a pattern."""
    if not isinstance(threshold, Mapping):
        return threshold
    return next((value for name, value in threshold.items() if fnmatchcase(pattern, name)), THRESHOLD)


class _Device(NamedTuple):
    """The known facts of a device; empty without a case, or in a run that does not record its device."""

    name: str | None
    driver_version: str | None
    host: str | None
    hardware_id: str | None = None

    def __str__(self) -> str:
        on = f"on {self.host}" if self.host else None
        return ", ".join(filter(None, (self.name, self.driver_version, on)))

    def differs(self, other: _Device) -> bool:
        """True if it is surely another device; a run on one machine does not record which host it had."""
        return self[:2] != other[:2] or None is not self.host != other.host is not None

    def is_other_card(self, other: _Device) -> bool:
        """True if it is surely another one of the same model."""
        return None is not self.hardware_id != other.hardware_id is not None


class _RunSide:
    """A run as the comparison reads it: its cases by place and parameters, their times and their devices."""

    def __init__(self, run: ComparedTables) -> None:
        self.cases: dict[RowPlace, dict[str, Row]] = {}
        self._by_id: dict[str, Row] = {}
        for case in rows(run.cases):
            self.cases.setdefault(_place(case), {})[case["parameters"]] = case
            self._by_id[case["case_id"]] = case
        self._run = run
        self._devices = by_device(run.devices)

    def all_cases(self) -> list[Row]:
        """The cases of all places."""
        return [case for at_place in self.cases.values() for case in at_place.values()]

    def case_of(self, pair: Row) -> Row:
        """The case of a pair's variant."""
        return self._by_id[pair["case_id"]]

    def device(self, case: Row | None) -> _Device:
        """The device of a case or a pair."""
        row = self._devices.get(device_key(case), {}) if case else {}
        return _Device(*(row.get(name) for name in _Device._fields))

    @cached_property
    def _times(self) -> dict[str, dict[str, Series]]:
        by_case: dict[str, dict[str, Series]] = {}
        for (case_id, state), data in summaries.usable(self._run.cases, self._run.samples).groupby(
            ["case_id", "state"]
        ):
            by_case.setdefault(str(case_id), {})[str(state)] = Series.of(data)
        return by_case

    def times(self, case: Row | None) -> dict[str, Series]:
        """Times of a case that count, by state; states without any are left out."""
        return self._times.get(case["case_id"], {}) if case else {}


def _question(pair: Row) -> RowPlace:
    return tuple(str(pair[name]) for name in _QUESTION)


def _pair_row(match: Match, sides: tuple[_RunSide, _RunSide], threshold: Thresholds) -> Row:
    either = match[1] or match[0]
    assert either is not None
    then, now = match
    ratios = [_speedup(pair) for pair in match]
    change, reservations = intervals.UNKNOWN, ""
    if then is None or now is None:
        outcome: str = Outcome.NONE
        reason = f"only in the run {'after' if then is None else 'before'}"
    else:
        reservations = _all_reservations((sides[0].case_of(then), sides[1].case_of(now)), sides)
        without = [
            f"{pair['answer']} {when}: {pair['reason']}"
            for pair, when, ratio in zip((then, now), ("before", "after"), ratios, strict=True)
            if not ratio.known
        ]
        if without:
            outcome, reason = Outcome.NONE, without[0]
        else:
            change = intervals.quotient(ratios[1], ratios[0])
            outcome, reason = outcome_beyond(
                change, threshold_of(either["pattern"], threshold), answer.describe(change, "blocks")
            )
    return {
        **{name: either[name] for name in (*_QUESTION, "role", "metric")},
        "before_answer": then and then["answer"],
        "after_answer": now and now["answer"],
        "before_speedup": ratios[0].estimate,
        "after_speedup": ratios[1].estimate,
        "change": change.estimate,
        "change_low": change.low,
        "change_high": change.high,
        "outcome": outcome,
        "reason": reservations + reason,
    }


def _speedup(pair: Row | None) -> intervals.Interval:
    numbers = [pair[name] if pair else None for name in ("speedup", "speedup_low", "speedup_high")]
    estimate, low, high = (math.nan if number is None else number for number in numbers)
    blocks, instances = ((pair[name] or 0) if pair else 0 for name in ("blocks", "instances"))
    return intervals.Interval(estimate, low, high, blocks, instances)


def _place(case: Row) -> RowPlace:
    return *(case[name] for name in _PLACE), points.to_json(points.swept(case))


def _matches(before: _RunSide, after: _RunSide) -> list[Match]:
    """Each case that either run has, with the other's: in the order of ``after``, then those of ``before`` alone."""
    both = [(_same_case(case, before), case) for case in after.all_cases()]
    matched = [id(case) for case, _ in both]
    return [*both, *((case, None) for case in before.all_cases() if id(case) not in matched)]


def _same_case(case: Row, before: _RunSide) -> Row | None:
    """The case of the run before that is the same problem as one after."""
    return before.cases.get(_place(case), {}).get(case["parameters"])


def _rows(match: Match, sides: tuple[_RunSide, _RunSide], threshold: Thresholds) -> Iterator[Row]:
    before, after = match
    measured = sides[0].times(before), sides[1].times(after)
    devices = sides[0].device(before), sides[1].device(after)
    shown = [case for case in (after, before) if case is not None]
    reservations = ""
    if before is None or after is None:
        obstacle: str | None = _absence(match, sides)
    else:
        obstacle = obstacle_between(before, after)
        reservations = _all_reservations((before, after), sides)
    for state in summaries.in_order(*measured):
        old, new = (series.get(state, NONE) if state else NONE for series in measured)
        ratio, outcome, reason = _conclude(old, new, obstacle, threshold_of(shown[0]["pattern"], threshold))
        yield {
            **{name: shown[0][name] for name in (*_PLACE, "parameters", "role", "metric")},
            "state": state,
            "before_device": str(devices[0]) or None,
            "after_device": str(devices[1]) or None,
            "before_n": old.time_ns.size,
            "after_n": new.time_ns.size,
            "before_ns": np.median(old.time_ns) if old.time_ns.size else None,
            "after_ns": np.median(new.time_ns) if new.time_ns.size else None,
            "speedup": ratio.estimate,
            "speedup_low": ratio.low,
            "speedup_high": ratio.high,
            "outcome": outcome,
            "reason": reason if obstacle else reservations + reason,
        }


def _absence(match: Match, sides: tuple[_RunSide, _RunSide]) -> str:
    """Name the run that alone has a case, and the sizes of the same problem in the other run."""
    here, there = ("before", "after") if match[1] is None else ("after", "before")
    case, other = (match[0], sides[1]) if match[1] is None else (match[1], sides[0])
    assert case is not None  # one side of a match is there
    elsewhere = other.cases.get(_place(case))
    if not elsewhere:
        return f"only in the run {here}"
    others = " and ".join(map(_size_words, elsewhere.values()))
    return f"only in the run {here}, at {_size_words(case)}: the run {there} has {others}"


def _all_reservations(cases: tuple[Row, Row], sides: tuple[_RunSide, _RunSide]) -> str:
    """The reason why two compared cases may be two different programs: empty, or ending in a colon."""
    devices = sides[0].device(cases[0]), sides[1].device(cases[1])
    return _reservations(devices) + _other_source(*cases) + _other_compiler(*cases)


def _reservations(devices: tuple[_Device, _Device]) -> str:
    """The reason why a comparison may be one of two different programs: empty, or ending in a colon."""
    if not devices[0].differs(devices[1]):
        return "another card of the model: " if devices[0].is_other_card(devices[1]) else ""
    before, after = (str(device) or None for device in devices)
    return f"different devices ({before} before, {after} after): "


def _other_source(before: Row, after: Row) -> str:
    """A prefix such as that of `_reservations` if the two programs differ; "" if a run does not record them."""
    sources = before["source_sha256"], after["source_sha256"]
    return "the pattern file has changed: " if all(sources) and sources[0] != sources[1] else ""


def _other_compiler(before: Row, after: Row) -> str:
    """A prefix such as that of `_reservations` if different compilers made the kernels of one text."""
    sides = [", ".join(sorted(compilers_of(case))) for case in (before, after)]
    return f"different compilers ({sides[0]} before, {sides[1]} after): " if all(sides) and sides[0] != sides[1] else ""


def _size_words(case: Row) -> str:
    """The parameters of the preset with the values of this case."""
    swept = points.swept(case)
    sizes = {name: value for name, value in points.parse(case["parameters"]).items() if name not in swept}
    return points.words(sizes) or "no sizes"


def obstacle_between(before: Row, after: Row) -> str | None:
    """The reason why a case of both runs cannot be compared, or None."""
    for when, case in (("before", before), ("after", after)):
        if case["status"] != Status.OK:
            why = f": {case['reason']}" if case["reason"] else ""
            return f"{case['status']} {when}{why}"
    if before["metric"] != after["metric"]:
        return f"its metric was {before['metric']} before and is {after['metric']} after"
    return None


def _conclude(
    before: Series, after: Series, obstacle: str | None, threshold: float
) -> tuple[intervals.Interval, str, str]:
    if not obstacle and not (before.time_ns.size and after.time_ns.size):
        obstacle = f"no valid sample {'after' if before.time_ns.size else 'before'} in this state"
    if obstacle:
        return intervals.UNKNOWN, Outcome.NONE, obstacle
    ratio = intervals.independent_ratio(before.time_ns, after.time_ns, before.instances, after.instances)
    return ratio, *outcome_beyond(ratio, threshold, answer.describe(ratio, "samples"))


def outcome_beyond(ratio: intervals.Interval, threshold: float, words: str) -> tuple[str, str]:
    """The outcome of a ratio, and a reason.

    Args:
        ratio: Time before over time after.
        threshold: Relative change that matters.
        words: The ratio in words.
    """
    if not ratio.known:
        needed = f"{ratio.n} of the {intervals.MIN_SAMPLES} that an interval needs"
        return Outcome.INCONCLUSIVE, f"too few samples: {needed}; raise --budget"
    band = 1 + threshold
    if ratio.low >= 1 / band and ratio.high <= band:
        return Outcome.SAME, f"within {threshold:.1%}: {words}"
    if ratio.low > band or ratio.high < 1 / band:
        return Outcome.FASTER if ratio.low > 1 else Outcome.SLOWER, words
    return Outcome.INCONCLUSIVE, f"noise: the interval crosses the threshold of {threshold:.1%} ({words})"
