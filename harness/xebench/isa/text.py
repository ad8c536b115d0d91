"""The table ``isa`` for the terminal, as JSON, and as one HTML file with the assembly of two variants side by side."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any, Final

import msgspec
from rich.table import Table

from xebench.isa.collect import VariantWithoutKernel
from xebench.isa.compilation import Target
from xebench.isa.kernel_code import KernelOnGpu, KernelPair, ListingLine, compare, side_by_side
from xebench.isa.table import CodeAnswer, describe_sides, row
from xebench.report import claims_text
from xebench.report.console import draw, plain_table, terminal_width
from xebench.report.table_forms import fill

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
ROWS: Final = "rows"
SHOWN: Final = (
    *("pattern", "variant", "axes", "kernel", "gpu", "grf_mode", "forced_simd"),
    *(name for _, names in COLUMNS for name in names),
    *("status", "reason"),
)
LEGEND = (
    "spill and private: bytes of a hardware thread; SLM: bytes of a work-group; 64-bit: native/emulation; "
    "messages: loads/stores/atomics"
)


def as_json(
    kernels: Sequence[KernelOnGpu], missing: Sequence[VariantWithoutKernel], answers: Sequence[CodeAnswer] = ()
) -> str:
    """The rows as a list of objects, the variants that have no kernel, and the answers to claims on generated code."""
    content = {
        "rows": [row(kernel) for kernel in kernels],
        "missing": [asdict(variant) for variant in missing],
        "claims": [plain(answer) for answer in answers],
    }
    return json.dumps(content, indent=2)


def plain(answer: CodeAnswer) -> dict[str, Any]:
    """An answer with its claim and its target as plain data."""
    target = asdict(answer.target)
    named = ("pattern", "variant", "axes", "number", "against_number", "answer", "reason", "both_sides")
    return {
        **{name: getattr(answer, name) for name in named},
        **{name: target[name] for name in ("gpu", "grf_mode", "forced_simd")},
        "claim": msgspec.to_builtins(answer.claim),
    }


def as_text(
    kernels: Sequence[KernelOnGpu],
    missing: Sequence[VariantWithoutKernel],
    answers: Sequence[CodeAnswer] = (),
    width: int | None = None,
) -> str:
    """A table a pattern, the answers to claims on generated code, then what could not be compiled and why."""
    width = width or terminal_width(100, elsewhere=130)
    return draw(_parts(kernels, missing, answers, width), width)


def _parts(
    kernels: Sequence[KernelOnGpu],
    missing: Sequence[VariantWithoutKernel],
    answers: Sequence[CodeAnswer],
    width: int,
) -> Iterator[str | Table]:
    for pattern, group in groupby(kernels, key=lambda kernel: kernel.launch.pattern):
        compiled = [kernel for kernel in group if kernel.status == "ok"]
        if compiled:
            yield f"{compiled[0].launch.chapter} / {pattern}"
            yield _table(compiled, width)
    yield LEGEND
    yield from claims(answers)
    yield from failures(kernels)
    yield from (f"{variant.pattern}/{variant.variant}: {variant.reason}" for variant in missing)


def _table(kernels: Sequence[KernelOnGpu], width: int) -> Table:
    """Names are shortened where the terminal is narrow, figures never; columns without a figure are left out."""
    rows = [cells(kernel) for kernel in kernels]
    shown = [n for n in range(len(COLUMNS)) if any(row[n] not in {"0", "-"} for row in rows)]
    figures = [("GPU", [target_name(kernel.target) for kernel in kernels])]
    figures += [(COLUMNS[n][0], [row[n] for row in rows]) for n in shown]
    names = [("  variant", [f"  {kernel.launch.variant}" for kernel in kernels])]
    if len({(k.launch.variant, k.launch.kernel) for k in kernels}) > len({k.launch.variant for k in kernels}):
        names.append(("kernel", [kernel.launch.kernel for kernel in kernels]))
    left = width - sum(max(map(len, (heading, *texts))) + 2 for heading, texts in figures)
    table = plain_table()
    for heading, _ in names:
        table.add_column(heading, no_wrap=True, max_width=max(8, left // len(names) - 2))
    for heading, _ in figures:
        table.add_column(heading, justify="left" if heading == "GPU" else "right", no_wrap=True)
    for cells_of_row in zip(*(texts for _, texts in (*names, *figures)), strict=True):
        table.add_row(*cells_of_row)
    return table


def cells(kernel: KernelOnGpu) -> list[str]:
    """The figures of a kernel under the headings of ``COLUMNS``; a dash where there are no messages of a kind."""
    values = row(kernel)
    return [_joined([values[name] for name in names]) for _, names in COLUMNS]


def _joined(values: Sequence[int | None]) -> str:
    if all(value is None for value in values) or (len(values) > 1 and not any(values)):
        return "-"
    return "/".join(str(value or 0) for value in values)


def claims(answers: Sequence[CodeAnswer]) -> list[str]:
    """A line for each claim on a GPU: the answer, the claim, and figures of both sides; the point where it matters."""
    points: dict[tuple[str, str], set[str]] = {}
    for answer in answers:
        points.setdefault((answer.pattern, answer.variant), set()).add(answer.axes)
    return [
        f"{answer.answer}: {answer.pattern}/{answer.variant}, {target_name(answer.target)}: "
        f"{claims_text.describe_claim(answer.claim)} [{claims_text.claim_source(answer.claim)}]: {answer.reason}"
        + (f"; {describe_sides(answer.both_sides)}" if answer.both_sides else "")
        + (f" at {answer.axes}" if len(points[answer.pattern, answer.variant]) > 1 else "")
        for answer in answers
    ]


def target_name(target: Target) -> str:
    """The GPU with the requested mode and width."""
    mode = "" if target.grf_mode == "default" else f" {target.grf_mode} GRF"
    return f"{target.gpu}{mode}" + ("" if target.forced_simd is None else f" SIMD{target.forced_simd}")


def failures(kernels: Sequence[KernelOnGpu]) -> list[str]:
    """A line for each reason why kernels have no figures; the kernels are named where they are few."""
    by_reason: dict[tuple[str, str, str], list[str]] = {}
    totals = Counter(kernel.target.gpu for kernel in kernels)
    for kernel in kernels:
        if kernel.status != "ok":
            failure = (kernel.target.gpu, kernel.status, kernel.reason)
            by_reason.setdefault(failure, []).append(f"{kernel.launch.pattern}/{kernel.launch.variant}")
    lines = []
    for (gpu, status, reason), names in by_reason.items():
        whose = "all kernels" if len(names) == totals[gpu] else ", ".join(dict.fromkeys(names))
        lines.append(f"{gpu}: {whose}: {status}: {reason}")
    return lines


# A listing longer than this is cut: the page stays usable, the files of --keep have the rest.
MAX_LINES = 1200
CONTEXT = 3


def as_html(
    kernels: Sequence[KernelOnGpu],
    pairs: Sequence[KernelPair],
    missing: Sequence[VariantWithoutKernel],
    answers: Sequence[CodeAnswer] = (),
) -> str:
    """The whole page."""
    patterns = [
        {
            "name": name,
            "chapter": members[0].launch.chapter,
            "rows": [
                {"kernel": k, "target": target_name(k.target), "cells": cells(k)} for k in members if k.status == "ok"
            ],
            "claims": claims([answer for answer in answers if answer.pattern == name]),
            "pairs": [_pair(pair) for pair in pairs if pair.either.launch.pattern == name],
        }
        for name, group in groupby(kernels, key=lambda kernel: kernel.launch.pattern)
        for members in [list(group)]
    ]
    return fill(
        "xebench.isa",
        "isa.html.j2",
        compilers=sorted({kernel.compiler.label for kernel in kernels}),
        headings=[heading for heading, _ in COLUMNS],
        legend=LEGEND,
        patterns=patterns,
        failures=failures(kernels),
        missing=missing,
    )


def _pair(pair: KernelPair) -> dict[str, Any]:
    before, after = pair.before, pair.after
    view: dict[str, Any] = {
        "pair": pair,
        "target": target_name(pair.either.target),
        "changes": [],
        "lines": [],
        "cut": 0,
    }
    if before and after and before.code and after.code:
        lines = folded(side_by_side(before.code, after.code))
        view["changes"] = compare(before, after)
        view["lines"], view["cut"] = lines[:MAX_LINES], max(0, len(lines) - MAX_LINES)
    return view


def folded(lines: Sequence[ListingLine], context: int = CONTEXT) -> list[ListingLine]:
    """The lines, with many equal ones in a row replaced by one that counts them."""
    result: list[ListingLine] = []
    for same, group in groupby(lines, key=lambda line: line.tag == "same"):
        block = list(group)
        if same and len(block) > 2 * context + 1:
            hidden = len(block) - 2 * context
            note = ListingLine("folded", f"... {hidden} alike ...", f"... {hidden} alike ...")
            block = [*block[:context], note, *block[-context:]]
        result += block
    return result
