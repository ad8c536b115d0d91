"""Results of functions in a line or two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pandas as pd

from xebench.report import units
from xebench.report.remarks import flag_line
from xebench.report.result_rows import number
from xebench.tables import Run
from xebench.tables.analysis import times, unrecorded
from xebench.tables.analysis.claim import from_json, is_expected
from xebench.tables.analysis.rows import rows
from xebench.vocabulary import Status, metric_named

#: What is told of commands that cannot be seen one by one.
BRACKETED: Final = (
    "calls of dpnp and other libraries are timed between two barriers: an upper bound of the device's time"
)
ONE_INSTANCE: Final = (
    "one instance: the interval does not cover the placement of arrays and code in memory; setup= makes more instances"
)


def time_words(summary: pd.Series[Any]) -> str:
    """``12.3 us (95 % interval 12.1 us to 12.5 us), device time, hot, 84 samples``."""
    low, high = number(summary["low_ns"]), number(summary["high_ns"])
    known = f"95 % interval {units.duration(low)} to {units.duration(high)}" if low and high else "no interval"
    time = units.duration(number(summary["median_ns"]))
    return f"{time} ({known}), {summary['metric']} time, {summary['state']}, {summary['n']} samples"


def events_words(run: Run, summary: pd.Series[Any]) -> str:
    """The commands of one call, their device and rate: ``on opencl:cpu:0: kernel triad, library sum; 31.2 GB/s``."""
    events = run.events[run.events["case_id"] == summary["case_id"]]
    last = events[events["sample_id"] == events["sample_id"].max()]
    names = (last["kind"] + " " + last["name"].fillna("")).value_counts(sort=False)
    batch = run.samples["batch"].iloc[-1]
    commands = [f"{count // batch} x {name}" if count > batch else name for name, count in names.items()]
    rates = ((summary["bandwidth_gbps"], "GB/s"), (summary["rate_gops"], "Gop/s"))
    parts = [
        ", ".join(commands) or "no command recorded",
        *("an upper bound: between barriers" for _ in [0] if has_library_calls(last)),
        *(f"{units.figure(float(rate))} {unit}" for rate, unit in rates if not pd.isna(rate)),
    ]
    return f"on {summary['device']}: {'; '.join(parts)}"


def host_doubt(run: Run, summary: pd.Series[Any]) -> str | None:
    """Why the time of a function must not be believed: it takes the host more than its commands and launches explain.

    Args:
        run: the tables of a call of `measure`.
        summary: the function's row.
    """
    samples = times.usable(run.cases, run.samples)
    if samples.empty or not metric_named(summary["metric"]).on_device_clock:
        return None
    (device,) = rows(run.devices)
    host_ns, commands = (samples[name].astype("float64").to_numpy() for name in ("host_ns", "events"))
    return unrecorded.doubt(
        summary["variant"],
        samples["time_ns"].to_numpy(),
        host_ns,
        device_class=device["device_class"],
        empty_kernel_ns=device["empty_kernel_host_ns"],
        commands=float(np.median(commands)),
    )


def has_library_calls(events: pd.DataFrame) -> bool:
    """True if some commands are calls of a library between barriers."""
    return bool((events["kind"] == "library").any())


def remarks(run: Run, *, unchecked: bool) -> Iterator[str]:
    """Remarks on a comparison beside its rows, a line each.

    Args:
        run: its tables.
        unchecked: whether results should have been compared, and there were none.
    """
    for case in rows(run.cases):
        if case["status"] != Status.OK and not is_expected(case["status"], case["reason"], from_json(case["claims"])):
            yield f"{case['variant']}: {case['status']}: {case['reason']}"
    if unchecked:
        yield "results were not compared: the reference returns no arrays"
    if has_library_calls(run.events):
        yield BRACKETED
    if (run.pairs["instances"] == 1).any():
        yield ONE_INSTANCE
    yield from filter(None, [flag_line(run)])
