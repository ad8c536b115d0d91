"""The measured results of functions: as the tables of a run, in memory, and in a line or two."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from xebench.functions.family import PATTERN, PRESET, FunctionFamily, case_id, family_id
from xebench.measuring.instrument import measure_empty_kernel
from xebench.measuring.place import VariantRun
from xebench.patterns.conditions import mark_not_asked
from xebench.records.claim import applying, from_json, is_expected, to_json
from xebench.records.points import rows
from xebench.report import units
from xebench.report.remarks import asides, flag_line
from xebench.report.result_rows import number
from xebench.results import Run, RunWriter, schema
from xebench.results.analysis import answer, summaries
from xebench.results.analysis.answer import LARGER_PRESET, MORE_INSTANCES, RAISE_BUDGET, same_within
from xebench.results.provenance import manifest, now
from xebench.results.run import with_derived
from xebench.session.session import Session
from xebench.system import runtime
from xebench.vocabulary import Answer, Reason, Status, metric_named

#: Heading of the rows, in place of a chapter.
CHAPTER: Final = "in this process"

#: Reasons name options of the command; here they are arguments.
_ARGUMENTS: Final = {
    RAISE_BUDGET: "raise budget_s",
    LARGER_PRESET: "use larger arrays",
    MORE_INSTANCES: "give setup=, which makes more",
}


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
    tables = with_derived({name: schema.frame(name, content) for name, content in rows.items()}, alone_decides=True)
    tables["pairs"] = _with_arguments(tables["pairs"])
    return Run.of_tables(Path(), {"state": "complete", "created": now()}, tables)


def save(run: Run, path: Path | str, *, overwrite: bool) -> Run:
    """Save measured tables as a run folder; see `xebench.functions.Compared.save`."""
    facts = manifest(sys.argv, asdict(runtime.describe_machine()), runtime.relevant_environment())
    drivers = dict(zip(run.devices["device"], run.devices["driver_version"], strict=True))
    with RunWriter.create(path, {**facts, **run.manifest, "drivers": drivers}, overwrite=overwrite) as writer:
        return writer.finish(known={table: getattr(run, table) for table in schema.RUN_TABLES})


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
        **variant.facts,
        "kernels": json.dumps(variant.kernels),
        "doubt": variant.doubt or None,
        "error_text": variant.error_text or None,
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


#: Headings of `cells`.
CELLS: Final = ("function", "time", "speed-up", "95 % interval", "answer")


def cells(run: Run, reference: str) -> Iterator[tuple[str, ...]]:
    """The reference's name and time, and what each pair says, as text."""
    times = {row["variant"]: units.duration(number(row["median_ns"])) for row in rows(run.summaries)}
    yield reference, times.get(reference, "-"), "", "", ""
    for pair in rows(run.pairs):
        ends = number(pair["speedup"]), number(pair["speedup_low"]), number(pair["speedup_high"])
        name, against = pair["variant"], pair["baseline"]
        named = name if against == reference else f"{name} over {against}"
        answered = () if pair["answer"] == Answer.NO_CLAIM else (pair["answer"],)
        alone = (Reason.ONE_INSTANCE,) if pair["instances"] == 1 and ends[0] else ()
        words = dict.fromkeys((*answered, *alone, *asides(pair)))  # a reason may be the same words
        yield named, times.get(name, "-"), units.ratio(*ends), units.interval(*ends[1:]), ", ".join(words)


#: The remark on commands that cannot be recorded one by one.
BRACKETED: Final = (
    "calls of dpnp and other libraries are timed between two barriers: an upper bound of the device's time"
)

ONE_INSTANCE: Final = (
    "one instance: the interval is as wide as instances usually differ; setup= makes more of them, and narrows it"
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
    """The reason to doubt a function's time: the host takes longer than its commands and launches explain.

    Args:
        run: the tables of a call of `measure`.
        summary: the function's row.
    """
    samples = summaries.usable(run.cases, run.samples)
    if samples.empty or not metric_named(summary["metric"]).on_device_clock:
        return None
    (device,) = rows(run.devices)
    time_ns = samples["time_ns"].to_numpy()
    host_ns, session_ns, commands = (
        samples[name].astype("float64").to_numpy() for name in ("host_ns", "session_ns", "events")
    )
    return answer.doubt(
        summary["variant"],
        time_ns,
        host_ns - session_ns - time_ns,
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
        unchecked: True if results should have been compared but the reference returned none.
    """
    for case in rows(run.cases):
        if case["status"] != Status.OK and not is_expected(case["status"], case["reason"], from_json(case["claims"])):
            yield f"{case['variant']}: {case['status']}: {case['reason']}"
    if unchecked:
        yield "results were not compared: the reference returns no arrays of numbers"
    if has_library_calls(run.events):
        yield BRACKETED
    if (run.pairs["instances"] == 1).any():
        yield ONE_INSTANCE
    yield from filter(None, [flag_line(run)])
