"""What the cures of the compiler save in the whole suite, kept for docs/native-twins.md.

``python -m tools.pages.native_twins_suite [--ocloc PATH]...``, on the pinned stack. ``xebench isa`` compiles the suite
three times: by a copy of the package without the cures, with those of every launch, and with indices in 32 bits.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import date
from math import exp, log
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import click
import pandas as pd

from tools.pages import generated_code
from tools.pages.native_twins import COLUMNS, LANES, SUITE
from xebench.cli.output import run_program, say
from xebench.isa.ocloc import find_compiler

ROOT: Final = Path(__file__).parents[2]
#: How a kernel is compiled, the first without any cure, and what the environment says for it.
WAYS: Final = {"plain": "off", "exact": "off", "narrow": "gpu"}
#: Ends the module that compiles: numba's own ``range`` and ``//``, nothing stated of a launch, and all fences.
WITHOUT_CURES: Final = """
llvm_text.state_launch = lambda text, kernel, facts: text
llvm_text.without_freezes = lambda text: text
settled_module = lambda text, kernel, signature: ""
narrow_module = lambda text, kernel, signature: ("", 0)
_refresh = BaseContext.refresh
"""


def without_cures(folder: Path) -> Path:
    """A copy of the package in a folder."""
    shutil.copytree(ROOT / "harness", folder / "harness", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "benchmarks").symlink_to(ROOT / "benchmarks")
    compiler = folder / "harness/xebench/dpex/numba_compiler.py"
    compiler.write_text(compiler.read_text(encoding="utf-8") + WITHOUT_CURES, encoding="utf-8")
    return folder / "harness"


def counted(way: str, package: Path, program: str, gpus: Sequence[str], folder: Path) -> pd.DataFrame:
    """The table ``isa`` of the suite at smoke.

    Args:
        way: of `WAYS`.
        package: where ``xebench`` is imported from.
        program: Intel's offline compiler.
        gpus: which.
        folder: for the table and for what is kept.
    """
    table = folder / f"{way}.csv"
    caches = {"XDG_CACHE_HOME": str(folder / "kept")} if way == "plain" else {}  # its kernels have the others' names
    environment = {**os.environ, **caches, "PYTHONPATH": str(package), "XEBENCH_NARROW": WAYS[way]}
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


@click.command()
@click.option("--ocloc", "programs", multiple=True, default=("ocloc",), help="Intel's offline compiler, or several.")
def main(programs: Sequence[str]) -> None:
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


if __name__ == "__main__":
    run_program(main, "python -m tools.pages.native_twins_suite")
