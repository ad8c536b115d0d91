"""What lessons gained: on this device in the last run, or on the nearest device with a stored run."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd

from xebench.results import Run
from xebench.results.run import FOLDERS, runs_in

#: Least gain of a lesson for a rule to speak.
LEAST_GAIN: Final = 1.1


@dataclass(frozen=True)
class Lesson:
    """A step of a lesson: from a variant to another.

    Attributes:
        pattern, before, after: variants of a pattern.
    """

    pattern: str
    before: str
    after: str


@dataclass(frozen=True)
class Gain:
    """A lesson's measured step.

    Attributes:
        lesson: step.
        gain, low, high: speed-up with its 95 % interval; the latter None where it has none.
        device: name of the device, where it is not this one; "" for this one.
        held, devices: number of devices on which the step gained, and on which it was measured.
    """

    lesson: Lesson
    gain: float
    low: float | None
    high: float | None
    device: str
    held: int
    devices: int


@functools.cache
def stored_runs() -> Sequence[Run]:
    """The runs in ``runs`` and ``results``, newest first; damaged ones are left out."""
    folders = [folder for folder in FOLDERS if folder.is_dir()]
    checkout = Path(__file__).parents[3] / "results"  # of a checkout, wherever the command runs
    if checkout.is_dir() and checkout.resolve() not in [folder.resolve() for folder in folders]:
        folders.append(checkout)
    return runs_in(folders, lambda run: run.pairs is not None and run.devices is not None)


@dataclass(frozen=True)
class _Measured:
    """A step on one device."""

    device: str
    vendor: str
    device_class: str
    gain: float
    low: float | None
    high: float | None


def find_gain(lesson: Lesson, device: str, vendor: str, device_class: str) -> Gain | None:
    """The newest measurement of a step on this device, else on one of the same vendor and class; None without one."""
    by_device: dict[str, _Measured] = {}
    for run in stored_runs():
        for measured in _steps(run, lesson):
            by_device.setdefault(measured.device, measured)
    near = (one for one in by_device.values() if (one.vendor, one.device_class) == (vendor, device_class))
    found = by_device.get(device) or next(near, None)
    if found is None:
        return None
    held = sum(one.gain >= LEAST_GAIN for one in by_device.values())
    name = "" if found.device == device else found.device
    return Gain(lesson, found.gain, found.low, found.high, name, held, len(by_device))


def _steps(run: Run, lesson: Lesson) -> Iterator[_Measured]:
    """A lesson's step in a run; one that was measured the other way round is turned."""
    pairs = run.pairs
    of = pairs[(pairs["pattern"] == lesson.pattern) & pairs["speedup"].notna() & (pairs["preset"] != "smoke")]
    devices: dict[str, dict[str, Any]] = {str(row["device"]): row for row in _rows(run.devices)}
    for row in _rows(of):
        step = row["baseline"], row["variant"]
        if step not in ((lesson.before, lesson.after), (lesson.after, lesson.before)) or row["device"] not in devices:
            continue
        sign = 1 if step == (lesson.before, lesson.after) else -1
        ends = [float(row[name]) ** sign for name in ("speedup_low", "speedup_high") if not pd.isna(row[name])]
        about = devices[row["device"]]
        yield _Measured(
            str(about["name"]),
            str(about["vendor"]),
            str(about["device_class"]),
            float(row["speedup"]) ** sign,
            min(ends, default=None),
            max(ends, default=None),
        )


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def stored_memory_roof(device: str) -> float | None:
    """The memory roof of a device, in GB/s, in the newest run that has it; None without one."""
    for run in stored_runs():
        of = run.devices[run.devices["name"] == device]["bandwidth_roof_gbps"].dropna()
        if len(of):
            return float(of.iloc[0])
    return None
