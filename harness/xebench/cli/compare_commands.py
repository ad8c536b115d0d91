"""Two runs side by side, ``xebench compare``, and two versions in one run, ``xebench ab``."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from xebench.cli.options import VERBOSE, path_option
from xebench.cli.output import say, show, write
from xebench.cli.run_command import measure, run
from xebench.errors import XebenchError
from xebench.vocabulary import OLD_VERSION

if TYPE_CHECKING:
    from xebench.report.comparison import RunComparison
    from xebench.tables import Run


#: The exit status where ``--fail-on`` finds what it names.
FOUND: Final = 5

_KINDS: Final = ("slower", "answer", "missing")


class Percent(click.ParamType[float]):
    """A part such as 5% or 0.05."""

    name = "percent"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The part of 1."""
        text = str(value).strip()
        try:
            part = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            part = math.nan
        if not 0 <= part < 1:
            self.fail(f"{value!r} is no part of 1: write 5% or 0.05", param, ctx)
        return part


THRESHOLD: Final = click.option(
    "--threshold", type=Percent(), default="5%", show_default=True, help="Relative change that matters."
)

FORMAT: Final = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "html", "json", "csv"]),
    default="text",
    show_default=True,
)


@click.command()
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path), required=False)
@click.option(
    "--on",
    type=click.Choice(["time", "speedup", "answer"]),
    default="time",
    show_default=True,
    help="What to compare: the time of each case, each variant's speed-up over its baseline, or each claim's answer.",
)
@THRESHOLD
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(_KINDS),
    help=f"End with status {FOUND} if a case is slower, a decided answer changed, or a case of OLD has no time in NEW. "
    "May be given more than once.",
)
@FORMAT
@path_option("--output", "File to write; standard output otherwise.")
@VERBOSE
def compare(
    old: Path,
    new: Path | None,
    on: Any,
    threshold: float,
    fail_on: tuple[str, ...],
    form: str,
    output: Path | None,
    verbose: bool,
) -> int:
    """Show the runs in the folders OLD and NEW side by side; for a run of 'ab', which has two versions, give OLD alone.

    Text and Markdown have what changed, and with --verbose every row; the other formats always have every row.
    """
    from xebench.report.comparison import RunComparison
    from xebench.tables import load_run
    from xebench.tables.run import telling_damage

    with telling_damage(old):
        before = after = load_run(old)
    if new is None and not before.versions:
        raise XebenchError(f"{old} is no run of 'xebench ab', which has two versions: give two run folders")
    if new is None and (on != "time" or "answer" in fail_on):
        raise XebenchError("two versions are compared by their times: leave out --on and --fail-on answer")
    with telling_damage(new or old):
        if new is not None:
            after = load_run(new)
        comparison = RunComparison(before, after, on, threshold)
        rows = comparison.rows
    if new is not None and all(row["reason"].startswith("only in the run") for row in rows):
        raise XebenchError(
            f"{old} and {new} share no case: compare runs of the same patterns, sizes and class of device"
        )
    return show_comparison(comparison, form, output, fail_on, every=verbose)


def show_comparison(
    comparison: RunComparison, form: str, output: Path | None, fail_on: Collection[str], *, every: bool
) -> int:
    """Print or write a comparison, and say what was found of that which fails; the exit status.

    Args:
        comparison: what is shown.
        form: its format.
        output: file to write; None: standard output.
        fail_on: kinds of changes.
        every: whether text and Markdown have every row.
    """
    from xebench.report.comparison import FORMATS

    text = FORMATS[form](comparison, **({"every": every} if form in ("text", "markdown") else {}))
    if output is None:
        show(text)
    else:
        write(output, text)
    found = {kind: comparison.count_changes(kind) for kind in _KINDS if kind in fail_on}
    for kind, count in found.items():
        if count:
            say(f"xebench: --fail-on {kind}: {count} found")
    return FOUND if any(found.values()) else 0


#: Exit statuses from here on say which signal ended a run.
_SIGNALS: Final = 128

#: Options of `xebench run` that this command has, too.
_OF_RUN: Final = (
    "preset", "device", "require_gpu", "overrides", "output", "overwrite", "precision", "budget_s", "instances",
    "passes", "min_samples", "max_samples", "state", "timeout_s", "run_budget_s", "memory_limit", "exclusive", "seed",
)  # fmt: skip

#: Part of the threshold that intervals are wanted to be within, unless --precision is given: they are widened for all
#: pairs together afterwards, and must leave the threshold.
_PRECISION: Final = 0.2

#: Instances of a pattern, unless --instances is given: where arrays and code lie is the largest difference of equal
#: kernels, one instance does not show it, and intervals that hold together need more than one alone.
_INSTANCES: Final = 10


@click.command()
@click.argument("old")
@click.argument("new")
@click.argument("names", nargs=-1)
@click.option(
    "--path",
    "paths",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A pattern file or folder in a git repository: OLD and NEW are then its revisions (branches, tags, commits), "
    "and '.' is the working tree. May be given more than once.",
)
@THRESHOLD
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(["slower", "missing"]),
    help=f"End with status {FOUND} if a variant is slower, or one of OLD has no time in NEW. May be given more than "
    "once.",
)
@FORMAT
@VERBOSE
def ab(
    old: str,
    new: str,
    names: tuple[str, ...],
    paths: tuple[Path, ...],
    threshold: float,
    fail_on: tuple[str, ...],
    form: str,
    verbose: bool,
    **given: Any,
) -> int:
    """Measure two versions of pattern files in one run, and say which variants became slower.

    OLD and NEW are two pattern files or folders; with --path, two revisions in git of the files that it names. NAMES
    are the patterns to compare, all when there are none. Each variant of both versions is sampled in turn on the same
    data, that of NEW, whose reference checks both, so that what drifts or disturbs hits both alike. It is compared with
    itself in the other version, by intervals that hold for all of them together.

    \b
    xebench ab kernels_before.py kernels.py --fail-on slower
    xebench ab main . --path bench/kernels.py --threshold 3%
    xebench ab v1.0 v1.1 --path bench/ --format markdown

    'xebench compare RUN' shows the run again in another format, 'xebench run --resume RUN' goes on with one that was
    cut off. Exit status 5 where --fail-on finds what it names; otherwise 1 when a variant of NEW was wrong, crashed or
    hung, and as of 'run'.
    """  # noqa: D301 - click keeps the lines after this sign
    given["begun_s"] = time.monotonic()
    from xebench.patterns import two_versions
    from xebench.report.comparison import RunComparison
    from xebench.runner.run_options import Recipe

    before, after = two_versions.at_revisions(old, new, paths) if paths else two_versions.at_paths(Path(old), Path(new))
    for version in (before, after):
        say(f"xebench: {'old' if version is before else 'new'}: {version.name}")
    asked = {name: given.pop(name) for name in Recipe.__annotations__ if name in given}
    asked["precision"] = asked["precision"] or _PRECISION * threshold or None
    asked["instances"] = asked["instances"] or _INSTANCES
    both = two_versions.write(before.files, after.files, asked["preset"])
    recipe = Recipe(names=names, paths=(str(both),), versions=(before.name, after.name), **asked)
    done = measure(recipe, **given)
    say(f"xebench: the run is in {done.path}")
    found = show_comparison(RunComparison(done, done, "time", threshold), form, None, fail_on, every=verbose)
    sys.exit(status_of(done, found))


def status_of(done: Run, found: int) -> int:
    """The exit status: a signal's, else what `--fail-on` found, else that of the run.

    Args:
        done: the run; a variant that is wrong in the old version alone is no fault of the new one.
        found: status by `--fail-on`.
    """
    from xebench.runner.run import exit_status

    status = exit_status(done)
    if status >= _SIGNALS:
        return status
    failed = done.failed_cases
    only_old = not failed.empty and bool(failed["variant"].str.startswith(OLD_VERSION).all())
    return found or (0 if status == 1 and only_old else status)


ab.params += [parameter for parameter in run.params if parameter.name in _OF_RUN]
