"""The command ``xebench run``."""

from __future__ import annotations

import glob
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xebench.cli.options import (
    DEVICE,
    NAMES,
    PATHS,
    VERBOSE,
    Duration,
    Positive,
    SectionedCommand,
    form_options,
    preset_option,
    refuse,
    require_brief,
)
from xebench.cli.output import blaming, is_quiet, show, warn
from xebench.vocabulary import STATES_ASKED

if TYPE_CHECKING:
    from xebench.results import Run
    from xebench.runner.run_options import Recipe

#: The largest seed of numpy's generators and the tables (`xebench.runner.run_options`).
LARGEST_SEED = 2**32 - 1
#: Fewest samples that make an interval (`xebench.results.analysis.intervals`, which would have to be loaded).
MIN_SAMPLES = 6


# Parameters have the names of the fields of `Recipe` and `Options` that they set.
@click.command(cls=SectionedCommand)
@NAMES
@preset_option("default")
@DEVICE
@click.option(
    "--on",
    "scheduler",
    metavar="ADDRESS",
    help="Measure on the workers of the Dask scheduler at this address, one device per worker, into one run folder.",
)
@click.option("--require-gpu", is_flag=True, help="Fail instead of using the CPU device.")
@click.option(
    "--compiler",
    type=click.Choice(["numba-dpex"]),
    help="Compile kernels with numba-dpex as it is, and skip what it does not compile.  [default: numba-dpex with "
    "xebench's integers on the pinned stack, xebench's own compiler on the current one]",
)
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="NAME=VALUES",
    help="Values of an axis or a size, such as work_group_size=64,256.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Run folder.  [default: runs/<UTC time>]")
@click.option("--overwrite", is_flag=True, help="Replace an earlier run in the same folder.")
@click.option(
    "--precision",
    type=Positive(),
    help="Sample until half the width of each speed-up's 95 % interval is at most this fraction of the speed-up.  "
    "[default: 0.01]",
)
@click.option(
    "--budget",
    "budget_s",
    type=Duration(),
    help="Sampling time per family (a pattern at one size), such as 2, 500ms or 1m.  [default: by preset; none with "
    "--run-budget]",
)
@click.option(
    "--instances",
    type=click.IntRange(1),
    help="Minimum number of re-allocations and rebuilds before --precision may stop a pattern; --budget may stop it "
    "sooner.  [default: 6, or 3 if the run's pairs show little difference; smoke: 1]",
)
@click.option(
    "--min-samples",
    type=click.IntRange(MIN_SAMPLES),
    help="Minimum samples per variant and instance before --precision may end it.  [default: 10, smoke: 6]",
)
@click.option(
    "--max-samples",
    type=click.IntRange(MIN_SAMPLES),
    help="Maximum samples per variant, over all instances and both states.  [default: 1000]",
)
@click.option(
    "--state",
    type=click.Choice([*STATES_ASKED]),
    help="hot: caches stay as the previous sample left them. cold: caches are flushed before each sample. both: hot "
    "and cold in turn, from one budget.  [default: hot, or cold where the guide flushes caches]",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=Positive(),
    help="Seconds without a message after which a worker counts as hung.  [default: by preset]",
)
@click.option(
    "--run-budget",
    "run_budget_s",
    type=Duration(),
    help="Time for the whole run, such as 540, 9m or 1h30m. Each family has a round, then those with open claims or "
    "wide intervals. --resume continues it.  [default: no limit]",
)
@click.option(
    "--memory-limit",
    default="80%",
    show_default=True,
    metavar="SIZE",
    help="Memory at which the run ends a worker process: 8G, or a percentage of the host's memory.",
)
@click.option(
    "--exclusive", is_flag=True, help="Refuse to run while another run uses the device, and keep other runs away."
)
@click.option(
    "--resume",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Measure what is missing in this run folder, with its recorded settings.",
)
@click.option("--allow-skipped", is_flag=True, help="Exit status 0, not 4, if every case was skipped.")
@click.option(
    "--seed",
    type=click.IntRange(0, LARGEST_SEED),
    default=20240517,
    show_default=True,
    help="Seed of the data and of the order of samples.",
)
@PATHS
@form_options
@VERBOSE
def run(
    form: str,
    verbose: bool,
    allow_skipped: bool,
    scheduler: str | None,
    resume: Path | None,
    output: Path | None,
    **given: Any,
) -> None:
    """Measure patterns, naive against optimized. NAMES: patterns, chapters, catalogue ids, or your own pattern files.

    Without NAMES: the patterns of --path, or all built-in ones and those of installed packages. [tool.xebench] in
    pyproject.toml may set paths, preset and device.

    Exit status 1 if a variant was wrong, crashed or hung, or a worker was killed; 3 if no device is usable; 4 if every
    case was skipped; 130 after Ctrl-C.
    """
    begun_s = time.monotonic()
    require_brief(verbose, form)
    from xebench.report import formats
    from xebench.runner.run import ALL_SKIPPED, exit_status
    from xebench.runner.run_options import Recipe

    asked = {name: given.pop(name) for name in Recipe.__annotations__ if name in given}
    if resume is None:
        # a run can be resumed from another folder
        names, paths = with_files(asked["names"], asked["paths"])
        recipe = Recipe(**{**asked, "names": names, "paths": tuple(str(path.absolute()) for path in paths)})
    else:
        # options that define the measurement come from the resumed run and must not contradict it
        refuse({*asked, "output", "overwrite"}, "--resume uses the settings of the run")
        recipe = Recipe.of_run(resume)
    done = measure(recipe, resume=resume, output=output, scheduler=scheduler, begun_s=begun_s, **given)
    with blaming(done.path):
        text = formats.render(done, form, **({"verbose": verbose} if form == "text" else {}))
    show(text, coloured=form == "text")
    status = exit_status(done)
    if status == ALL_SKIPPED:
        reason = "".join(done.cases["reason"].mode().tolist()[:1])  # the most frequent one
        warn(f"xebench: every case was skipped, so nothing was measured: {reason} (--allow-skipped: status 0)")
        status = 0 if allow_skipped else status
    sys.exit(status)


def with_files(names: Sequence[str], paths: Sequence[Path]) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """The names to run, and the pattern files to read for them.

    Args:
        names: patterns, chapters, catalogue ids and pattern files.
        paths: further pattern files, which are run if there are no names.
    """
    from xebench.patterns.installed import installed_files

    files = tuple(Path(name) for name in names if name.endswith(".py"))
    chosen = [name for name in names if not name.endswith(".py")]
    # where files alone are run, a package of the same patterns may be installed as well
    installed = installed_files() if chosen or not (files or paths) else ()
    chosen += [glob.escape(str(path.resolve())) for path in (files if names else paths)]
    return tuple(chosen), tuple(dict.fromkeys((*installed, *paths, *files)))


def measure(
    recipe: Recipe, *, resume: Path | None = None, output: Path | None, scheduler: str | None = None, **given: Any
) -> Run:
    """Measure, and show progress on standard error.

    Args:
        recipe: patterns and settings of the run.
        resume: folder of the run to continue; None for a new run.
        output: folder of the run; None for a new one in ``runs``.
        scheduler: address of a Dask scheduler whose workers measure.
        given: further fields of `Options`.

    Raises:
        XebenchError: see `xebench.runner.run.run_plan`.
    """
    plan = recipe.plan()

    from xebench.report.console import ProgressLine
    from xebench.roofs.measure import Store
    from xebench.runner.run import run_plan
    from xebench.runner.run_options import Options

    options = Options(
        output=resume or output or Path("runs") / f"{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}",
        recipe=recipe,
        resume=resume is not None,
        command_line=tuple(sys.argv[1:]),
        roofs=Store(),
        **given,
    )
    with ProgressLine(sys.stderr, quiet=is_quiet()) as progress:
        if scheduler is None:
            return run_plan(plan, options, progress)
        from xebench.runner.cluster.run import run_plan_on

        return run_plan_on(scheduler, plan, options, progress)
