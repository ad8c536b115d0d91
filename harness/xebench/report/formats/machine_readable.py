"""A run for other programs: its tables as CSV and JSON, and files of pytest-benchmark and github-action-benchmark.

pytest-benchmark: ``pytest-benchmark compare`` and others read its JSON. They match benchmarks by group, name or full
name, and have no field for a device. So class and name of the device are part of all three: two runs of different
devices have no benchmark in common.

github-action-benchmark keeps a history of each value by its name, and alerts where a value gets worse. It takes a JSON
array of objects with ``name``, ``unit`` and ``value``, and as text ``range`` and ``extra``
(https://github.com/benchmark-action/github-action-benchmark, README, "Minimal setup for custom benchmarks").
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

import numpy as np

from xebench.records import points
from xebench.records.points import Row, by_device, device_key, rows
from xebench.report.remarks import failures
from xebench.report.result_rows import point_words
from xebench.results import Run, schema
from xebench.results.analysis import summaries
from xebench.results.analysis.statistics import Floats
from xebench.results.files import as_csv


def render_csv(run: Run) -> str:
    """All columns of ``pairs``, pattern after pattern as they were measured, each by its parameters."""
    place = {pattern: number for number, pattern in enumerate(run.pairs["pattern"].unique())}
    keys = [
        (place[pattern], points.order(parameters))
        for pattern, parameters in zip(run.pairs["pattern"], run.pairs["parameters"], strict=True)
    ]
    in_order = sorted(range(len(keys)), key=keys.__getitem__)
    return as_csv(schema.with_parameters(run.pairs).iloc[in_order]).rstrip("\n")


def render_json(run: Run) -> str:
    """Folder, state, and the pairs and cases as lists of objects."""
    return json.dumps(
        {
            "folder": str(run.path),
            "state": run.manifest["state"],
            "pairs": json.loads(run.pairs.to_json(orient="records")),
            "cases": json.loads(run.cases.to_json(orient="records")),
        },
        indent=2,
    )


#: The first version of pytest-benchmark whose files have every field that is written here.
PYTEST_BENCHMARK_VERSION: Final = "4.0.0"

#: Columns of a pair with the result of its claim.
_ANSWER: Final = ("answer", "claim", "outcome", "speedup", "speedup_low", "speedup_high", "reason_code", "reason")


def render_pytest_benchmark(run: Run) -> str:
    """A benchmark for every case and state that has samples that count; the others are named with their reasons."""
    devices = by_device(run.devices)
    answers = rows(run.pairs)
    samples = dict(iter(summaries.usable(run.cases, run.samples).groupby(["case_id", "state"])))
    states = summaries.states_of(run.samples)
    benchmarks = [
        _benchmark(case, state, samples[key]["time_ns"].to_numpy(), devices.get(device_key(case), {}), answers)
        for case in rows(run.cases)
        for state in summaries.in_order(states.get(case["case_id"], ()))
        if case["status"] == "ok" and (key := (case["case_id"], state)) in samples
    ]
    return json.dumps(
        {
            "machine_info": _machine(run),
            "commit_info": _commit(run),
            "benchmarks": benchmarks,
            "datetime": run.manifest.get("created"),
            "version": PYTEST_BENCHMARK_VERSION,
            "xebench": {
                "folder": str(run.path),
                "state": run.manifest["state"],
                "without_result": [dict(zip(("case", "status", "reason"), one, strict=True)) for one in failures(run)],
            },
        },
        indent=1,
    )


def _benchmark(case: Row, state: str | None, time_ns: Floats, device: Row, answers: list[Row]) -> dict[str, Any]:
    where = point_words({**case, "state": state})
    place = f"[{case['device_class']} {device.get('name') or case['device']}]"
    return {
        "group": " ".join(filter(None, (case["pattern"], case["preset"], where, place))),
        "name": f"{case['variant']}{place}",
        "fullname": f"{case['case_id']}/{state}{place}",
        "param": where or None,
        "params": {**points.parse(case["parameters"]), "preset": case["preset"], "state": state},
        "extra_info": {
            "role": case["role"],
            "metric": case["metric"],
            "device": device.get("name") or case["device"],
            "device_class": case["device_class"],
            "driver_version": device.get("driver_version"),
            "answers": [_answer(pair) for pair in answers if _is_of(pair, case, state)],
        },
        "options": {"timer": f"xebench {case['metric']}"},
        "stats": statistics(time_ns * 1e-9),
    }


def statistics(seconds: Floats) -> dict[str, Any]:
    """The statistics of pytest-benchmark for the times of a benchmark, by its names; quartiles are medians of the
    halves.

    Args:
        seconds: the times, in order; at least one.
    """
    ordered = np.sort(seconds)
    half = ordered.size // 2
    low, high = (ordered[:half], ordered[-half:]) if half else (ordered, ordered)
    q1, q3 = float(np.median(low)), float(np.median(high))
    mean, deviation = float(ordered.mean()), float(ordered.std(ddof=1)) if ordered.size > 1 else 0.0
    fence_low, fence_high = q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1)
    inside = ordered[(ordered >= fence_low) & (ordered <= fence_high)]
    far = int((np.abs(ordered - mean) > deviation).sum())
    outside = int(ordered.size - inside.size)
    return {
        "min": float(ordered[0]),
        "max": float(ordered[-1]),
        "mean": mean,
        "stddev": deviation,
        "rounds": int(ordered.size),
        "median": float(np.median(ordered)),
        "iqr": q3 - q1,
        "q1": q1,
        "q3": q3,
        "iqr_outliers": outside,
        "stddev_outliers": far,
        "outliers": f"{far};{outside}",
        "ld15iqr": float(inside[0]),
        "hd15iqr": float(inside[-1]),
        "ops": 1 / mean,
        "total": float(ordered.sum()),
        "data": seconds.tolist(),
        "iterations": 1,
    }


def _is_of(pair: Row, case: Row, state: str | None) -> bool:
    return bool(pair["state"] == state and pair["case_id"] == case["case_id"])


def _answer(pair: Row) -> dict[str, Any]:
    # `rows` has None for null, which JSON writes as null
    return {"against": pair["baseline"], **{name: pair[name] for name in _ANSWER}}


def _machine(run: Run) -> dict[str, Any]:
    machine: Mapping[str, Any] = run.manifest.get("machine") or {}
    return {
        "node": "",
        "processor": machine.get("cpu_model"),
        "machine": "",
        "release": machine.get("kernel"),
        "system": machine.get("operating_system"),
        "python_version": run.manifest.get("python"),
        "cpu": {"brand_raw": machine.get("cpu_model"), "count": machine.get("logical_cores")},
        "devices": [
            {name: row[name] for name in ("host", "device", "name", "device_class", "driver_version")}
            for row in rows(run.devices)
        ],
        "packages": run.manifest.get("packages"),
    }


def _commit(run: Run) -> dict[str, Any]:
    git = run.manifest.get("git") or {}
    return {"id": git.get("commit") or "unversioned", "dirty": git.get("dirty"), "time": run.manifest.get("created")}


def _timestamp(text: str | None) -> int | None:
    """Milliseconds since 1970, as JavaScript has them."""
    return None if text is None else math.floor(1000 * datetime.fromisoformat(text).timestamp())


def render_github_action_benchmark(run: Run) -> str:
    """Results for ``tool: customSmallerIsBetter``: the median of each case and state with half its interval's width.

    Those without a time are left out.
    """
    devices, cases = by_device(run.devices), {case["case_id"]: case for case in rows(run.cases)}
    found = [cases[row["case_id"]] | row for row in rows(run.summaries)]
    return _as_json(
        _entry(
            _history_name(row, devices), "ns", row["median_ns"], (row["low_ns"], row["high_ns"]), f"{row['n']} samples"
        )
        for row in found
    )


def render_github_action_speedups(run: Run) -> str:
    """Results for ``tool: customBiggerIsBetter``: each pair's speed-up with half its interval's width, and its answer.

    What slows a whole machine is not in them: both sides of a pair were sampled side by side. A variant is there once
    a baseline.
    """
    devices = by_device(run.devices)
    pairs = {_history_name(row, devices, f" over {row['baseline']}"): row for row in rows(run.pairs)}
    return _as_json(
        _entry(title, "x", row["speedup"], (row["speedup_low"], row["speedup_high"]), str(row["answer"]))
        for title, row in pairs.items()
    )


def _history_name(row: Row, devices: Mapping[Any, Row], against: str = "") -> str:
    """The name of a history: a variant at one point, in one state of the caches, on one device."""
    device = devices.get(device_key(row), {}).get("name") or row["device"]
    variant = f"{row['pattern']}/{row['variant']}{against}"
    return " ".join(filter(None, (variant, row["preset"], point_words(row), f"[{row['device_class']} {device}]")))


def _entry(name: str, unit: str, value: float | None, ends: tuple[Any, Any], extra: str) -> dict[str, Any]:
    """A value, with half the width of its interval if that is known."""
    low, high = ends
    spread = {} if low is None or high is None else {"range": f"\N{PLUS-MINUS SIGN} {(high - low) / 2:.3g}"}
    return {"name": name, "unit": unit, "value": value, **spread, "extra": extra}


def _as_json(entries: Iterable[dict[str, Any]]) -> str:
    """The file of those that have a value."""
    return json.dumps([entry for entry in entries if entry["value"] is not None], indent=1)
