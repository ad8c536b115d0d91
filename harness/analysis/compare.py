"""Two runs side by side: the same case in both, before against after.

The two runs share no blocks, so their intervals hold only what each run saw: noise, and how much its instances differ
(where arrays and code lie in memory), if it had several. What else differs from one run to the next (clocks, neighbours
on the machine) is not in them, hence the threshold: a change must leave the band around 1, not only 1 itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

import numpy as np
import pandas as pd

from harness.analysis import intervals, times, verdict
from harness.analysis.rows import Row, rows
from harness.analysis.times import NONE, Series
from harness.vocabulary import Outcome, Status

#: Relative change up to which two runs are the same, unless told otherwise.
THRESHOLD: Final = 0.05

#: What makes two cases of two runs the same. The device class is part of it; the device's name is compared apart.
_KEY: Final = ("pattern", "variant", "preset", "axes", "device_class")

Key = tuple[str, ...]


class Tables(Protocol):
    """The tables of a run that a comparison reads, as in `harness.records.Run`."""

    @property
    def devices(self) -> pd.DataFrame: ...
    @property
    def cases(self) -> pd.DataFrame: ...
    @property
    def samples(self) -> pd.DataFrame: ...


def compare(before: Tables, after: Tables, threshold: float = THRESHOLD) -> list[Row]:
    """The rows of the table `comparisons`: one for each case and state that either run has, in the order of ``after``.

    ``faster`` and ``slower`` mean that the whole interval is outside the band of the threshold, ``same`` that all of
    it is inside. A case of one run only, or that is not ok in both, has outcome none with the reason. Cases on
    different devices are compared, and the reason begins by saying so; a GPU is never compared with a CPU.

    Args:
        before: The first run.
        after: The second run; a speed-up above 1 says that it is faster.
        threshold: Relative change that matters, such as 0.05.

    Raises:
        ValueError: The threshold is negative.
    """
    if threshold < 0:
        raise ValueError("the threshold must not be negative")
    sides = _Side(before), _Side(after)
    keys = dict.fromkeys([*sides[1].cases, *sides[0].cases])
    result: list[Row] = []
    for key in keys:
        result.extend(_rows(key, *sides, threshold))
    return result


class _Side:
    """A run as the comparison reads it: its cases by key, their times and their devices."""

    def __init__(self, run: Tables) -> None:
        self.cases: dict[Key, Row] = {tuple(case[name] for name in _KEY): case for case in rows(run.cases)}
        by_case: dict[str, dict[str, Series]] = {}
        for (case_id, state), data in times.usable(run.cases, run.samples).groupby(["case_id", "state"]):
            by_case.setdefault(str(case_id), {})[str(state)] = Series.of(data)
        self._times = by_case
        self._devices = {row["device"]: row for row in rows(run.devices)}

    def device(self, key: Key) -> str | None:
        """Name and driver of a case's device; None when the run has no such case or does not know its device."""
        if key not in self.cases:
            return None
        row = self._devices.get(self.cases[key]["device"], {})
        known = [row.get(name) for name in ("name", "driver_version")]
        return ", ".join(part for part in known if part) or None

    def times(self, key: Key) -> dict[str, Series]:
        """Valid times of a case, by state; states without any are left out."""
        return self._times.get(self.cases[key]["case_id"], {}) if key in self.cases else {}


def _rows(key: Key, before: _Side, after: _Side, threshold: float) -> Iterator[Row]:
    cases = before.cases.get(key), after.cases.get(key)
    measured = before.times(key), after.times(key)
    devices = before.device(key), after.device(key)
    obstacle = _obstacle(*cases)
    shown = cases[1] or before.cases[key]
    for state in times.in_order(*measured):
        old, new = (one.get(state, NONE) if state else NONE for one in measured)
        ratio, outcome, reason = _conclude(old, new, obstacle, threshold)
        if not obstacle and devices[0] != devices[1]:
            reason = f"different devices ({devices[0]} before, {devices[1]} after): {reason}"
        yield {
            **dict(zip(_KEY, key, strict=True)),
            "role": shown["role"],
            "metric": shown["metric"],
            "state": state,
            "before_device": devices[0],
            "after_device": devices[1],
            "before_n": old.time_ns.size,
            "after_n": new.time_ns.size,
            "before_ns": np.median(old.time_ns) if old.time_ns.size else None,
            "after_ns": np.median(new.time_ns) if new.time_ns.size else None,
            "speedup": ratio.estimate,
            "speedup_low": ratio.low,
            "speedup_high": ratio.high,
            "outcome": outcome,
            "reason": reason,
        }


def _obstacle(before: Row | None, after: Row | None) -> str | None:
    """Why a case cannot be compared, or None."""
    if before is None or after is None:
        return f"only in the run {'after' if before is None else 'before'}"
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
    if not ratio.known:
        needed = f"{ratio.n} of the {intervals.MIN_SAMPLES} that an interval needs"
        return ratio, Outcome.INCONCLUSIVE, f"too few samples: {needed}; raise --budget"
    found, band = verdict.describe(ratio, "samples"), 1 + threshold
    if ratio.low >= 1 / band and ratio.high <= band:
        return ratio, Outcome.SAME, f"within {threshold:.1%}: {found}"
    if ratio.low > band or ratio.high < 1 / band:
        return ratio, Outcome.FASTER if ratio.low > 1 else Outcome.SLOWER, found
    return ratio, Outcome.INCONCLUSIVE, f"noise: the interval crosses the threshold of {threshold:.1%} ({found})"
