"""Remarks on how cases were measured, from what the tables hold. A remark never changes a status or an answer."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from xebench.records.points import Row, rows
from xebench.report import units
from xebench.results import Run
from xebench.results.columns import FACTS
from xebench.vocabulary import Status

#: Tolerance from which the error found is shown: smaller ones only allow for rounding in single precision.
LOOSE_RTOL: Final = 1e-3
#: Share of such a tolerance from which the error is shown.
NOTABLE_ERROR: Final = 0.01
#: Multiple of its roof at which a case's declared work is doubted: roofs of caches are accurate to about 20 %.
BEYOND_ROOF: Final = 1.5


def case_remarks(run: Run) -> dict[str, list[str]]:
    """Remarks of each case, by its key; cases without any are left out."""
    cases = {case["case_id"]: case for case in rows(run.cases)}
    fractions = dict(run.summaries[["case_id", "roof_fraction"]].dropna().itertuples(index=False, name=None))
    baselines = dict(run.pairs[["case_id", "baseline_case_id"]].itertuples(index=False, name=None))
    found: dict[str, list[str]] = defaultdict(list)
    for key, case in cases.items():
        own, other = _traced(case), _traced(cases.get(baselines.get(key, "")))
        remarks = [
            _less_work(case),
            _prepared(case),
            _loose_tolerance(case),
            *_of_facts(case),
            case["odd_size"] if str(case["odd_size"]).startswith("wrong") else "",
            *_doubles(case),
            _beyond_roof(fractions.get(key)),
            *_of_execution(own or {}),
            *(_one_sided(own, other) if own is not None and other is not None else ()),
        ]
        found[key] += filter(None, remarks)
    return {case: remarks for case, remarks in found.items() if remarks}


def _traced(case: Row | None) -> dict[str, Any] | None:
    """The facts of a case's traced execution (`xebench.measuring.traced_facts`); None if there was none."""
    return None if case is None or case["traced"] is None else dict(json.loads(case["traced"]))


def _of_facts(case: Row) -> list[str]:
    """The remarks that columns have of their own."""
    values = [(column.remark, case[column.name]) for column in FACTS if column.remark]
    return [
        remark.format(units.figure(value) if isinstance(value, float) else value) for remark, value in values if value
    ]


def _less_work(case: Row) -> str:
    first, sampled = case["first_commands"], case["sampled_commands"]
    return "" if first is None else f"its first call submits {first} commands, its samples {sampled}"


def _prepared(case: Row) -> str:
    kernels = case["prepared_kernels"]
    return f"its preparation submits {kernels} kernel{'s' if kernels > 1 else ''}" if kernels else ""


def _loose_tolerance(case: Row) -> str:
    """The error found beside a tolerance that may hide a lower precision."""
    is_loose = (case["rtol"] or 0.0) >= LOOSE_RTOL and (case["tolerance_used"] or 0.0) >= NOTABLE_ERROR
    return tolerance_words(case) if is_loose else ""


def tolerance_words(case: Row) -> str:
    """The largest error found beside what is allowed: ``error 78 % of rtol=0.02``; "" where nothing was compared."""
    if case["tolerance_used"] is None:
        return ""
    if not case["rtol"] and not case["atol"]:
        return "exact"
    allowed = [f"{name}={case[name]:g}" for name in ("rtol", "atol") if case[name]]
    return f"error {units.percent(case['tolerance_used'])} of {', '.join(allowed)}"


def _doubles(case: Row) -> list[str]:
    kernels = json.loads(case["kernels"]) if isinstance(case["kernels"], str) else []
    said = {
        "fp64_beside_fp32": "computes in fp64, its arrays are float32",
        "mixes_fp64_fp32": "has float64 arrays beside float32 ones",
    }
    found = [f"kernel {kernel['name']} {words}" for kernel in kernels for key, words in said.items() if kernel.get(key)]
    return [*dict.fromkeys(found)]


def _beyond_roof(fraction: float | None) -> str:
    if fraction is None or pd.isna(fraction) or fraction < BEYOND_ROOF:
        return ""
    return f"{units.figure(fraction)} times its roof: the compiler removed the work, or operations counts too much"


def _of_execution(own: Mapping[str, Any]) -> list[str]:
    made = [f"{units.duration(own['making_ns'])} of each call go into a kernel"] if own.get("making_ns") else []
    return [*made, *(f"{count} x {name} in each call" for name, count in own.get("converted", {}).items())]


def _one_sided(own: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Work that one side does in each call and the other never does."""
    found = []
    mine, theirs = (side.get("moved", {}) for side in (own, other))
    for what in dict.fromkeys([*mine, *theirs]):
        if (what in mine) != (what in theirs):
            size = _size(mine.get(what, 0) + theirs.get(what, 0))
            found.append(f"{what} {size} in each call{_whose(what in theirs)}")
    if bool(own.get("allocations")) != bool(other.get("allocations")):
        count = own.get("allocations", 0) + other.get("allocations", 0)
        found.append(f"{count} allocation{'s' if count > 1 else ''} in each call{_whose('allocations' in other)}")
    return found


def _whose(of_baseline: bool) -> str:
    return " of its baseline alone" if of_baseline else ", none of its baseline"


def _size(size_bytes: int) -> str:
    """Bytes as ``16.0 MB``."""
    name, scale = next(each for each in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1)) if size_bytes >= each[1])
    return f"{units.figure(size_bytes / scale)} {name}"


def untried_line(run: Run) -> str:
    """The number of patterns that were run at even sizes alone, in one line; empty if there are none."""
    cases = run.part("cases", ("pattern", "odd_size", "status"))
    tried = cases[cases["status"] == Status.OK].groupby("pattern")["odd_size"].count()
    without = int((tried == 0).sum())
    if not without:
        return ""
    return f"{without} of {len(tried)} patterns ran only at multiples of a work-group: no odd size was tried"
