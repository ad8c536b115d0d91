"""One row for each case and state: how long, how sure, and how near to the roofs that were measured."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from harness.analysis import intervals, statistics
from harness.analysis.statistics import Floats
from harness.records.schema import frame

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


def summaries(cases: pd.DataFrame, samples: pd.DataFrame, devices: pd.DataFrame) -> pd.DataFrame:
    """The table `summaries`: a row for each case and state with samples; a case without any has one, without state.

    Args:
        cases: The table `cases`.
        samples: The table `samples`.
        devices: The table `devices`, for the roofs.
    """
    by_case = dict(iter(samples.groupby("case_id", sort=False)))
    roofs = {row["device"]: row for row in devices.to_dict("records")}
    none = samples.iloc[:0]
    rows = []
    for case in cases.to_dict("records"):
        rows.extend(_rows(case, by_case.get(case["case_id"], none), roofs.get(case["device"], {})))
    return frame("summaries", rows)


def valid_samples(samples: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The samples in a measured state whose time can be trusted, in order, with the time in a column `time_ns`.

    Args:
        samples: Rows of the table `samples`.
        metric: device, span or wall.
    """
    times = samples[METRIC_COLUMN[metric]]
    usable = samples["valid"] & samples["state"].isin(STATES) & (times > 0).fillna(False)
    return samples.assign(time_ns=times)[usable].sort_values("sample", kind="stable")


def _rows(case: dict[str, Any], samples: pd.DataFrame, roofs: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    compile_ns = samples.loc[samples["state"] == "compile", "host_ns"].sum(min_count=1)
    usable = valid_samples(samples, case["metric"])
    measured = samples.loc[samples["state"].isin(STATES), "state"].unique()
    for state in [state for state in STATES if state in measured] or [None]:
        times = usable.loc[usable["state"] == state, "time_ns"] if state else usable["time_ns"]
        described = _describe(times.to_numpy(np.float64))
        yield {
            **{name: case[name] for name in _KEPT},
            "state": state,
            "compile_ns": compile_ns,
            **described,
            **_against_roofs(case, described["median_ns"], roofs),
        }


def _describe(times: Floats) -> dict[str, Any]:
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


def _against_roofs(case: dict[str, Any], median_ns: float, roofs: Mapping[str, Any]) -> dict[str, Any]:
    bandwidth = _number(case["bytes_moved"]) / median_ns
    rate = _number(case["operations"]) / median_ns
    row = {"bandwidth_gbps": bandwidth, "rate_gops": rate, "roof_fraction": None, "bound_by": None}
    if case["metric"] == "wall":
        return row
    rate_roof = RATE_ROOF.get(case["operation_kind"]) if isinstance(case["operation_kind"], str) else None
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
    return math.nan if value is None or value is pd.NA else float(value)
