"""Code that Intel's GPU compilers generate for the suite's kernels: a page of findings, and one with all figures.

``python -m tools.pages.generated_code`` writes docs/generated-code.md and results/studies/generated-code.md from
``isa_suite.json``. ``python -m tools.pages.kept_data suite --save harness/xebench/isa/data/isa_suite.json`` fills
that file, a compiler at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
import pandas as pd

from xebench.cli.output import run_program
from xebench.report.page.code import read
from xebench.report.table_forms import fill, table

Row = Mapping[str, Any]

#: GPUs whose figures are shown; the others are counted.
SHOWN: Final = ("pvc", "dg2")

#: What names a kernel of the suite. Kernels that differ in constants alone share it.
_KERNEL: Final = ["pattern", "variant", "kernel"]


def markdown(compilers: Sequence[Mapping[str, Any]]) -> str:
    """The page of what was found."""
    found = _compiled(compilers)
    names = [name(compiler) for compiler in compilers]
    return fill(
        "tools.pages",
        "generated_code.md.j2",
        older=names[0],
        newer=names[-1],
        summary=_summary(found),
        ratios=_ratios(found, names[0], names[-1]),
        chapters=_chapters(found, names[0], names[-1]),
        spills=_spills(found, names),
        compilers=_compilers(compilers),
    )


def kernels_markdown(compilers: Sequence[Mapping[str, Any]]) -> str:
    """The page of every kernel's figures."""
    patterns = dict.fromkeys((row["chapter"], row["pattern"]) for compiler in compilers for row in compiler["rows"])
    return fill(
        "tools.pages",
        "generated_kernels.md.j2",
        patterns=patterns,
        kernels=lambda pattern: kernels(compilers, pattern),
    )


def _compiled(compilers: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The kernels that were compiled, with the compiler's name, and which of equal names each one is (``place``)."""
    found = pd.concat([pd.DataFrame(each["rows"]).assign(compiler=name(each)) for each in compilers], ignore_index=True)
    found["place"] = found.groupby(["compiler", "gpu", *_KERNEL]).cumcount()
    return found[found["status"] == "ok"]


def _summary(found: pd.DataFrame) -> list[str]:
    cells = [
        (
            compiler,
            gpu,
            len(own),
            *(int((own["simd_width"] == width).sum()) for width in (32, 16, 8)),
            int((own["spill_bytes"] > 0).sum()),
            int((own["private_bytes"] > 0).sum()),
            f"{own['instructions'].median():g}",
        )
        for (compiler, gpu), own in found.groupby(["compiler", "gpu"], sort=False)
    ]
    widths = ("SIMD 32", "SIMD 16", "SIMD 8")
    headings = ("compiler", "GPU", "kernels", *widths, "spill", "private memory", "instr., median")
    return table(headings, cells, right=range(2, len(headings)))


def _both(found: pd.DataFrame, older: str, newer: str) -> pd.DataFrame:
    """Kernels that both compilers compiled, a row each, with the ratio of their instructions."""
    first, second = (found[found["compiler"] == each] for each in (older, newer))
    both = first.merge(second, on=["gpu", "chapter", *_KERNEL, "place"], suffixes=("_older", "_newer"))
    return both.assign(ratio=both["instructions_newer"] / both["instructions_older"])


def _ratios(found: pd.DataFrame, older: str, newer: str) -> list[str]:
    cells = [
        (
            gpu,
            len(own),
            _mean_ratio(own),
            int((own["ratio"] > 1).sum()),
            int((own["ratio"] < 1).sum()),
            int((own["simd_width_older"] != own["simd_width_newer"]).sum()),
        )
        for gpu, own in _both(found, older, newer).groupby("gpu", sort=False)
    ]
    headings = ("GPU", "kernels", "instr., ratio", "more", "fewer", "other SIMD width")
    return table(headings, cells, right=range(1, len(headings)))


def _chapters(found: pd.DataFrame, older: str, newer: str) -> list[str]:
    both = _both(found, older, newer)
    cells = [
        (chapter, own["pattern"].nunique(), *(_mean_ratio(own[own["gpu"] == gpu]) for gpu in SHOWN))
        for chapter, own in both.groupby("chapter", sort=False)
    ]
    return table(("chapter", "patterns", *(f"{gpu}, ratio" for gpu in SHOWN)), cells, right=range(1, 2 + len(SHOWN)))


def _mean_ratio(rows: pd.DataFrame) -> str:
    return f"{np.exp(np.log(rows['ratio']).mean()):.2f}" if len(rows) else "-"


def _spills(found: pd.DataFrame, names: Sequence[str]) -> list[str]:
    spilled = found[(found["spill_bytes"] > 0) & found["gpu"].isin(SHOWN)]
    most = spilled.groupby(["pattern", "gpu", "compiler"])["spill_bytes"].max()
    cells = [
        (f"`{pattern}`", *(_bytes(most.get((pattern, gpu, each))) for gpu in SHOWN for each in names))
        for pattern in spilled["pattern"].unique()
    ]
    headings = ("pattern", *(f"{gpu}, {each}" for gpu in SHOWN for each in names))
    return table(headings, cells, right=range(1, len(headings)))


def _bytes(number: float | None) -> str:
    return "-" if number is None else f"{number:,.0f}"


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
        yield f"- **{name(compiler)}**: ocloc {compiler['version']} ({compiler['igc']}). Kernels compiled: {counts}."
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


@click.command()
@click.option("--page", type=click.Path(path_type=Path), default="docs/generated-code.md", show_default=True)
@click.option(
    "--kernels",
    "figures",
    type=click.Path(path_type=Path),
    default="results/studies/generated-code.md",
    show_default=True,
)
def main(page: Path, figures: Path) -> None:
    """Write the page of what was found, and that of every kernel's figures."""
    kept = read()
    page.write_text(markdown(kept), encoding="utf-8")
    figures.write_text(kernels_markdown(kept), encoding="utf-8")


if __name__ == "__main__":
    run_program(main, "python -m tools.pages.generated_code")
