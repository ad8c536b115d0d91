"""What Intel's GPU compilers make of the suite's kernels, as a page.

``python -m tools.pages.generated_code > docs/generated-code.md``, from ``data/isa_suite.json``, which
``python -m tools.pages.generated_code_data --save harness/xebench/isa/data/isa_suite.json`` fills, a compiler at a
time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import resources
from itertools import groupby
from typing import Any, Final

from xebench.report.markdown_table import table
from xebench.report.templates import fill

Row = Mapping[str, Any]

#: GPUs whose figures are shown; the others are counted.
SHOWN: Final = ("pvc", "dg2")


def read() -> list[Mapping[str, Any]]:
    """The kept results, a compiler each, oldest first."""
    text = resources.files("xebench.isa").joinpath("data/isa_suite.json").read_text(encoding="utf-8")
    data: list[Mapping[str, Any]] = json.loads(text)
    return data


def markdown(compilers: Sequence[Mapping[str, Any]]) -> str:
    """The page."""
    patterns = dict.fromkeys((row["chapter"], row["pattern"]) for compiler in compilers for row in compiler["rows"])
    lines = {"compilers": _compilers(compilers), "kernels": lambda pattern: kernels(compilers, pattern)}
    return fill("tools.pages", "generated_code.md.j2", patterns=patterns, **lines)


def kernels(compilers: Sequence[Mapping[str, Any]], pattern: str) -> list[str]:
    """The table of a pattern's kernels; nothing where none was compiled."""
    own = [
        {**row, "compiler": name(compiler)}
        for compiler in compilers
        for row in compiler["rows"]
        if row["pattern"] == pattern
    ]
    return table(HEADINGS, _kernels(own), right=range(3, len(HEADINGS))) if own else []


def name(compiler: Mapping[str, Any]) -> str:
    """A compiler's short name: that of its code generator, ``IGC 1``."""
    return f"IGC {compiler['igc'].partition('.so.')[2].partition('.')[0] or '?'}"


def _compilers(compilers: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for compiler in compilers:
        rows = compiler["rows"]
        gpus = list(dict.fromkeys(row["gpu"] for row in rows))
        counts = ", ".join(
            f"{gpu} {sum(r['status'] == 'ok' for r in rows if r['gpu'] == gpu)} of {sum(r['gpu'] == gpu for r in rows)}"
            for gpu in gpus
        )
        yield (
            f"- **{name(compiler)}**: ocloc {compiler['version']} ({compiler['igc']}). Kernels compiled: {counts}; "
            f"{compiler['seconds']} s with nothing cached."
        )
        reasons = Counter((row["gpu"], row["status"], row["reason"]) for row in rows if row["status"] != "ok")
        yield from (f"    - {gpu}: {count} {status}: {reason}" for (gpu, status, reason), count in reasons.items())


def _kernels(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """A line for each kernel, or for each compiler where their figures differ."""
    for (variant, kernel), group in groupby(
        sorted(rows, key=_order(rows)), lambda row: (row["variant"], row["kernel"])
    ):
        by_figures: dict[tuple[str, ...], list[str]] = {}
        for compiler, own in groupby(group, lambda row: row["compiler"]):
            by_figures.setdefault(tuple(_cells(list(own))), []).append(compiler)
        for cells, names in by_figures.items():
            yield variant, kernel, " and ".join(names), *cells


def _order(rows: Sequence[Row]) -> Any:
    place = {key: n for n, key in enumerate(dict.fromkeys((row["variant"], row["kernel"]) for row in rows))}
    return lambda row: (place[row["variant"], row["kernel"]], row["compiler"])


def _cells(rows: Sequence[Row]) -> Iterator[str]:
    """The figures of one kernel by one compiler, GPU after GPU."""
    by_gpu = {row["gpu"]: row for row in rows}
    for gpu in SHOWN:
        row = by_gpu.get(gpu)
        if row is None or row["status"] != "ok":
            yield from ["-" if row is None else row["status"], *["-"] * (len(COLUMNS) - 1)]
        else:
            yield from (figure(row) for figure in COLUMNS.values())


def _messages(row: Row, space: str) -> str:
    counts = [row[f"{kind}_{space}"] for kind in ("loads", "stores", "atomics")]
    return "/".join(map(str, counts)) if any(counts) else "-"


#: What is shown of a kernel on a GPU, by heading.
COLUMNS: Final[Mapping[str, Callable[[Row], str]]] = {
    "SIMD": lambda row: str(row["simd_width"]),
    "mem.": lambda row: str(row["spill_bytes"] + row["private_bytes"]),
    "instr.": lambda row: str(row["instructions"]),
    "global": lambda row: _messages(row, "global"),
    "SLM": lambda row: _messages(row, "slm"),
}

HEADINGS: Final = ("variant", "kernel", "compiler", *(f"{gpu} {what}" for gpu in SHOWN for what in COLUMNS))


if __name__ == "__main__":
    print(markdown(read()), end="")
