"""Measurements of functions as the tables of a run, in memory."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pandas as pd

from xebench.callables.functions.family import FunctionFamily
from xebench.callables.functions.rows import PATTERN, PRESET, case_id, family_id
from xebench.measuring.instrument import measure_empty_kernel
from xebench.measuring.session.session import Session
from xebench.measuring.variant_run import VariantRun
from xebench.patterns.conditions import mark_not_asked
from xebench.tables import Run, schema
from xebench.tables.analysis.answer import same_within
from xebench.tables.analysis.claim import applying, to_json
from xebench.tables.analysis.judgement import LARGER_PRESET, RAISE_BUDGET
from xebench.tables.run import with_derived
from xebench.vocabulary import metric_named

#: What stands where a run has the chapter: the heading of the rows.
CHAPTER: Final = "in this process"

#: Reasons name options of the command; here they are arguments.
_ARGUMENTS: Final = {RAISE_BUDGET: "raise budget_s", LARGER_PRESET: "use larger arrays"}


def run_of(family: FunctionFamily) -> Run:
    """The tables of a family that was measured, with summaries and pairs."""
    device = family.device
    passed = {case_id(name, device) for name, variant in family.variants.items() if variant.is_good()}
    measured = family.rows.of("samples")
    samples: list[Mapping[str, Any]] = [
        {**row, "checked": row["case_id"] in passed or row.get("stage") is not None} for row in measured
    ]
    on_device_clock = metric_named(family.settings.metric).on_device_clock
    rows: dict[str, list[Mapping[str, Any]]] = {
        "devices": [{**device.to_row(), **(empty_kernel(device.device) if on_device_clock else {})}],
        "cases": [_case(variant, family) for variant in family.variants.values()],
        "samples": samples,
        "events": family.rows.of("events"),
        "machine": family.rows.of("machine"),
        "checks": [],
    }
    tables = with_derived({name: schema.frame(name, content) for name, content in rows.items()})
    tables["pairs"] = _with_arguments(tables["pairs"])
    return Run.of_tables(Path(), {"state": "complete"}, tables)


def _case(variant: VariantRun, family: FunctionFamily) -> dict[str, Any]:
    device, settings = family.device, family.settings
    code = getattr(variant.variant.function, "__code__", None)
    return {
        "case_id": case_id(variant.name, device),
        "family_id": family_id(device),
        "pattern": PATTERN,
        "chapter": CHAPTER,
        "variant": variant.name,
        "role": variant.variant.role,
        "preset": PRESET,
        **dict.fromkeys(("parameters", "preset_parameters", "environment"), "{}"),
        "device": device.device,
        "device_class": device.device_class,
        "metric": settings.metric,
        "claims": to_json(mark_not_asked(applying(variant.variant.claims, device.device_class, {}), device.to_row())),
        "status": variant.status,
        "reason": variant.reason,
        "stopped_by": family.stopped_by if variant.is_good() else "",
        "same_within": same_within(settings.sampling.precision),
        "bytes_moved": settings.bytes_moved,
        "operations": settings.operations,
        "kernels": json.dumps(variant.kernels),
        "source": None if code is None else f"{code.co_filename}:{code.co_firstlineno}",
    }


@functools.cache
def empty_kernel(device: str) -> Mapping[str, float]:
    """The time of an empty kernel, measured once in a process, on a session of its own."""
    return measure_empty_kernel(Session.on(device))


def _with_arguments(pairs: pd.DataFrame) -> pd.DataFrame:
    reasons = pairs["reason"]
    for option, argument in _ARGUMENTS.items():
        reasons = reasons.str.replace(option, argument, regex=False)
    return pairs.assign(reason=reasons)
