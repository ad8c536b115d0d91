"""Every variant against the naive one of its family: the speed-up over blocks and the verdict on the claim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from harness.analysis import hygiene, intervals, verdict
from harness.analysis.rows import Row, rows
from harness.analysis.summaries import in_order, valid_samples

#: What the two sides of a pair have in common: a CPU row is never compared with a GPU row.
_FAMILY_KEY: Final = ["pattern", "preset", "axes", "device_class", "device"]

#: Roles that the other variants are compared with, in order of preference.
_BASELINE_ROLES: Final = ("naive", "baseline", "antipattern")

#: Columns of the variant's case that a pair repeats.
_KEPT: Final = (
    "pattern",
    "family",
    "guide",
    "catalogue",
    "preset",
    "axes",
    "device",
    "device_class",
    "metric",
    "variant",
    "role",
    "claim",
)


def pairs(cases: pd.DataFrame, samples: pd.DataFrame, devices: pd.DataFrame, summaries: Iterable[Row]) -> list[Row]:
    """The rows of the table `pairs`: one for each variant but the baseline, in each state that was measured.

    A family without a naive, baseline or antipattern variant has no pairs.

    Args:
        cases: The table `cases`.
        samples: The table `samples`.
        devices: The table `devices`, for the timers.
        summaries: The rows of the table `summaries`, for the fractions of the roof.
    """
    by_case = dict(iter(samples.groupby("case_id", sort=False)))
    none = samples.iloc[:0]
    resolutions = dict(zip(devices["device"], devices["timer_resolution_ns"], strict=True))
    fractions = {(row["case_id"], row["state"]): row["roof_fraction"] for row in summaries}
    result: list[Row] = []
    for _, family in cases.groupby(_FAMILY_KEY, sort=False):
        members = rows(family)
        baseline = _baseline(members)
        if baseline is None:
            continue
        base = by_case.get(baseline["case_id"], none)
        for case in members:
            if case is not baseline:
                result.extend(_rows(baseline, base, case, by_case.get(case["case_id"], none), resolutions))
    for row in result:
        row["roof_fraction"] = fractions.get((row.pop("case_id"), row["state"]))
    return result


def _baseline(members: list[Row]) -> Row | None:
    for role in _BASELINE_ROLES:
        for case in members:
            if case["role"] == role:
                return case
    return None


def _rows(
    baseline: Row,
    baseline_samples: pd.DataFrame,
    case: Row,
    case_samples: pd.DataFrame,
    resolutions: Mapping[str, Any],
) -> Iterator[Row]:
    sides = valid_samples(baseline_samples, case["metric"]), valid_samples(case_samples, case["metric"])
    measured = {*baseline_samples["state"], *case_samples["state"]}
    common = {**{name: case[name] for name in _KEPT}, "case_id": case["case_id"], "baseline": baseline["variant"]}
    for state in in_order(measured):
        blocks = _shared_blocks(*(side[side["state"] == state] for side in sides))
        failed = _failed(baseline, case, blocks)
        speedup = intervals.UNKNOWN if failed else intervals.speedup(blocks["baseline"], blocks["variant"])
        judged = failed or verdict.judge(
            speedup,
            case["claim"],
            case["device_class"],
            _circumstances(case, blocks, resolutions.get(case["device"])),
        )
        yield {
            **common,
            "state": state,
            "baseline_ns": None if failed else blocks["baseline"].median(),
            "variant_ns": None if failed else blocks["variant"].median(),
            "speedup": speedup.estimate,
            "speedup_low": speedup.low,
            "speedup_high": speedup.high,
            "blocks": len(blocks),
            "outcome": judged.outcome,
            "verdict": judged.verdict,
            "reason": judged.reason,
        }


def _shared_blocks(baseline: pd.DataFrame, variant: pd.DataFrame) -> pd.DataFrame:
    """Medians of both sides in the blocks that both have, in order; `throttled` where a sample is flagged so."""
    sides = {"baseline": baseline, "variant": variant}
    medians = pd.DataFrame({name: side.groupby("block")["time_ns"].median() for name, side in sides.items()})
    both = pd.concat(sides.values())
    flagged = both.loc[both["flags"].str.contains(hygiene.THROTTLED, regex=False), "block"]
    shared = medians.dropna().astype(np.float64).sort_index()
    return shared.assign(throttled=shared.index.isin(flagged))


def _failed(baseline: Row, case: Row, blocks: pd.DataFrame) -> verdict.Verdict | None:
    """The verdict when there is no speed-up to judge, or None."""
    claim, device_class = case["claim"], case["device_class"]
    sides = ("", case), (f"baseline {baseline['variant']}", baseline)
    for side, one in sides:
        if one["status"] != "ok":
            return verdict.without_speedup(one["status"], one["reason"], side, claim, device_class)
    if blocks.empty:
        why = "the two sides share no block with a valid sample"
        return verdict.without_speedup("ok", why, "", claim, device_class)
    return None


def _circumstances(case: Row, blocks: pd.DataFrame, resolution_ns: Any) -> verdict.Circumstances:
    quantum = 0.0
    if case["metric"] != "wall" and not pd.isna(resolution_ns):
        medians = blocks[["baseline", "variant"]].median()
        if medians.min() < hygiene.MIN_QUANTA * resolution_ns:
            quantum = float((resolution_ns / medians).sum())
    return verdict.Circumstances(
        stopped_by=case["stopped_by"],
        drift=intervals.drift(blocks["baseline"] / blocks["variant"]),
        throttled=float(blocks["throttled"].mean()),
        quantum=quantum,
    )
