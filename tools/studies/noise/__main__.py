"""Run the study: ``python -m tools.studies.noise``."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xebench.cli.options import DEVICE
from xebench.cli.output import run_program, say

if TYPE_CHECKING:
    from tools.studies.noise.known_pairs import Calibration, Plan
    from tools.studies.noise.study_folder import Measured
    from xebench.system.runtime import DeviceInfo

#: Packages whose version belongs to the result, beside those of every run.
TOOLS = ("pytest-benchmark", "pytest", "pyperf")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--output", type=click.Path(path_type=Path), default="results/studies/noise", show_default=True)
@click.option(
    "--seconds-per-pair",
    type=click.FloatRange(0.1),  # below, a tool may get one value only
    default=0.5,
    show_default=True,
    help="What each tool may take to decide on a pair.",
)
@click.option("--repetitions", type=click.IntRange(1), default=22, show_default=True, help="Rounds over all pairs.")
@click.option(
    "--minutes",
    type=click.FloatRange(0, min_open=True),
    default=28.0,
    show_default=True,
    help="No further repetition begins that would end later.",
)
@click.option("--condition", type=click.Choice(("quiet", "load")), help="Measure this one only; both by default.")
@click.option("--add", is_flag=True, help="Keep what --output holds, and add to it: the study can be made in pieces.")
@DEVICE
@click.option("--seed", type=int, default=20240517, show_default=True)
@click.option("--quick", is_flag=True, help="A look at everything in about a minute; says nothing of the tools.")
@click.option("--from-data", is_flag=True, help="Measure nothing; make the summary from the data in --output.")
def main(output: Path, device: str, quick: bool, from_data: bool, add: bool, **given: Any) -> None:
    """Measure pairs of known true ratio with four tools, quiet and under load, and say which can be believed."""
    from tools.studies.noise.study_folder import NOTHING, read_data, write_report

    if not from_data:
        from tools.studies.noise.known_pairs import CONDITIONS, Plan

        before = read_data(output) if add else NOTHING
        conditions = (given["condition"],) if given["condition"] else CONDITIONS
        known = before.rows[before.rows["condition"].isin(conditions)] if add else before.rows
        first = int(known["repetition"].max()) + 1 if len(known) else 0
        plan = Plan(
            given["repetitions"], given["seconds_per_pair"], 60 * given["minutes"], given["seed"], conditions, first
        )
        _measure(output, device, replace(plan, repetitions=1, seconds_per_pair=0.3) if quick else plan, before)
    click.echo(write_report(output))


def _measure(output: Path, device: str, plan: Plan, before: Measured) -> None:
    from xebench.system import runtime

    begin = time.monotonic()
    environment = runtime.relevant_environment()  # the user's own: loading the runtime sets some for this process
    runtime.load()
    selection = runtime.select_device(device)
    chosen = selection.device
    say(f"device: {chosen.name} ({chosen.device})")

    from tools.studies.noise.known_pairs import pair_of
    from tools.studies.noise.study_folder import write_data
    from tools.studies.noise.trials import Study, Subject
    from xebench.session.session import Session

    subject = Subject(Session.on(chosen.device))
    study = Study(subject, chosen.device_class, plan)
    machine = asdict(runtime.describe_machine())
    rows: list[dict[str, Any]] = []
    for repetition in study.repetitions(say):
        rows += repetition
        calibration = subject.calibration()
        rows = [{**row, "truth": calibration.line.true_speedup(pair_of(row))} for row in rows]
        minutes = (time.monotonic() - begin) / 60
        # what was measured stays if the study is stopped
        write_data(output, rows, _facts(chosen, machine, environment, plan, calibration, minutes), before)


def _facts(
    device: DeviceInfo,
    machine: dict[str, Any],
    environment: dict[str, str],
    plan: Plan,
    calibration: Calibration,
    minutes: float,
) -> dict[str, Any]:
    from xebench.results.provenance import manifest

    return {
        **manifest(sys.argv[1:], machine, environment),
        "device": device.to_row(),
        "plan": asdict(plan),
        "minutes": minutes,
        "calibration": {**asdict(calibration), "usable": calibration.usable, "twenty": calibration.line.ratio(0.2)},
        "tools": {name: metadata.version(name) for name in TOOLS},
    }


if __name__ == "__main__":
    run_program(main, "python -m tools.studies.noise")
