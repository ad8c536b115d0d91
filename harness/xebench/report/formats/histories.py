"""A run for tools that keep histories: asv and github-action-benchmark.

The file of asv is one of results, version 2: ``asv compare``, ``asv show`` and ``asv publish`` read it. asv keeps one
such file a commit, machine and environment, in ``results/MACHINE/COMMIT-ENVIRONMENT.json``, and finds steps in the
history of each benchmark. Its keys are those of asv's developer documentation
(https://asv.readthedocs.io/en/stable/dev.html, "Benchmark suite layout and file formats"). That names two files more,
``results/benchmarks.json`` and ``results/MACHINE/machine.json``: what they hold is in ``xebench`` here, by their names.

github-action-benchmark keeps a history of each value by its name, and alerts where a value gets worse. It takes a JSON
array of objects with ``name``, ``unit`` and ``value``, and as text ``range`` and ``extra``
(https://github.com/benchmark-action/github-action-benchmark, README, "Minimal setup for custom benchmarks").
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

import numpy as np

from xebench.report.result_rows import point_words
from xebench.tables import Run
from xebench.tables.analysis import summaries
from xebench.tables.analysis.points import Row, by_place, place, rows

#: Versions of asv's files of results and benchmarks, and of its file of a machine.
VERSION: Final = 2
MACHINE_VERSION: Final = 1

#: Columns of ``results``, in asv's order; there is none for intervals of 95 %.
COLUMNS: Final = ("result", "params", "version", "started_at", "duration", "stats_q_25", "stats_q_75", "samples")

_SECONDS_OF_NS: Final = 1e-9


def render_asv(run: Run) -> str:
    """Times in seconds of every case and state, with their samples; null where a case has none."""
    devices, created = by_place(run.devices), _timestamp(run.manifest.get("created"))
    usable = dict(iter(summaries.usable(run.cases, run.samples).groupby(["case_id", "state"])["time_ns"]))
    results: dict[str, list[Any]] = {}
    benchmarks: dict[str, Any] = {}
    for case in rows(run.cases):
        states = [state for case_id, state in usable if case_id == case["case_id"]] or [None]
        for state in states:
            title = _name(case, state)
            results[title] = _result(usable.get((case["case_id"], state)), created, case)
            benchmarks[title] = _benchmark(title, case)
    device = devices.get(place(rows(run.cases)[0]), {}) if len(run.cases) else {}
    machine = _machine(run, device)
    return json.dumps(
        {
            "commit_hash": (run.manifest.get("git") or {}).get("commit") or "unversioned",
            "env_name": f"xebench-{run.stack}",
            "date": created,
            "params": {**machine, "python": run.manifest.get("python")},
            "python": run.manifest.get("python"),
            "requirements": run.manifest.get("packages") or {},
            "env_vars": {},
            "result_columns": COLUMNS,
            "results": results,
            "durations": {},
            "version": VERSION,
            "xebench": {
                "benchmarks.json": {**benchmarks, "version": VERSION},
                "machine.json": {**machine, "version": MACHINE_VERSION},
            },
        },
        indent=1,
    )


def _name(case: Row, state: str | None) -> str:
    """A name in asv's form, a path with dots; the point and the state follow."""
    where = ", ".join(filter(None, (case["preset"], point_words({**case, "state": state}))))
    return f"{case['chapter']}.{case['pattern']}.{case['variant']}({where})"


def _result(time_ns: Any, created: int | None, case: Row) -> list[Any]:
    if time_ns is None:
        return [None, [], _version(case), created]
    seconds = time_ns.to_numpy() * _SECONDS_OF_NS
    low, middle, high = (float(value) for value in np.quantile(seconds, (0.25, 0.5, 0.75)))
    duration = float(seconds.sum())
    return [[middle], [], _version(case), created, duration, [low], [high], [seconds.tolist()]]


def _version(case: Row) -> str:
    """Asv takes results of another version for those of another benchmark: so sizes are in it, and code is not."""
    return f"{case['parameters']} {case['metric']}"


def _benchmark(title: str, case: Row) -> dict[str, Any]:
    return {
        "name": title,
        "type": "time",
        "unit": "seconds",
        "params": [],
        "param_names": [],
        "version": _version(case),
        "code": f"{case['source']}: {case['variant']} ({case['role']}) of {case['pattern']}, metric {case['metric']}",
    }


def _machine(run: Run, device: Row) -> dict[str, Any]:
    """The device is the machine: times of two devices must not be one history."""
    host = run.manifest.get("machine") or {}
    cores = host.get("logical_cores")
    return {
        "machine": re.sub(r"\W+", "-", f"{device.get('device_class')} {device.get('name')}").strip("-"),
        "os": host.get("operating_system") or "",
        "arch": "",
        "cpu": host.get("cpu_model") or "",
        "num_cpu": str(cores) if cores else "",
        "ram": "",
    }


def _timestamp(text: str | None) -> int | None:
    """Milliseconds since 1970, as JavaScript has them."""
    return None if text is None else math.floor(1000 * datetime.fromisoformat(text).timestamp())


def render_github_action_benchmark(run: Run) -> str:
    """For ``tool: customSmallerIsBetter``: the median time of each case and state with half the width of its interval.

    Those without a time are left out.
    """
    devices, cases = by_place(run.devices), {case["case_id"]: case for case in rows(run.cases)}
    found = [cases[row["case_id"]] | row for row in rows(run.summaries)]
    return _as_json(
        _entry(
            _history_name(row, devices), "ns", row["median_ns"], (row["low_ns"], row["high_ns"]), f"{row['n']} samples"
        )
        for row in found
    )


def render_github_action_speedups(run: Run) -> str:
    """For ``tool: customBiggerIsBetter``: each pair's speed-up with half the width of its interval, and its answer.

    What slows a whole machine is not in them: both sides of a pair were sampled side by side. A variant is there once
    a baseline.
    """
    devices = by_place(run.devices)
    pairs = {_history_name(row, devices, f" over {row['baseline']}"): row for row in rows(run.pairs)}
    return _as_json(
        _entry(title, "x", row["speedup"], (row["speedup_low"], row["speedup_high"]), str(row["answer"]))
        for title, row in pairs.items()
    )


def _history_name(row: Row, devices: Mapping[Any, Row], against: str = "") -> str:
    """The name of a history: a variant at one point, in one state of the caches, on one device."""
    device = devices.get(place(row), {}).get("name") or row["device"]
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
