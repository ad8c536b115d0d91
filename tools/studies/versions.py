"""Does `xebench ab` stay silent where code is equal, and find a variant that takes 3 % longer?

``python -m tools.studies.versions`` measures, and makes the page of what was found.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import click
import pandas as pd

from xebench.cli.options import DEVICE
from xebench.cli.output import run_program, say
from xebench.errors import XebenchError
from xebench.patterns.registry import BENCHMARKS
from xebench.report.table_forms import fill, table
from xebench.vocabulary import Outcome

#: The variant that takes 3 % longer.
LONGER_PLANTED: Final = "planted/longer"
HEADINGS: Final = (
    "condition",
    "runs",
    "pairs a run",
    "runs with a false regression",
    "by time alone",
    "the longer variant found",
    "by time alone",
    "its ratio, median",
    "half-width of its interval, median",
    "of equal pairs",
    "seconds a run",
)


def page(rows: pd.DataFrame) -> str:
    """The page.

    Args:
        rows: rows of the study: one for each run and pair.
    """
    first = rows.iloc[0]
    return fill(
        "tools.studies",
        "versions.md.j2",
        title=f"{first['on']}, {rows['created'].min()} to {rows['created'].max()}",
        budget=first["budget"],
        threshold=first["threshold"],
        patterns=rows["pattern"].nunique() - 1,
        table=table(HEADINGS, list(counts(rows)), right=set(range(1, len(HEADINGS)))),
    )


def counts(rows: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    """A row of the table for each condition."""
    name = rows["pattern"] + "/" + rows["variant"]
    width = (rows["speedup_high"] - rows["speedup_low"]) / 2 / rows["speedup"]
    told = {"gate": rows["outcome"] == Outcome.SLOWER, "time": rows["outcome_by_time"] == Outcome.SLOWER}
    rows = rows.assign(planted=name == LONGER_PLANTED, width=width, **told)
    for condition, own in rows.groupby("condition", sort=False):
        runs = own["seed"].nunique()
        equal, planted = own[~own["planted"]], own[own["planted"]]
        yield (
            condition,
            runs,
            f"{len(own) / runs:g}",
            *(f"{equal.groupby('seed')[by].any().sum()} of {runs}" for by in told),
            *(f"{planted[by].sum()} of {len(planted)}" for by in told),
            f"{1 / planted['speedup'].median():.4f}",
            f"{planted['width'].median():.2%}",
            f"{equal['width'].median():.2%}",
            f"{own.groupby('seed')['seconds'].first().median():.0f}",
        )


PLANTED: Final = Path(__file__).with_name("versions_planted.py")
#: Its line that differs between the versions, and by how much.
LINE: Final = "LONGER_STEPS = 1_000"
LONGER: Final = "LONGER_STEPS = 1_030"

#: Patterns of the suite whose two to five variants take a millisecond or less, by the device's clock, from the first
#: submission on, or on the host's.
EQUAL: Final = (
    "atomics_usm_kind", "block_io_registers", "constant_trip_count", "copy_beside_copy", "copy_directions",
    "int32_matmul_slm", "intermediates_on_device", "live_ranges", "loop_bound_by_value", "loop_fission",
    "occupancy_limits", "private_histogram", "reads_vs_writes", "slm_per_work_group", "specialized_triad",
    "split_private_array", "stencil_cacheline_utilisation", "subgroup_sizes", "tiled_matmul",
    "volatile_and_addresses",
)  # fmt: skip

_NUMBERS: Final = ("speedup", "speedup_low", "speedup_high")
CONDITIONS: Final = ("quiet", "load")
DATA: Final = "runs.csv"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--output", type=click.Path(path_type=Path), default="results/studies/compare", show_default=True)
@click.option("--runs", type=click.IntRange(1), default=20, show_default=True, help="Of each condition.")
@click.option("--condition", type=click.Choice(CONDITIONS), help="Measure this one only; both by default.")
@click.option("--budget", default="2", show_default=True, help="Sampling of each pattern.")
@click.option("--threshold", default="1%", show_default=True)
@click.option("--add", is_flag=True, help="Keep what --output holds, and add to it: the study can be made in pieces.")
@click.option("--from-data", is_flag=True, help="Measure nothing; make the page from the data in --output.")
@DEVICE
def main(output: Path, runs: int, condition: str | None, add: bool, from_data: bool, **given: str) -> None:
    """Compare 20 equal patterns, and one of which a variant takes 3 % longer, by 'xebench ab', again and again."""
    import pandas as pd

    from tools.studies import background_load

    output.mkdir(parents=True, exist_ok=True)
    data = output / DATA
    if not (add or from_data):
        data.unlink(missing_ok=True)
    for each in () if from_data else (condition,) if condition else CONDITIONS:
        for number in range(runs):
            begin = time.monotonic()
            # another load in each run, and other orders of samples
            seed = time.time_ns() % 2**32
            with background_load(seed) if each == "load" else nullcontext(), tempfile.TemporaryDirectory() as folder:
                found = list(_measured(Path(folder), seed, **given))
            kept = {"condition": each, "seed": seed, **given, "seconds": round(time.monotonic() - begin, 1)}
            rows = pd.DataFrame([{**kept, **row} for row in found])
            rows.to_csv(data, mode="a", header=not data.exists(), index=False)
            say(f"{each} {number + 1}/{runs}: {kept['seconds']} s")
    if not data.exists():
        raise XebenchError(f"{output} holds no study: run it without --from-data")
    text = page(pd.read_csv(data))
    (output / "README.md").write_text(text + "\n", encoding="utf-8")
    click.echo(text)


def _versions(folder: Path) -> tuple[Path, Path]:
    """Two copies of the suite, each with the planted pattern; in the second one of its variants takes longer."""
    made = folder / "old", folder / "new"
    for version in made:
        shutil.copytree(BENCHMARKS, version, ignore=shutil.ignore_patterns("__pycache__"))
        text = PLANTED.read_text(encoding="utf-8")
        changed = text.replace(LINE, LONGER) if version.name == "new" else text
        (version / "planted").mkdir()
        (version / "planted/planted.py").write_text(changed, encoding="utf-8")
    return made


def _measured(folder: Path, seed: int, *, budget: str, threshold: str, device: str) -> Iterator[dict[str, Any]]:
    from xebench.results import load_run
    from xebench.results.analysis.versions import compare_versions

    old, new = _versions(folder)
    command = [sys.executable, "-m", "xebench", "ab", str(old), str(new), *EQUAL, "planted", "--device", device]
    options = ["--budget", budget, "--threshold", threshold, "--seed", str(seed), "--output", str(folder / "run")]
    done = subprocess.run([*command, *options], stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise XebenchError(f"a run ended with status {done.returncode}: see above")
    run = load_run(folder / "run")
    device_line = f"{run.devices['name'].iloc[0]}, driver {run.devices['driver_version'].iloc[0]}"
    part = float(threshold.removesuffix("%")) / 100
    # as if it were not known that equal code is the same program
    blind = SimpleNamespace(**{name: getattr(run, name) for name in ("devices", "samples", "pairs")})
    blind.cases = run.cases.assign(program=None)
    for row, by_time in zip(compare_versions(run, part), compare_versions(blind, part), strict=True):
        yield {
            "created": run.manifest["created"],
            "on": device_line,
            **{name: by_time[name] for name in ("pattern", "variant", "metric", "before_n", *_NUMBERS)},
            "outcome": row["outcome"],
            "outcome_by_time": by_time["outcome"],
        }


if __name__ == "__main__":
    run_program(main, "python -m tools.studies.versions")
