"""Two runs side by side: the same case in both, before against after.

The two runs share no blocks, so their intervals hold the noise within each run only. What differs from one run to
the next (clocks, memory layout, neighbours on the machine) is not in them, hence the threshold: a change must
leave the band around 1, not only 1 itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from harness.analysis import intervals, verdict
from harness.analysis.summaries import STATES, valid_samples
from harness.records.run import Run
from harness.records.schema import frame

#: Relative change up to which two runs are the same, unless told otherwise.
THRESHOLD: Final = 0.05

#: What makes two cases of two runs the same. The device class is part of it; the device's name is compared apart.
_KEY: Final = ("pattern", "variant", "preset", "axes", "device_class")

Case = Mapping[str, Any]


def compare(before: Run, after: Run, threshold: float = THRESHOLD) -> pd.DataFrame:
    """The table `comparisons`: a row for each case and state that either run has, in the order of ``after``.

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
    rows = []
    for key in keys:
        rows.extend(_rows(key, *sides, threshold))
    return frame("comparisons", rows)


class _Side:
    """A run as the comparison reads it."""

    def __init__(self, run: Run) -> None:
        self.cases: dict[tuple[str, ...], Case] = {
            tuple(case[name] for name in _KEY): case for case in run.cases.to_dict("records")
        }
        self._samples = dict(iter(run.samples.groupby("case_id", sort=False)))
        self._none = run.samples.iloc[:0]
        self._devices = {row["device"]: row for row in run.devices.to_dict("records")}

    def device(self, case: Case) -> str | None:
        """Name and driver of a case's device; None when the run does not know it."""
        row = self._devices.get(case["device"], {})
        known = [row.get(name) for name in ("name", "driver_version")]
        return ", ".join(part for part in known if isinstance(part, str)) or None

    def times(self, case: Case | None) -> pd.DataFrame:
        samples = self._none if case is None else self._samples.get(case["case_id"], self._none)
        return valid_samples(samples, case["metric"] if case is not None else "device")


def _rows(key: tuple[str, ...], before: _Side, after: _Side, threshold: float) -> list[dict[str, Any]]:
    cases = before.cases.get(key), after.cases.get(key)
    frames = before.times(cases[0]), after.times(cases[1])
    shown = cases[1] or cases[0] or {}
    devices = [
        None if case is None else side.device(case)
        for side, case in zip((before, after), cases, strict=True)
    ]
    measured = {state for data in frames for state in data["state"]}
    rows = []
    for state in [state for state in STATES if state in measured] or [None]:
        times = [data.loc[data["state"] == state, "time_ns"].to_numpy(np.float64) for data in frames]
        why_not = _not_comparable(cases, times)
        ratio = intervals.UNKNOWN if why_not else intervals.independent_ratio(*times)
        outcome, reason = (verdict.NO_OUTCOME, why_not) if why_not else _conclude(ratio, threshold)
        if devices[0] != devices[1] and not why_not:
            reason = f"different devices ({devices[0]} before, {devices[1]} after); {reason}"
        rows.append(
            {
                **dict(zip(_KEY, key, strict=True)),
                "role": shown["role"],
                "metric": shown["metric"],
                "state": state,
                "before_device": devices[0],
                "after_device": devices[1],
                "before_n": times[0].size,
                "after_n": times[1].size,
                "before_ns": np.median(times[0]) if times[0].size else None,
                "after_ns": np.median(times[1]) if times[1].size else None,
                "speedup": ratio.estimate,
                "speedup_low": ratio.low,
                "speedup_high": ratio.high,
                "outcome": outcome,
                "reason": reason,
            }
        )
    return rows
