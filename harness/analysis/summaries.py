"""One row for each case and state: how long, how sure, and how near to the roofs that were measured."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from harness.analysis import intervals, statistics
from harness.analysis.rows import Row, rows
from harness.analysis.statistics import Floats

#: The column of `samples` that a metric reads.
METRIC_COLUMN: Final[Mapping[str, str]] = {"device": "device_ns", "span": "span_ns", "wall": "host_ns"}

#: States whose samples count; compile and warm-up rows are kept in `samples` only.
STATES: Final = ("hot", "cold")

#: The column of `devices` with the roof for a kind of operation.
RATE_ROOF: Final[Mapping[str, str]] = {"fp32": "fp32_roof_gflops", "int32": "int32_roof_gops"}

#: The rows of `cases` that a summary repeats.
_KEPT: Final = (
    "case_id",
    "pattern",
    "variant",
    "role",
    "preset",
    "axes",
    "device",
    "device_class",
    "metric",
    "status",
    "reason",
)


def summaries(cases: pd.DataFrame, samples: pd.DataFrame, devices: pd.DataFrame) -> list[Row]:
    """The rows of the table `summaries`: one for each case and state, one without state for a case never sampled.

    Args:
        cases: The table `cases`.
        samples: The table `samples`.
        devices: The table `devices`, for the roofs.
    """
    by_case = dict(iter(samples.groupby("case_id", sort=False)))
    roofs = {row["device"]: row for row in rows(devices)}
    none = samples.iloc[:0]
    result: list[Row] = []
    for case in rows(cases):
        result.extend(_rows(case, by_case.get(case["case_id"], none), roofs.get(case["device"], {})))
    return result


def valid_samples(samples: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The samples in a measured state whose time can be trusted, in order, with the time in a column `time_ns`.

    Args:
        samples: Rows of the table `samples`.
        metric: device, span or wall.
    """
    times = samples[METRIC_COLUMN[metric]]
    usable = samples["valid"] & samples["state"].isin(STATES) & (times > 0).fillna(False)
    return samples.assign(time_ns=times)[usable].sort_values("sample", kind="stable")


def in_order(states: Container[str]) -> Sequence[str | None]:
    """Those of `STATES` that are in ``states``, or one None when none is."""
    return [state for state in STATES if state in states] or [None]


def _rows(case: Row, samples: pd.DataFrame, roofs: Row) -> Iterator[Row]:
    compile_ns = samples.loc[samples["state"] == "compile", "host_ns"].sum(min_count=1)
    usable = valid_samples(samples, case["metric"])
    for state in in_order(set(samples["state"])):
        times = usable.loc[usable["state"] == state, "time_ns"] if state else usable["time_ns"]
        described = _describe(times.to_numpy(np.float64))
        yield {
            **{name: case[name] for name in _KEPT},
            "state": state,
            "compile_ns": compile_ns,
            **described,
            **_against_roofs(case, described["median_ns"], roofs),
        }


def _describe(times: Floats) -> Row:
    median = intervals.median_interval(times)
    low_quartile, high_quartile = np.quantile(times, (0.25, 0.75)) if times.size else (None, None)
    return {
        "n": times.size,
        "median_ns": median.estimate,
        "low_ns": median.low,
        "high_ns": median.high,
        "mad_ns": statistics.mad(times),
        "min_ns": times.min() if times.size else None,
        "q25_ns": low_quartile,
        "q75_ns": high_quartile,
        "outliers": statistics.outliers(times),
        "drift": intervals.drift(times).estimate - 1,
    }


def _against_roofs(case: Row, median_ns: float, roofs: Row) -> Row:
    bandwidth = _number(case["bytes_moved"]) / median_ns
    rate = _number(case["operations"]) / median_ns
    row: Row = {"bandwidth_gbps": bandwidth, "rate_gops": rate, "roof_fraction": None, "bound_by": None}
    if case["metric"] == "wall":
        return row
    rate_roof = RATE_ROOF.get(case["operation_kind"])
    fractions = {
        "memory": bandwidth / _number(roofs.get("bandwidth_roof_gbps")),
        "compute": rate / _number(roofs.get(rate_roof) if rate_roof else None),
    }
    known = {bound: value for bound, value in fractions.items() if not math.isnan(value)}
    if known:
        bound = max(known, key=lambda name: known[name])
        row["roof_fraction"] = known[bound]
        # nothing passes the memory faster than it can: the data came from a cache
        row["bound_by"] = "cache" if bound == "memory" and known[bound] > 1 else bound
    return row


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
