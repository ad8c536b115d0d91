"""A run as the JSON of pytest-benchmark, for ``pytest-benchmark compare`` and what else reads such files.

Its readers match benchmarks by group, name or full name, and know of no device. So class and name of the device are
part of all three: two runs of different devices have nothing in common that could be compared.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from xebench.report.remarks import failures
from xebench.report.result_rows import point_words
from xebench.tables import Run
from xebench.tables.analysis import points, summaries
from xebench.tables.analysis.points import Row, by_place, place, rows
from xebench.tables.analysis.statistics import Floats

#: The first version of pytest-benchmark whose files have every field that is written here.
VERSION: Final = "4.0.0"

#: Columns of a pair that say what a claim comes to.
_ANSWER: Final = ("answer", "claim", "outcome", "speedup", "speedup_low", "speedup_high", "reason_code", "reason")


def render(run: Run) -> str:
    """A benchmark for every case and state that has samples that count; the others are named with their reasons."""
    devices = by_place(run.devices)
    answers = rows(run.pairs)
    samples = dict(iter(summaries.usable(run.cases, run.samples).groupby(["case_id", "state"])))
    states = summaries.states_of(run.samples)
    benchmarks = [
        _benchmark(case, state, samples[key]["time_ns"].to_numpy(), devices.get(place(case), {}), answers)
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
            "version": VERSION,
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
    # `rows` has None for null, and JSON has null for it
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
