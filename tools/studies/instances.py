"""How far is one instance from the others of its family? ``python -m tools.studies.instances RUN ...``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import numpy as np

from xebench.cli.output import run_program
from xebench.report.table_forms import table
from xebench.report.units import percent
from xebench.results import Run, load_run
from xebench.results.analysis.intervals import counted_groups
from xebench.results.analysis.pairs import measured_pairs
from xebench.vocabulary import Status

#: Fewest instances of a pair whose mean is compared with one of them.
FEWEST: Final = 3

QUANTILES: Final = (0.5, 0.9, 0.95, 0.99)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("runs", type=click.Path(path_type=Path, exists=True), nargs=-1, required=True)
def main(runs: tuple[Path, ...]) -> None:
    """Print by which part the speed-up of an instance differs from that of the others, for all pairs of some runs."""
    headings = ("run", "device", "instances", *(f"{part:.0%} stay below" for part in QUANTILES))
    click.echo("\n".join(table(headings, map(_row, runs), right={*range(2, len(headings))})))


def _row(folder: Path) -> tuple[object, ...]:
    run = load_run(folder)
    apart = np.expm1([*_apart(run)])
    known = (percent(float(part)) for part in np.quantile(apart, QUANTILES))
    return folder.name, ", ".join(run.devices["device_class"].unique()), apart.size, *known


def _apart(run: Run) -> Iterator[float]:
    """The distance of each instance's log speed-up from the mean of its family's other instances."""
    for pair in measured_pairs(run.cases, run.samples, run.devices):
        medians = np.array([np.median(group) for group in counted_groups(pair.ratios)])
        if {pair.baseline["status"], pair.case["status"]} == {Status.OK} and medians.size >= FEWEST:
            yield from np.abs(medians - (medians.sum() - medians) / (medians.size - 1))


if __name__ == "__main__":
    run_program(main, "python -m tools.studies.instances")
