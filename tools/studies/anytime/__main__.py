"""Run the study: ``python -m tools.studies.anytime RUN``, or without a run on made-up families."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import click

from xebench.cli.output import run_program
from xebench.errors import XebenchError
from xebench.report.table_forms import table

HEADINGS: Final = ("minutes", "families visited", "claims answered", "undecided", "half-width, median")
PLANS: Final = ("with a plan", "in turn")
RESULTS: Final = ("right", "false", "undecided", "not visited")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option("--moments", default=10, show_default=True, help="Parts of the run's time that are looked at.")
@click.option("--repeat", default=50, show_default=True, help="Made-up runs, when no RUN is given.")
def main(run: Path | None, moments: int, repeat: int) -> None:
    """How many claims are answered, and how wide intervals are, against the minutes of RUN.

    Without RUN: 120 made-up families of known speed-ups, visited for nine minutes as 'run --run-budget' plans it, and
    in turn.
    """
    lines = _made_up(repeat) if run is None else _replayed(run, moments)
    click.echo("\n".join(lines))


def _replayed(folder: Path, count: int) -> list[str]:
    from tools.studies.anytime.replay import moments
    from xebench.tables import load_run

    run = load_run(folder)
    begin, end = (run.manifest.get(name) for name in ("created", "finished"))
    if not end or run.manifest.get("resumed") or run.samples.empty:
        raise XebenchError(f"{folder} was not measured in one session that has ended: measure a run without --resume")
    minutes = (datetime.fromisoformat(str(end)) - datetime.fromisoformat(str(begin))).total_seconds() / 60
    return table(HEADINGS, (_row(moment) for moment in moments(run, minutes, count)), right={*range(len(HEADINGS))})


def _row(moment: Any) -> tuple[object, ...]:
    return (
        f"{moment.minutes:.1f}",
        moment.visited,
        moment.answered,
        moment.undecided,
        f"{moment.half_width:.1%}",
    )


def _made_up(repeat: int) -> list[str]:
    return table(("families", "visited", *RESULTS), _tallies(repeat), right={*range(2, 2 + len(RESULTS))})


def _tallies(repeat: int) -> Iterator[tuple[object, ...]]:
    from tools.studies.anytime.simulation import in_turn, planned, simulate

    for words, choose in zip(PLANS, (planned, in_turn), strict=True):
        counts = sum((simulate(choose, seed) for seed in range(repeat)), Counter[str]())
        for kind in ("equal", "different"):
            total = sum(counts[f"{kind}: {result}"] for result in RESULTS)
            yield (kind, words, *(f"{counts[f'{kind}: {result}'] / total:.1%}" for result in RESULTS))


if __name__ == "__main__":
    run_program(main, "python -m tools.studies.anytime")
