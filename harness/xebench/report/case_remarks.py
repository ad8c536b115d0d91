"""Remarks on how cases were measured, from what the tables hold. A remark never changes a status or an answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import pandas as pd

from xebench.records.points import Row, rows
from xebench.report import units
from xebench.results import Run
from xebench.results.columns import FACTS
from xebench.vocabulary import Metric, Status

#: Tolerance from which the error found is shown: smaller ones only allow for rounding in single precision.
LOOSE_RTOL: Final = 1e-3
#: Share of such a tolerance from which the error is shown.
NOTABLE_ERROR: Final = 0.01
#: Multiple of its roof at which a case's declared work is doubted: roofs of caches are accurate to about 20 %.
BEYOND_ROOF: Final = 1.5
#: Host time, in ns, and part of the shorter side's time, from which a difference of the host's own work is shown.
OWN_NS, OWN_PART = 3_000, 0.5


@dataclass(frozen=True)
class Side:
    """A case, with what was measured of it.

    Attributes:
        case: row of the table `cases`.
        median_ns: median of its samples; None without any.
        roof_fraction: share of its nearest roof; None if unknown.
    """

    case: Row
    median_ns: float | None = None
    roof_fraction: float | None = None

    @cached_property
    def traced(self) -> dict[str, Any] | None:
        """The facts of its traced execution (`xebench.measuring.traced_facts`); None if there was none."""
        return None if self.case["traced"] is None else dict(json.loads(self.case["traced"]))


def case_remarks(run: Run) -> dict[str, list[str]]:
    """Remarks of each case, by its key; cases without any are left out."""
    measured = {
        row["case_id"]: (row["median_ns"], row["roof_fraction"])
        for row in rows(run.summaries[["case_id", "median_ns", "roof_fraction"]])
    }
    sides = {case["case_id"]: Side(case, *measured.get(case["case_id"], ())) for case in rows(run.cases)}
    baselines = dict(run.pairs[["case_id", "baseline_case_id"]].itertuples(index=False, name=None))
    found = {}
    for key, own in sides.items():
        remarks = [remark for rule in OF_ONE for remark in rule(own)]
        if (other := sides.get(baselines.get(key, ""))) is not None:
            remarks += [remark for rule in OF_TWO for remark in rule(own, other)]
        found[key] = remarks
    return {case: remarks for case, remarks in found.items() if remarks}


# ---- of one case ------------------------------------------------------------------------------------------------


def _less_work(own: Side) -> Iterator[str]:
    first, sampled = own.case["first_commands"], own.case["sampled_commands"]
    if first is not None:
        yield f"its first call submits {first} commands, its samples {sampled}"


def _prepared(own: Side) -> Iterator[str]:
    if kernels := own.case["prepared_kernels"]:
        yield f"its preparation submits {kernels} kernel{'s' if kernels > 1 else ''}"


def _loose_tolerance(own: Side) -> Iterator[str]:
    """The error found beside a tolerance that may hide a lower precision."""
    if (own.case["rtol"] or 0.0) >= LOOSE_RTOL and (own.case["tolerance_used"] or 0.0) >= NOTABLE_ERROR:
        yield tolerance_words(own.case)


def tolerance_words(case: Row) -> str:
    """The largest error found beside what is allowed: ``error 78 % of rtol=0.02``; "" where nothing was compared."""
    if case["tolerance_used"] is None:
        return ""
    if not case["rtol"] and not case["atol"]:
        return "exact"
    allowed = [f"{name}={case[name]:g}" for name in ("rtol", "atol") if case[name]]
    return f"error {units.percent(case['tolerance_used'])} of {', '.join(allowed)}"


def _of_columns(own: Side) -> Iterator[str]:
    """The remarks that columns have of their own."""
    for column in FACTS:
        if column.remark and (value := own.case[column.name]):
            yield column.remark.format(units.figure(value) if isinstance(value, float) else value)


def _odd_size(own: Side) -> Iterator[str]:
    if str(own.case["odd_size"]).startswith("wrong"):
        yield own.case["odd_size"]


#: Remarks on kernels, by the keys of `cases.kernels`.
OF_KERNELS: Final = {
    "fp64_beside_fp32": "computes in fp64, its arrays are float32",
    "mixes_fp64_fp32": "has float64 arrays beside float32 ones",
}


def _kernels(own: Side) -> Iterator[str]:
    kernels = json.loads(own.case["kernels"]) if isinstance(own.case["kernels"], str) else []
    found = [
        f"kernel {kernel['name']} {words}" for kernel in kernels for key, words in OF_KERNELS.items() if kernel.get(key)
    ]
    yield from dict.fromkeys(found)


def _wide_products(own: Side) -> Iterator[str]:
    """A likely cause of wrong results: a right program may well compute so."""
    if own.case["status"] == Status.WRONG:
        for kernel in json.loads(own.case["kernels"] or "[]"):
            if kernel.get("shifts_wide_products"):
                yield (
                    f"kernel {kernel['name']} shifts right a product of uint32 in 64 bits, which numba computes: "
                    "write np.uint32(a * b)"
                )


def _beyond_roof(own: Side) -> Iterator[str]:
    fraction = own.roof_fraction
    if fraction is not None and not pd.isna(fraction) and fraction >= BEYOND_ROOF:
        yield f"{units.figure(fraction)} times its roof: the compiler removed the work, or operations counts too much"


def _making(own: Side) -> Iterator[str]:
    if making_ns := (own.traced or {}).get("making_ns"):
        yield f"{units.duration(making_ns)} of each call go into making kernels"


def _converted(own: Side) -> Iterator[str]:
    for name, count in (own.traced or {}).get("converted", {}).items():
        yield f"{count} x {name} in each call"


# ---- of a case beside its baseline ------------------------------------------------------------------------------


def _moved(own: Side, other: Side) -> Iterator[str]:
    """Copies and fills that one side does in each call and the other never does."""
    mine, theirs = _facts(own, other, "moved", {})
    for side, beside in ((mine, theirs), (theirs, mine)):
        if parts := [f"{what} {_size(size)}" for what, size in side.items() if what not in beside]:
            yield f"{', '.join(parts)} in each call{_whose(side is theirs)}"


def _allocations(own: Side, other: Side) -> Iterator[str]:
    mine, theirs = _facts(own, other, "allocations", 0)
    if bool(mine) != bool(theirs):
        yield f"{mine + theirs} allocation{'s' if mine + theirs > 1 else ''} in each call{_whose(bool(theirs))}"


def _launches(own: Side, other: Side) -> Iterator[str]:
    """Kernels of both sides that one launches for more work-items; several launches may share the same ones."""
    mine, theirs = _facts(own, other, "launches", {})
    for kernel in mine.keys() & theirs.keys():
        (count, items), (of_other, items_of_other) = mine[kernel], theirs[kernel]
        if items != items_of_other and count != of_other:
            yield f"{count} launches of kernel {kernel} in each call, {of_other} of its baseline"
        elif items != items_of_other:
            yield f"{items} work-items of kernel {kernel} in each call, {items_of_other} of its baseline"


def _own_work(own: Side, other: Side) -> Iterator[str]:
    """The host's own work, where it is part of what is timed."""
    mine, theirs = _facts(own, other, "own_ns", 0)
    if own.case["metric"] == Metric.WALL and abs(mine - theirs) >= max(OWN_NS, OWN_PART * _shorter(own, other)):
        yield f"{units.duration(mine)} of each call are the host's own work, {units.duration(theirs)} of its baseline's"


def _scratch(own: Side, other: Side) -> Iterator[str]:
    mine, theirs = (side.case["scratch_bytes"] for side in (own, other))
    if mine and theirs and _size(mine) != _size(theirs):
        yield f"{_size(mine)} of scratch, {_size(theirs)} of its baseline"


def _facts(own: Side, other: Side, name: str, none: Any) -> tuple[Any, Any]:
    """A fact of both traced executions; none of both where one was not traced."""
    if own.traced is None or other.traced is None:
        return none, none
    return own.traced.get(name, none), other.traced.get(name, none)


def _shorter(own: Side, other: Side) -> float:
    return min((side.median_ns for side in (own, other) if side.median_ns), default=0.0)


def _whose(of_baseline: bool) -> str:
    return " of its baseline alone" if of_baseline else ", none of its baseline"


def _size(size_bytes: int) -> str:
    """Bytes as ``16.0 MB``."""
    name, scale = next(each for each in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1)) if size_bytes >= each[1])
    return f"{units.figure(size_bytes / scale)} {name}"


#: The rules for remarks, in the order in which reports show them.
OF_ONE: Final[tuple[Callable[[Side], Iterator[str]], ...]] = (
    *(_less_work, _prepared, _loose_tolerance, _of_columns, _odd_size),
    *(_kernels, _wide_products, _beyond_roof, _making, _converted),
)
OF_TWO: Final[tuple[Callable[[Side, Side], Iterator[str]], ...]] = (
    *(_moved, _allocations, _launches, _own_work, _scratch),
)
