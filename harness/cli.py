"""The command line: each command is a few lines that call the rooms below.

Heavy rooms are imported inside the commands, so that ``--help`` and ``list`` stay instant.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from harness import __version__
from harness.command_line import JSON, PATHS, Positive, given_options, output_file, run_command, show, write
from harness.errors import XebenchError
from harness.isa.command import isa
from harness.isa.occupancy_command import occupancy
from harness.isa.project_command import project

#: Options of ``run`` that a recipe takes under the same name.
RECIPE_OPTIONS = (
    "overrides",
    "device",
    "require_gpu",
    "precision",
    "state",
    "seed",
    "instances",
    "passes",
    "min_samples",
    "max_samples",
)
#: What numpy's generators and the tables take (`harness.runner.recipe`, likewise).
LARGEST_SEED = 2**32 - 1
#: Fewest samples that make an interval (`harness.analysis.intervals`, which would have to be loaded).
MIN_SAMPLES = 6


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="xebench")
def commands() -> None:
    """Does the advice of Intel's oneAPI GPU Optimization Guide hold on this device, and by how much?"""


@commands.command()
@JSON
def doctor(as_json: bool) -> None:
    """What runs here, what is missing, and which package brings it. Exit status 3 when no device is usable."""
    from harness.report import doctor as view
    from harness.runtime import examine

    report = examine()
    show(view.as_json(report) if as_json else view.as_text(report))
    sys.exit(0 if report.usable else 3)


@commands.command()
@JSON
def devices(as_json: bool) -> None:
    """The SYCL devices here."""
    from harness import runtime
    from harness.report import devices as view

    runtime.load()
    rows = [device.to_row() for device in runtime.list_devices()]
    show(view.as_json(rows) if as_json else view.as_text(rows))
    sys.exit(0 if rows else 3)


@commands.command("list")
@click.argument("names", nargs=-1)
@PATHS
@JSON
def list_patterns(names: tuple[str, ...], paths: tuple[Path, ...], as_json: bool) -> None:
    """The patterns; NAMES are names, families or catalogue ids, with * and ?."""
    from harness.patterns.registry import discover, select
    from harness.report import patterns as view

    infos = select(discover(paths), names)
    show(view.as_json(infos) if as_json else view.as_text(infos))


@commands.command()
@click.argument("names", nargs=-1)
@click.option("--preset", default="default", show_default=True, help="Problem sizes: smoke, default or guide.")
@click.option(
    "--device",
    default="auto",
    show_default=True,
    help="auto, gpu, cpu, or a SYCL filter string such as level_zero:gpu:0.",
)
@click.option("--require-gpu", is_flag=True, help="Fail rather than fall back to the CPU device.")
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="NAME=VALUES",
    help="Values of an axis or a size: work_group_size=64,256.",
)
@click.option("--output", type=click.Path(path_type=Path), help="Run folder.  [default: runs/<UTC time>]")
@click.option("--overwrite", is_flag=True, help="Replace an earlier run in the same folder.")
@click.option(
    "--precision",
    type=Positive(),
    help="Wanted half-width of the log speed-up's interval.  [default: 0.01]",
)
@click.option(
    "--budget",
    type=Positive(),
    help="Seconds of sampling per pattern.  [default: by preset]",
)
@click.option(
    "--instances",
    type=click.IntRange(1),
    help="Times that arrays and kernels are made anew, at least, before the precision may end a pattern; the budget "
    "may.  [default: 6, smoke: 1]",
)
@click.option(
    "--passes",
    type=click.IntRange(1),
    help="Times that the run comes to each pattern, with a part of the instances each time.  [default: 3, smoke: 1]",
)
@click.option(
    "--min-samples",
    type=click.IntRange(MIN_SAMPLES),
    help="Samples of each variant and instance before the precision may end it.  [default: 10, smoke: 6]",
)
@click.option(
    "--max-samples",
    type=click.IntRange(MIN_SAMPLES),
    help="Samples of each variant at most, of all instances and both states together.  [default: 1000]",
)
@click.option(
    "--state",
    type=click.Choice(["hot", "cold", "both"]),
    default="hot",
    show_default=True,
    help="Sample with caches as the samples before left them, or after flushing them; both share the budget.",
)
@click.option(
    "--timeout",
    type=Positive(),
    help="Seconds of silence after which a worker counts as hung.  [default: by preset]",
)
@click.option(
    "--run-budget",
    type=Positive(),
    help="Seconds for the whole run; what does not fit is recorded as not measured, for --resume.  [default: no limit]",
)
@click.option(
    "--memory-limit",
    default="80%",
    show_default=True,
    metavar="SIZE",
    help="Memory at which a worker process is ended: 8G, or a part of the host's.",
)
@click.option(
    "--exclusive", is_flag=True, help="Refuse to run while another run uses the device, and keep others away."
)
@click.option(
    "--resume",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Go on with what this run folder lacks; what is measured, and how thoroughly, is taken from it.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, LARGEST_SEED),
    default=20240517,
    show_default=True,
    help="Seed of the data and of the order of samples.",
)
@PATHS
@JSON
def run(names: tuple[str, ...], preset: str, as_json: bool, paths: tuple[Path, ...], **given: Any) -> None:
    """Measure patterns, naive against optimized; NAMES as in 'list', all when there are none.

    Exit status 1 when a variant was wrong, crashed or hung; 3 when no device is usable; 130 after Ctrl-C.
    """
    from harness.runner.recipe import Recipe

    resume = given["resume"]
    if resume is not None:
        _refuse_beside_resume()
        recipe = Recipe.of_run(resume)
    else:
        chosen = {name: given[name] for name in RECIPE_OPTIONS}
        files = tuple(str(path.absolute()) for path in paths)  # a run can be resumed from another folder
        recipe = Recipe(names, preset, paths=files, budget_s=given["budget"], **chosen)
    plan = recipe.plan()

    from harness.report import run as view
    from harness.report.progress import progress_for
    from harness.roofline.store import known_roofs
    from harness.runner.options import Options
    from harness.runner.run import exit_status, run_plan

    options = Options(
        output=resume or given["output"] or Path("runs") / view.timestamp(),
        recipe=recipe,
        overwrite=given["overwrite"],
        resume=resume is not None,
        timeout_s=given["timeout"],
        memory_limit=given["memory_limit"],
        run_budget_s=given["run_budget"],
        exclusive=given["exclusive"],
        command_line=tuple(sys.argv[1:]),
        known_roofs=known_roofs,
    )
    with progress_for(sys.stderr) as progress:
        done = run_plan(plan, options, progress)
    show(view.as_json(done) if as_json else view.as_text(done))
    sys.exit(exit_status(done))


def _refuse_beside_resume() -> None:
    """Options that say what is measured belong to the run that is resumed, and must not contradict it."""
    own = {"resume", "timeout", "run_budget", "memory_limit", "exclusive", "as_json"}
    for name, written in given_options().items():
        if name not in own:
            raise XebenchError(f"--resume takes from the run what is measured: leave out {written}")


@commands.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "html", "markdown", "csv", "json"]),
    default="text",
    show_default=True,
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    callback=output_file,
    help="File to write; standard output otherwise.",
)
def report(folder: Path, form: str, output: Path | None) -> None:
    """Show the run in FOLDER again."""
    from harness.records import load_run
    from harness.report import render

    text = render(load_run(folder), form)
    if output is None:
        show(text)
    else:
        write(output, text)


@commands.command()
@click.option("--device", default="auto", show_default=True, help="auto, gpu, cpu, or a SYCL filter string.")
@click.option("--refresh", is_flag=True, help="Measure again what was kept of this device and driver.")
@click.option("--quick", is_flag=True, help="A look of some seconds, which is not kept.")
@JSON
def roofline(device: str, refresh: bool, quick: bool, as_json: bool) -> None:
    """What the device can reach: bandwidths, rates and latencies. Exit status 1 when a probe was wrong or crashed."""
    from harness import runtime
    from harness.report import roofline as view
    from harness.report.progress import progress_for
    from harness.roofline import measure_roofline

    with progress_for(sys.stderr) as progress:
        selection = runtime.select_device(device)
        if selection.notice:
            progress.say(selection.notice)
        measured = measure_roofline(selection.device, quick=quick, refresh=refresh, say=progress.say)
    show(view.as_json(measured) if as_json else view.as_text(measured))
    sys.exit(1 if measured.failed else 0)


for command in (isa, occupancy, project):
    commands.add_command(command)


def main() -> None:
    """Run a command; an error that a user can cause ends in one line and its exit status."""
    run_command(commands, "xebench")


if __name__ == "__main__":
    main()
