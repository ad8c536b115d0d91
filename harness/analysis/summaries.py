"""One row for each case and state: how long, how sure, and how near to the roofs that were measured."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pandas as pd

from harness.analysis import intervals, statistics, times
from harness.analysis.rows import FAMILY_KEY, Row, rows
from harness.vocabulary import Roof, State

#: Columns of `cases` that a summary repeats.
_KEPT: Final = ("case_id", *FAMILY_KEY, "variant", "role", "metric", "status", "reason")


def summaries(cases: pd.DataFrame, samples: pd.DataFrame, devices: pd.DataFrame) -> list[Row]:
    """The rows of the table `summaries`: one for each case and state, one without state for a case never sampled.

    Args:
        cases: The table `cases`.
        samples: The table `samples`.
        devices: The table `devices`, for the roofs.
    """
    trusted = times.usable(cases, samples)
    by_state = {key: times.Series.of(data) for key, data in trusted.groupby(["case_id", "state"])}
    compilations = samples[times.counted(samples) & (samples["state"] == State.COMPILE)]
    compiled = compilations.groupby("case_id")["host_ns"].sum(min_count=1)
    states, roofs = times.states_of(samples), {row["device"]: row for row in rows(devices)}
    result: list[Row] = []
    for case in rows(cases):
        for state in times.in_order(states.get(case["case_id"], ())):
            described = _describe(by_state.get((case["case_id"], state), times.NONE))
            result.append(
                {
                    **{name: case[name] for name in _KEPT},
                    "state": state,
                    "compile_ns": compiled.get(case["case_id"]),
                    **described,
                    **_against_roofs(case, described["median_ns"], roofs.get(case["device"], {})),
                }
            )
    return result


def _describe(series: times.Series) -> Row:
    measured = series.time_ns
    median = intervals.typical_time(measured, series.instances)
    low_quartile, high_quartile = np.quantile(measured, (0.25, 0.75)) if measured.size else (None, None)
    return {
        "n": measured.size,
        "median_ns": median.estimate,
        "low_ns": median.low,
        "high_ns": median.high,
        "mad_ns": statistics.mad(measured),
        "min_ns": measured.min() if measured.size else None,
        "q25_ns": low_quartile,
        "q75_ns": high_quartile,
        "outliers": statistics.outliers(measured),
        "drift": intervals.drift(measured).estimate - 1,
    }


def _against_roofs(case: Row, median_ns: float, roofs: Row) -> Row:
    bandwidth = _number(case["bytes_moved"]) / median_ns
    rate = _number(case["operations"]) / median_ns
    row: Row = {"bandwidth_gbps": bandwidth, "rate_gops": rate, "roof_fraction": None, "bound_by": None}
    fractions = {
        roof: _number(case[roof.work]) / median_ns / _number(roofs.get(roof.column))
        for roof in Roof
        if roof.operation_kind in (None, case["operation_kind"])
    }
    reached = {roof: fraction for roof, fraction in fractions.items() if not math.isnan(fraction)}
    if reached:
        nearest = max(reached, key=lambda roof: reached[roof])
        row["roof_fraction"] = reached[nearest]
        # nothing passes the memory faster than it can: the data came from a cache
        row["bound_by"] = "cache" if nearest is Roof.BANDWIDTH and reached[nearest] > 1 else nearest.bound_by
    return row


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
