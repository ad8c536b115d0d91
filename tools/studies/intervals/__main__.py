"""Run the study: ``python -m tools.studies.intervals``, about half an hour."""

from __future__ import annotations

import math
from typing import Final

import click

from tools.studies.intervals.interval_coverage import ESTIMATORS, NOISES, coverage, coverage_when_stopping
from xebench.cli.output import run_program
from xebench.measuring.sampling.limits import Sampling

BLOCKS: Final = (7, 10, 15, 20, 30, 60)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--repeats", default=2000, show_default=True, help="Simulated comparisons for each figure.")
def main(repeats: int) -> None:
    """Print the tables: every estimator on every noise, and the interval in use under the stopping rule."""
    print(f"{'coverage in % (half-width in %)':56}" + "".join(f"{blocks:>14}" for blocks in BLOCKS))
    for noise_name, noise in NOISES.items():
        for name, estimator in ESTIMATORS.items():
            results = [coverage(estimator, noise, blocks=n, repeats=repeats, seed=n) for n in BLOCKS]
            cells = "".join(f"{100 * result.covered:7.1f} ({100 * result.half_width:4.2f})" for result in results)
            print(f"{noise_name:26}  {name:28}{cells}", flush=True)
    limits = Sampling(precision=0.01, budget_s=math.inf, max_blocks=200)
    for noise_name, noise in NOISES.items():
        result = coverage_when_stopping(noise, limits, repeats=repeats, seed=0)
        stopped = f"{100 * result.covered:.1f} after {result.blocks:.0f} blocks"
        print(f"{noise_name:26}  stopped at 1 %: {stopped}", flush=True)


if __name__ == "__main__":
    run_program(main, "python -m tools.studies.intervals")
