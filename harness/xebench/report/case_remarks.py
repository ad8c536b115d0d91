"""Remarks on how a case was measured, from what the tables hold. A remark never changes a status or an answer."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from xebench.report import units
from xebench.tables import Run
from xebench.tables.analysis.points import Row, rows
from xebench.vocabulary import SAMPLED_STATES

#: Tolerance from which the error found is shown: below it, rounding in single precision explains what is allowed.
LOOSE_RTOL: Final = 1e-3


def case_remarks(run: Run) -> dict[str, list[str]]:
    """Remarks of each case, by its key; cases without any are left out."""
    found: dict[str, list[str]] = defaultdict(list)
    commands = _commands(run)
    for case in rows(run.cases):
        own = (_less_work(case, commands), _prepared(case), _loose_tolerance(case))
        found[case["case_id"]] += filter(None, own)
    return {case: remarks for case, remarks in found.items() if remarks}


def _commands(run: Run) -> dict[str, float]:
    """The median number of commands in a sample of each case."""
    samples = run.part("samples", ("case_id", "state", "events"))
    sampled = samples[samples["state"].isin(SAMPLED_STATES)]
    return {str(case): float(count) for case, count in sampled.groupby("case_id")["events"].median().items()}


def _less_work(case: Row, commands: dict[str, float]) -> str:
    first, sampled = case["first_commands"], commands.get(case["case_id"])
    if first is None or sampled is None or sampled >= first:
        return ""
    return f"its first call submits {first} commands, its samples {sampled:g}"


def _prepared(case: Row) -> str:
    kernels = case["prepared_kernels"]
    return f"its preparation submits {kernels} kernel{'s' if kernels > 1 else ''}" if kernels else ""


def _loose_tolerance(case: Row) -> str:
    """The error found beside a tolerance that may hide a lower precision."""
    if case["tolerance_used"] is None or (case["rtol"] or 0.0) < LOOSE_RTOL:
        return ""
    return tolerance_words(case)


def tolerance_words(case: Row) -> str:
    """The largest error found beside what is allowed: ``error 78 % of rtol=0.02``; "" where nothing was compared."""
    if case["tolerance_used"] is None:
        return ""
    if not case["rtol"] and not case["atol"]:
        return "exact"
    allowed = [f"{name}={case[name]:g}" for name in ("rtol", "atol") if case[name]]
    return f"error {units.percent(case['tolerance_used'])} of {', '.join(allowed)}"
