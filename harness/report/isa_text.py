"""The table ``isa`` for the terminal, and as JSON."""

from __future__ import annotations

import io
import json
import shutil
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.isa.collect import Missing
from harness.isa.table import Entry, row

# Heading, and the columns of the table that stand under it, joined by a slash.
COLUMNS = (
    ("SIMD", ("simd_width",)),
    ("GRF", ("grf_count",)),
    ("spill", ("spill_bytes",)),
    ("private", ("private_bytes",)),
    ("SLM", ("slm_bytes",)),
    ("instr.", ("instructions",)),
    ("float", ("instructions_float",)),
    ("int", ("instructions_int",)),
    ("64-bit", ("instructions_int64", "instructions_int64_emulation")),
    ("global", ("loads_global", "stores_global", "atomics_global")),
    ("SLM msg.", ("loads_slm", "stores_slm", "atomics_slm")),
    ("scratch", ("loads_scratch", "stores_scratch")),
)
LEGEND = (
    "spill and private: bytes of a hardware thread; SLM: bytes of a work-group; 64-bit: native/emulation; "
    "messages: loads/stores/atomics"
)


def as_json(entries: Sequence[Entry], missing: Sequence[Missing]) -> str:
    """The rows as a list of objects, and the variants that have no kernel."""
    return json.dumps(
        {
            "rows": [row(entry) for entry in entries],
            "missing": [{"pattern": m.pattern, "variant": m.variant, "reason": m.reason} for m in missing],
        },
        indent=2,
    )


def as_text(entries: Sequence[Entry], missing: Sequence[Missing], width: int | None = None) -> str:
    """A table a pattern, then what could not be compiled and why."""
    buffer = io.StringIO()
    size = width or max(100, shutil.get_terminal_size((130, 24)).columns)
    console = Console(file=buffer, width=size, force_terminal=False)
    for pattern, group in groupby(entries, key=lambda entry: entry.launch.pattern):
        good = [entry for entry in group if entry.status == "ok"]
        if good:
            console.print(Text(f"{good[0].launch.chapter} / {pattern}"))
            console.print(_table(good, size))
    console.print(Text(LEGEND))
    for line in failures(entries) + [f"{m.pattern}/{m.variant}: {m.reason}" for m in missing]:
        console.print(Text(line))
    return buffer.getvalue().rstrip("\n")


def _table(entries: Sequence[Entry], size: int) -> Table:
    """Names are shortened where the terminal is narrow, figures never; columns without a figure are left out."""
    rows = [cells(entry) for entry in entries]
    shown = [n for n in range(len(COLUMNS)) if any(row[n] not in {"0", "-"} for row in rows)]
    figures = [("GPU", [target_name(entry) for entry in entries])]
    figures += [(COLUMNS[n][0], [row[n] for row in rows]) for n in shown]
    several = len({(e.launch.variant, e.launch.kernel) for e in entries}) > len({e.launch.variant for e in entries})
    names = [("  variant", [f"  {entry.launch.variant}" for entry in entries])]
    names += [("kernel", [entry.launch.kernel for entry in entries])] if several else []
    left = size - sum(max(map(len, (heading, *texts))) + 2 for heading, texts in figures)
    table = Table(box=None, pad_edge=False, show_edge=False)
    for heading, _ in names:
        table.add_column(heading, no_wrap=True, max_width=max(8, left // len(names) - 2))
    for heading, _ in figures:
        table.add_column(heading, justify="left" if heading == "GPU" else "right", no_wrap=True)
    for cells_of_row in zip(*(texts for _, texts in (*names, *figures)), strict=True):
        table.add_row(*cells_of_row)
    return table


def cells(entry: Entry) -> list[str]:
    """The figures of an entry under the headings of ``COLUMNS``; a dash where there are no messages of a kind."""
    values = row(entry)
    return [_joined([values[name] for name in names]) for _, names in COLUMNS]


def _joined(values: Sequence[int | None]) -> str:
    if all(value is None for value in values):
        return "-"
    if len(values) > 1 and not any(values):
        return "-"
    return "/".join(str(value or 0) for value in values)


def target_name(entry: Entry) -> str:
    """The GPU with the mode and width that were asked for."""
    target = entry.target
    mode = "" if target.grf_mode == "default" else f" {target.grf_mode} GRF"
    return f"{target.gpu}{mode}" + ("" if target.forced_simd is None else f" SIMD{target.forced_simd}")


def failures(entries: Sequence[Entry]) -> list[str]:
    """A line for each reason why kernels have no figures; the kernels are named where they are few."""
    reasons: dict[tuple[str, str, str], list[str]] = {}
    totals = Counter(entry.target.gpu for entry in entries)
    for entry in entries:
        if entry.status != "ok":
            key = (entry.target.gpu, entry.status, entry.reason)
            reasons.setdefault(key, []).append(f"{entry.launch.pattern}/{entry.launch.variant}")
    lines = []
    for (gpu, status, reason), kernels in reasons.items():
        names = "all kernels" if len(kernels) == totals[gpu] else ", ".join(dict.fromkeys(kernels))
        lines.append(f"{gpu}: {names}: {status}: {reason}")
    return lines
