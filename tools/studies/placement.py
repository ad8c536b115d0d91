"""Do equal kernels look different because of where they lie in memory? ``python -m tools.studies.placement``."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click

from xebench.cli.options import DEVICE
from xebench.cli.output import run_program
from xebench.errors import XebenchError
from xebench.report.table_forms import fill, table

EQUAL: Final = Path(__file__).with_name("placement_patterns.py")
NAMES: Final = (
    *("equal_short", "equal_middle", "equal_long", "equal_span", "equal_wall"),
    *("scratch_wall", "scratch_device", "scratch_dpnp", "scratch_host"),
)
#: Instances of a family: one, as every tool has it that measures in one process; six; and as many as xebench needs.
INSTANCES: Final = (1, 6, None)
HEADINGS: Final = (
    "instances",
    "pattern",
    "pairs",
    "taken, mean",
    "false alarms",
    "excludes 1",
    "inconclusive",
    "spread",
    "half-width, median",
)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--output", type=click.Path(path_type=Path), default="results/studies/placement", show_default=True)
@DEVICE
@click.option("--budget", default=2.0, show_default=True, help="Seconds for each pair.")
def main(output: Path, device: str, budget: float) -> None:
    """Compare equal kernels by 'xebench run', with one instance of each pair and with several; about twenty minutes."""
    import pandas as pd

    from xebench.report.result_rows import device_line

    rows: list[dict[str, Any]] = []
    title = ""
    for instances in INSTANCES:
        with tempfile.TemporaryDirectory() as folder:
            run = _measure(Path(folder) / "run", device, budget, instances)
            rows += _tally(run, instances)
            title = f"{device_line(run)}, {run.manifest['created']}"
    output.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(output / "pairs.csv", index=False)
    lines = table(HEADINGS, _rows(pd.DataFrame(rows)), right={0, *range(2, len(HEADINGS))})
    values = {"title": title, "budget": f"{budget:g}", "table": lines}
    text = fill("tools.studies", "placement.md.j2", **values)
    (output / "README.md").write_text(text + "\n", encoding="utf-8")
    click.echo(text)


def _measure(folder: Path, device: str, budget: float, instances: int | None) -> Any:
    from xebench.results import load_run

    command = [sys.executable, "-m", "xebench", "run", *NAMES, "--path", str(EQUAL), "--device", device]
    wanted = [] if instances is None else ["--instances", str(instances)]
    options = ["--budget", str(budget), *wanted, "--output", str(folder)]
    done = subprocess.run([*command, *options], stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise XebenchError(f"the run with {_words(instances)} instances ended with status {done.returncode}: see above")
    return load_run(folder)


def _words(instances: int | None) -> str:
    return "as needed" if instances is None else "1" if instances == 1 else f"at least {instances}"


def _tally(run: Any, instances: int | None) -> Iterator[dict[str, Any]]:
    kept = ("pattern", "parameters", "speedup", "speedup_low", "speedup_high", "blocks", "outcome")
    for row in run.pairs.to_dict("records"):
        yield {
            "wanted_instances": _words(instances),
            "instances": row["instances"],
            **{name: row[name] for name in kept},
        }


def _rows(rows: Any) -> Iterator[tuple[object, ...]]:
    for (wanted, pattern), pairs in rows.groupby(["wanted_instances", "pattern"], sort=False):
        excluded = (pairs["speedup_low"] > 1) | (pairs["speedup_high"] < 1)
        yield (
            wanted,
            pattern,
            len(pairs),
            f"{pairs['instances'].mean():.1f}",
            f"{pairs['outcome'].isin(['faster', 'slower']).mean():.0%}",
            f"{excluded.mean():.0%}",
            f"{(pairs['outcome'] == 'inconclusive').mean():.0%}",
            f"{pairs['speedup'].std():.2%}",
            f"{((pairs['speedup_high'] - pairs['speedup_low']) / 2).median():.2%}",
        )


if __name__ == "__main__":
    run_program(main, "python -m tools.studies.placement")
