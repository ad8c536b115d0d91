"""Figures of compilers for pages, measured once and kept: ``python -m tools.pages.kept_data COMMAND``.

``suite --save harness/xebench/isa/data/isa_suite.json`` compiles the whole suite for docs/generated-code.md, and its
answers to claims. The others are for docs/native-twins.md: ``twins`` compiles kernels of Python and their twins
(with ``NUMBA_SYCL_NARROW=off`` as modules of 64 bits), ``cures`` says what the compiler's cures save, on the pinned
stack, and ``times RUN`` has device times of a run on a CPU device, and what a launch pays for its limit.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from math import exp, log
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final

import click
import pandas as pd

from numba_sycl.narrow import narrow_switch
from tools.overhead import guarded_launches
from tools.pages import generated_code
from tools.pages.native_twins import COLUMNS, COUNTS, LANES, SUITE, TIMES
from xebench.cli.gpu_commands import collect_with_progress, plan_for
from xebench.cli.options import OCLOC
from xebench.cli.output import run_program, say
from xebench.isa import text as isa_text
from xebench.isa.ocloc import find_compiler
from xebench.isa.table import code_answers, compile_launches, row, targets
from xebench.patterns.registry import discover
from xebench.results import Run, load_run

ROOT: Final = Path(__file__).parents[2]
GPUS: Final = ("pvc", "dg2", "tgllp", "bmg")

#: Columns of the table ``isa`` that the page shows.
KEPT: Final = (
    *("pattern", "chapter", "variant", "role", "kernel", "gpu", "status", "reason"),
    *("simd_width", "grf_count", "spill_bytes", "private_bytes", "slm_bytes", "instructions"),
    *("loads_global", "stores_global", "atomics_global", "loads_slm", "stores_slm", "atomics_slm"),
)


@click.group()
def main() -> None:
    """Measure what pages say of compilers, and keep it."""


@main.command()
@OCLOC
@click.option("--save", type=click.Path(path_type=Path), required=True, help="File of all compilers' results.")
def suite(ocloc: str | None, save: Path) -> None:
    """Compile every kernel of the suite for every GPU, and put the figures into the file."""
    compiler = find_compiler(ocloc)
    say(compiler.label)
    plan = plan_for((), (), "smoke")
    launched = collect_with_progress(plan)
    kernels = compile_launches(launched.launches, targets(GPUS), compiler)
    rows = [{name: value for name, value in row(kernel).items() if name in KEPT} for kernel in kernels]
    done = {
        "version": compiler.version,
        "igc": compiler.igc,
        "rows": rows,
        "claims": [isa_text.plain(answer) for answer in code_answers(plan, launched, kernels)],
        "missing": [[variant.pattern, variant.variant, variant.reason] for variant in launched.missing],
    }
    earlier = json.loads(save.read_text(encoding="utf-8")) if save.is_file() else []
    save.write_text(json.dumps(merged(earlier, done), separators=(",", ":")) + "\n", encoding="utf-8")
    good = sum(figures["status"] == "ok" for figures in rows)
    say(f"{good} of {len(rows)} compiled, kept in {save}")


def merged(earlier: Sequence[Mapping[str, Any]], done: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The compilers of both, oldest first, this one in the place of its earlier result of as narrow modules."""
    others = [one for one in earlier if (one["version"], one.get("narrow")) != (done["version"], done.get("narrow"))]
    return sorted([*others, done], key=lambda compiler: [int(part) for part in compiler["version"].split(".")])


#: Columns of the table ``isa`` that the page needs.
KEPT_OF_TWINS: Final = ("pattern", "variant", "kernel", "gpu", "status", "reason", "simd_width", "instructions")


@main.command()
@OCLOC
@click.option("--keep", type=click.Path(path_type=Path), help="A folder for the assembly.")
def twins(ocloc: str | None, keep: Path | None) -> None:
    """Compile every twin and the kernel beside it for every GPU, and keep the figures."""
    pairs = [(info.name, one.name, one.against) for info in discover() for one in info.variants if one.against]
    wanted = {(pattern, variant) for pattern, *both in pairs for variant in both}
    compiler = find_compiler(ocloc)
    say(compiler.label)
    launched = collect_with_progress(plan_for(sorted({pattern for pattern, _ in wanted}), (), "smoke")).launches
    kernels = compile_launches(
        [launch for launch in launched if (launch.pattern, launch.variant) in wanted],
        targets(GPUS),
        compiler,
        keep=keep,
    )
    rows = [{name: value for name, value in row(kernel).items() if name in KEPT_OF_TWINS} for kernel in kernels]
    done = {"version": compiler.version, "igc": compiler.igc, "narrow": narrow_switch() != "off", "rows": rows}
    earlier = json.loads(COUNTS.read_text(encoding="utf-8")) if COUNTS.is_file() else []
    COUNTS.parent.mkdir(parents=True, exist_ok=True)
    COUNTS.write_text(json.dumps(merged(earlier, done), separators=(",", ":")) + "\n", encoding="utf-8")
    say(f"{sum(one['status'] == 'ok' for one in rows)} of {len(rows)} compiled, kept in {COUNTS}")


#: How a kernel is compiled, the first without any cure, and what the environment says for it.
WAYS: Final = {"plain": "off", "exact": "off", "narrow": "gpu"}
#: Ends of modules that compile: nothing stated of a launch, and all fences; numba's own ``range`` and ``//``.
WITHOUT_CURES: Final = {
    "translation.py": """
llvm14_text.state_launch = lambda text, kernel, facts: text
llvm14_text.without_freezes = lambda text: text
bounded_module = lambda text, kernel, signature, clean: ("", 0)
""",
    "integer_target.py": """
_TargetContext.refresh = SPIRVTargetContext.refresh
""",
}


def without_cures(folder: Path) -> Path:
    """A copy of the package in a folder."""
    shutil.copytree(ROOT / "harness", folder / "harness", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "benchmarks").symlink_to(ROOT / "benchmarks")
    for name, end in WITHOUT_CURES.items():
        module = folder / "harness/xebench/dpex" / name
        module.write_text(module.read_text(encoding="utf-8") + end, encoding="utf-8")
    return folder / "harness"


def counted(way: str, package: Path, program: str, gpus: Sequence[str], folder: Path) -> pd.DataFrame:
    """The table ``isa`` of the suite at smoke.

    Args:
        way: one of `WAYS`.
        package: folder from which ``xebench`` is imported.
        program: Intel's offline compiler.
        gpus: which.
        folder: folder of the table and of what is kept.
    """
    table = folder / f"{way}.csv"
    caches = {"XDG_CACHE_HOME": str(folder / "kept")} if way == "plain" else {}  # its kernels have the others' names
    environment = {**os.environ, **caches, "PYTHONPATH": str(package), "NUMBA_SYCL_NARROW": WAYS[way]}
    command = [sys.executable, "-m", "xebench", "isa", "--ocloc", program, "--gpu", ",".join(gpus)]
    subprocess.run(
        [*command, "--table", str(table), "--format", "csv"], env=environment, stdout=subprocess.DEVNULL, check=True
    )
    rows = pd.read_csv(table, keep_default_na=False)
    rows = rows[rows["status"] == "ok"]
    rows[way] = rows["instructions"].astype(float) * LANES / rows["simd_width"].astype(float)
    return rows.rename(columns={"spirv_sha256": f"{way}_sha256"})


def means(tables: Sequence[pd.DataFrame]) -> dict[str, dict[str, Any]]:
    """For each GPU, how many kernels there are, and the geometric mean of each cured way over the plain one.

    A module that is the same without the cures is not made by our compiler. Each other counts once.
    """
    place = ["pattern", "variant", "kernel", "axes", "gpu", "build_options"]
    whole, exact, narrow = (one[[*place, way, f"{way}_sha256"]] for way, one in zip(WAYS, tables, strict=True))
    both = whole.merge(exact, on=place).merge(narrow, on=place)
    both = both[both["plain_sha256"] != both["exact_sha256"]]
    both = both.drop_duplicates(["plain_sha256", "gpu", "build_options"])
    return {
        str(gpu): {"kernels": len(some), "date": date.today().isoformat()}
        | {way: exp(fmean(log(a / b) for a, b in zip(some[way], some["plain"], strict=True))) for way in list(WAYS)[1:]}
        for gpu, some in both.groupby("gpu")
    }


@main.command()
@click.option("--ocloc", "programs", multiple=True, default=("ocloc",), help="Intel's offline compiler, or several.")
def cures(programs: Sequence[str]) -> None:
    """Compile the whole suite three times, and keep the means."""
    kept = json.loads(SUITE.read_text(encoding="utf-8")) if SUITE.is_file() else {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = without_cures(folder)
        for program in programs:
            igc = find_compiler(program).igc
            gpus = [gpu for short, gpu in COLUMNS if short == generated_code.name({"igc": igc})]
            tables = [
                counted(way, plain if way == "plain" else ROOT / "harness", program, gpus, folder) for way in WAYS
            ]
            kept[igc] = means(tables)
            SUITE.write_text(json.dumps(kept) + "\n", encoding="utf-8")
            say(f"{igc}: {kept[igc]}, kept in {SUITE}")


def ratios(run: Run) -> Iterator[dict[str, Any]]:
    """Device time of each variant that has a twin over that of the twin, at each point of its axes.

    The median over blocks, in which both were sampled one after the other.
    """
    samples = run.samples[
        run.samples["state"].isin(("hot", "cold")) & run.samples["valid"] & run.samples["device_ns"].notna()
    ]
    of_case: dict[Any, Any] = {
        case: one.groupby("block")["device_ns"].median() for case, one in samples.groupby("case_id")
    }
    cases = run.cases[run.cases["status"] == "ok"]
    places = {(one.family_id, one.variant): one.case_id for one in cases.itertuples()}
    for twin in cases[cases["against"].notna()].itertuples():
        own = places.get((twin.family_id, twin.against))
        own_times, times = of_case.get(own), of_case.get(twin.case_id)
        if own_times is not None and times is not None:
            both = (own_times / times).dropna()
            if len(both):
                yield {"pattern": twin.pattern, "variant": twin.against, "ratio": median(both), "blocks": len(both)}


def of_patterns(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for each variant: the geometric mean over the points of its axes."""
    lines: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in found:
        lines.setdefault((one["pattern"], one["variant"]), []).append(one)
    return [
        {
            "pattern": pattern,
            "variant": variant,
            "ratio": exp(fmean(log(one["ratio"]) for one in points)),
            "blocks": sum(one["blocks"] for one in points),
            "points": len(points),
        }
        for (pattern, variant), points in lines.items()
    ]


@main.command()
@click.argument("run", type=click.Path(exists=True, path_type=Path))
def times(run: Path) -> None:
    """Keep what the page says of times."""
    measured = load_run(run)
    lines = of_patterns(list(ratios(measured)))
    kept = {
        "device": str(measured.devices["name"].iloc[0]).strip(),
        "preset": str(measured.cases["preset"].iloc[0]),
        "date": str(measured.manifest["created"])[:10],
        "load": float(measured.machine["load_average"].median()),
        "patterns": lines,
        "launch_ns": guarded_launches(),
    }
    TIMES.write_text(json.dumps(kept, separators=(",", ":")) + "\n", encoding="utf-8")
    say(f"{len(lines)} variants with twins, kept in {TIMES}")


if __name__ == "__main__":
    run_program(main, "python -m tools.pages.kept_data")
