"""What one execution of each variant submits, in files that a review can read: a lesson that loses its point shows.

``python tests/kits/submissions.py [PATTERN ...]`` runs patterns (all without a name) and writes their entries anew, in
the file of the stack that this Python has.

Times, addresses and sizes of data are left out. Points of a pattern (its sizes and parameters) at which a variant
submits the same share an entry.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd

import xebench
from numba_sycl.stacks import is_current
from xebench.patterns.registry import discover
from xebench.results import Run

#: Names of libraries' commands differ between the stacks.
FILE: Final = Path(__file__).parents[1] / "benchmarks" / f"submissions-{'current' if is_current() else 'pinned'}.txt"

#: A short run on the CPU device, in which only results and commands are looked at.
SHORT: Final = ("--preset=smoke", "--state=hot", "--budget=0.01", "--device=cpu")

#: How names of variants end that divide work by speeds that they measure: the machine decides what they submit.
MEASURED: Final = "by_speed"

#: A case's sizes and parameters.
Point = dict[str, Any]

#: The lines of an entry by its title, by pattern.
Submissions = dict[str, dict[str, list[str]]]


def submissions(run: Run) -> Submissions:
    """What those variants of a run submit that came out right."""
    hot = run.samples[run.samples["state"] == "hot"].drop_duplicates("case_id").set_index("case_id")
    events = dict(list(run.events[run.events["sample_id"].isin(hot["sample_id"])].groupby("sample_id")))
    found: dict[str, dict[str, dict[tuple[str, ...], list[Point]]]] = {}
    for case in run.cases[run.cases["status"] == "ok"].to_dict("records"):
        if case["variant"].endswith(MEASURED):
            continue
        sample = hot.loc[case["case_id"]]
        lines = *_sent(case, events.get(sample["sample_id"]), sample["batch"]), *_allocations(case)
        of_variant = found.setdefault(case["pattern"], {}).setdefault(case["variant"], {})
        of_variant.setdefault(lines, []).append(json.loads(case["parameters"]))
    return {pattern: _titled(variants) for pattern, variants in found.items()}


def _titled(variants: Mapping[str, Mapping[tuple[str, ...], list[Point]]]) -> dict[str, list[str]]:
    """The entries of a pattern: a variant's name, with the points where it submits something else at others."""
    titled = {}
    for variant, entries in variants.items():
        points = [point for of_entry in entries.values() for point in of_entry]
        varied = [name for name in points[0] if any(point[name] != points[0][name] for point in points)]
        for lines, of_entry in entries.items():
            where = "; ".join(" ".join(f"{name}={point[name]}" for name in varied) for point in of_entry)
            titled[variant if len(entries) == 1 else f"{variant} at {where}"] = list(lines)
    return titled


def variant_of(title: str) -> str:
    return title.partition(" at ")[0]


def _shapes(case: Mapping[Any, Any]) -> dict[str, str]:
    """How each kernel is launched, by its name."""
    shapes: dict[str, set[str]] = {}
    for kernel in json.loads(case["kernels"] or "[]"):
        group = "of the driver" if kernel["local_size"] is None else "x".join(map(str, kernel["local_size"]))
        sub_group = f", sub-group {kernel['sub_group_size']}" if kernel["sub_group_size"] else ""
        slm = f", {kernel['local_bytes']} bytes of SLM" if kernel["local_bytes"] else ""
        shapes.setdefault(kernel["name"], set()).add(f"work-group {group}{sub_group}{slm}")
    return {name: "; ".join(sorted(found)) for name, found in shapes.items()}


def _sent(case: Mapping[Any, Any], events: pd.DataFrame | None, batch: float) -> list[str]:
    shapes = _shapes(case)
    if events is None:  # of what is not timed by the device
        return [f"kernel {name}: {shape}" for name, shape in sorted(shapes.items())]
    commands = [_command(shapes, *row) for row in events[["kind", "name", "route"]].itertuples(index=False)]
    executions = 1 if pd.isna(batch) else int(batch)
    queues = events["queue"].nunique()
    counted = [f"{commands.count(command) / executions:g} {command}" for command in sorted(set(commands))]
    return counted + ([f"{queues} queues"] if queues > 1 else [])


def _command(shapes: Mapping[str, str], kind: str, name: Any, route: Any) -> str:
    if kind == "kernel":
        return f"kernel {name}: {shapes[name]}" if name in shapes else f"kernel {name}"
    detail = name if kind == "library" else route
    return kind if pd.isna(detail) else f"{kind} {detail}"


def _allocations(case: Mapping[Any, Any]) -> list[str]:
    count = json.loads(case["traced"] or "{}").get("allocations")
    return [f"{count} allocations"] if count else []


def expected() -> Submissions:
    """The entries of the file."""
    found: Submissions = {}
    entries: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else ():
        text = line.strip()
        if not line.startswith(" "):
            found[text] = entries = {}
        elif not line.startswith("    "):
            entries[text] = lines = []
        else:
            lines.append(text)
    return found


def as_text(entries: Mapping[str, Sequence[str]]) -> str:
    """The entries of a pattern as they stand in the file, below its name."""
    return "".join(
        f"  {title}\n" + "".join(f"    {line}\n" for line in lines) for title, lines in sorted(entries.items())
    )


def renew(found: Submissions) -> str:
    """The file's text with new entries; those of what was not found stay, where the project still has it."""
    before, text = expected(), ""
    for info in sorted(discover(), key=lambda info: info.name):
        new = found.get(info.name, {})
        lacking = {variant.name for variant in info.variants} - {variant_of(title) for title in new}
        old = {title: lines for title, lines in before.get(info.name, {}).items() if variant_of(title) in lacking}
        if entries := new | old:
            text += f"{info.name}\n{as_text(entries)}"
    return text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        options = *SHORT, "--output", f"{folder}/run", "--quiet"
        subprocess.run([sys.executable, "-m", "xebench", "run", *sys.argv[1:], *options], check=False)
        FILE.write_text(renew(submissions(xebench.load_run(f"{folder}/run"))), encoding="utf-8")
