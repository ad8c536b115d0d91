"""Commands that read runs, such as ``xebench report`` and ``compare``; and ``xebench ab``, which makes its own."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from xebench.cli.options import (
    PATHS,
    QUIET,
    RESULT_FILE,
    VERBOSE,
    SectionedCommand,
    complete_patterns,
    path_option,
    require_brief,
    table_forms,
)
from xebench.cli.output import blaming, result_file, say, show, show_view, warn
from xebench.cli.run_command import measure, run, with_files
from xebench.errors import PatternError, XebenchError, suggestion
from xebench.report import formats

if TYPE_CHECKING:
    from xebench.report.comparison import RunComparison
    from xebench.results import Run


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...")
@click.option(
    "--reference",
    metavar="VARIANT",
    help="Variant that the others are compared with, in each family that has it. Claims about the declared baseline "
    "are left out there.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(formats.names()),
    default="text",
    show_default=True,
    help="Output format.",
)
@RESULT_FILE
@VERBOSE
@QUIET
def report(folder: Path, patterns: tuple[str, ...], reference: str | None, form: str, verbose: bool) -> None:
    """Show the run in FOLDER again: a summary, or with PATTERNs their rows; with --verbose those of all patterns."""
    from xebench.results import load_run

    require_brief(verbose, form)
    if patterns and form != "text":
        raise click.UsageError(f"--format {form} has every pattern: leave out {patterns[0]!r}, or use --format text")
    options: dict[str, Any] = {"verbose": verbose} if form == "text" else {}
    if options and result_file() is not None:  # a file is UTF-8, whatever the terminal is
        options |= {"colour": False, "encoding": "utf-8"}
    with blaming(folder):
        run = load_run(folder)
        if reference is not None:
            run = run.against(reference)
        if form == "text":
            options["patterns"] = {pattern for name in patterns for pattern in run.patterns_like(name)}
        text = formats.render(run, form, **options)
    show(text, coloured=form == "text")


@click.command()
@click.argument("pattern", shell_complete=complete_patterns)
@click.argument("variant", required=False)
@click.option(
    "--run",
    "runs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Run folder whose results are shown. May be given more than once.  [default: for each device the newest run "
    "in runs/ and results/]",
)
@PATHS
@table_forms
def show_pattern(pattern: str, variant: str | None, runs: tuple[Path, ...], paths: tuple[Path, ...], form: str) -> None:
    """Show the lesson of PATTERN: its claims, the code of its baseline beside that of VARIANT, and measured results.

    PATTERN may be the file of one pattern.
    Without VARIANT: the two variants of the guide's firmest claim. Markdown and CSV contain the answers only.
    """
    from xebench.patterns.declaration import shown_pair
    from xebench.patterns.registry import discover, select
    from xebench.report import lesson_text
    from xebench.results import load_run
    from xebench.results.run import newest_of_each_device
    from xebench.vocabulary import find_baseline

    names, files = with_files([pattern], paths)
    infos = select(discover(files), names)
    if len(infos) > 1:
        raise PatternError(f"{pattern!r} names {len(infos)} patterns, {infos[0].name} among them: name one")
    (info,) = infos
    baseline = find_baseline(info.variants, role=lambda each: each.role)
    others = {each.name: each for each in info.variants if each is not baseline}
    pair = (baseline, others.get(variant)) if variant else shown_pair(info) or (baseline, None)
    if variant and pair[1] is None:
        raise PatternError(
            f"{info.name} has no variant {variant!r} beside its baseline: "
            f"{suggestion(variant, others) if others else 'it has one variant only'}"
        )
    with blaming(next(iter(runs), Path("runs"))):
        measured = [load_run(folder) for folder in runs] if runs else newest_of_each_device(info.name)
        show_view(lesson_text, form, info, *pair, measured)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("pattern", shell_complete=complete_patterns)
@RESULT_FILE
@QUIET
def trace(folder: Path, pattern: str) -> None:
    """Write a timeline of PATTERN in the run in FOLDER: one execution of each variant, for ui.perfetto.dev.

    Each thread of the host has a track, with launches, waits, allocations, builds and lines of the variant. Each queue
    has one with its kernels and copies. Arrows lead from a command's submission to its start.
    """
    from xebench.report import trace_events
    from xebench.results import load_run

    with blaming(folder):
        text = trace_events.as_json(load_run(folder), pattern)
    show(text)


@click.command("pack-run")
@click.argument("folder", type=click.Path(path_type=Path))
@path_option("-o", "--output", help="File to write.  [default: the folder's name with .zip, in the current folder]")
@click.option(
    "--without",
    "words",
    multiple=True,
    metavar="WORD",
    help="Further word to remove, such as a project's name. May be given more than once.",
)
@QUIET
def pack_run(folder: Path, output: Path | None, words: tuple[str, ...]) -> None:
    """Pack the run in FOLDER into one file, to send. The file contains no user, host, address or path.

    'report', 'compare', 'trace' and xebench.load_run accept the file in place of the folder.
    """
    from xebench.results import load_run, packed_run, schema

    output = output or Path(f"{folder.resolve().name}.zip")
    with blaming(folder):
        run = load_run(folder)
        tables = {table: getattr(run, table)[[*schema.columns(table)]] for table in schema.RUN_TABLES}
        kept = packed_run.write(output, run.manifest, tables, words)
    say(f"wrote {output} ({output.stat().st_size / 1e6:.1f} MB)")
    for name in kept:
        say(f"xebench: the name {name!r} is a word of the tables, so it was not removed")


#: The exit status if ``--fail-on`` matches.
FOUND: Final = 5

_KINDS: Final = ("slower", "answer", "missing")


class Threshold(click.ParamType[tuple[str, float]]):
    """A fraction such as 5% or 0.05, which may be of some patterns only: stencil*=10%."""

    name = "[pattern=]percent"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, float]:
        """The pattern's name or glob, and the fraction."""
        pattern, _, text = (each.strip() for each in str(value).rpartition("="))
        try:
            part = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            part = math.nan
        if not 0 <= part < 1:
            self.fail(f"{value!r} is no fraction below 1: write 5% or 0.05", param, ctx)
        return pattern or "*", part


def _thresholds(context: click.Context, parameter: click.Parameter, given: tuple[tuple[str, float], ...]) -> Any:
    """Thresholds by pattern, those of names and longer globs first; those of pyproject.toml where none are given."""
    from xebench.cli import project_settings
    from xebench.results.analysis.compare import THRESHOLD

    own = project_settings.read(Path.cwd()).get("thresholds", {})
    theirs = {name: parameter.type.convert(text, parameter, context)[1] for name, text in own.items()}
    found = {"*": THRESHOLD, **theirs, **dict(given)}
    ordered = dict(sorted(found.items(), key=lambda item: ("*" in item[0] or "?" in item[0], -len(item[0]))))
    return ordered if len(ordered) > 1 else ordered["*"]


THRESHOLD: Final = click.option(
    "--threshold",
    type=Threshold(),
    multiple=True,
    callback=_thresholds,
    help="Relative change that matters, of all patterns or, as in stencil*=10%, of some. May be given more than once.  "
    "[default: 5%, or the thresholds in pyproject.toml]",
)

FORMAT: Final = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "html", "json", "csv"]),
    default="text",
    show_default=True,
    help="Output format.",
)


@click.command()
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path), required=False)
@click.argument("names", nargs=-1)
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
    help=f"Exit status {FOUND} if a case is slower, a decided answer changed, or a case of OLD has no time in NEW; "
    "and always if a case failed in NEW and not in OLD. May be given more than once.",
)
@FORMAT
@RESULT_FILE
@VERBOSE
@QUIET
def compare(
    old: Path,
    new: Path | None,
    names: tuple[str, ...],
    on: Any,
    threshold: Any,
    fail_on: tuple[str, ...],
    form: str,
    verbose: bool,
) -> int:
    """Compare the runs in the folders OLD and NEW. For a run of 'ab', which has two versions, give OLD only.

    NAMES: patterns to compare, also with * and ? (default: all).

    Text and Markdown contain the changed rows, or with --verbose every row. The other formats contain every row.
    """
    require_brief(verbose, form, ("text", "markdown"))
    from xebench.report.comparison import RunComparison
    from xebench.results import load_run

    with blaming(old):
        before = after = load_run(old)
    if new is None and not before.versions:
        raise XebenchError(f"{old} is no run of 'xebench ab', which would have two versions: give two run folders")
    if new is None and (on != "time" or "answer" in fail_on):
        raise XebenchError("a run of 'xebench ab' is compared by times only: leave out --on and --fail-on answer")
    with blaming(new or old):
        if new is not None:
            after = load_run(new)
        before, after = (_of(run, names) for run in (before, after)) if names else (before, after)
        comparison = RunComparison(before, after, on, threshold)
        rows = comparison.rows
    if on != "time" and not rows:
        raise XebenchError(f"no variants are compared in {old} and {new}: leave out --on {on} to compare their times")
    if new is not None and all(row["reason"].startswith("only in the run") for row in rows):
        raise XebenchError(
            f"{old} and {new} have no case in common: compare runs of the same patterns, sizes and class of device"
        )
    with blaming(new or old):
        status = show_comparison(comparison, form, fail_on, every=verbose)
    if fail_on and (failed := comparison.newly_failed()):
        warn(f"xebench: --fail-on: {len(failed)} failed in the new {'version' if new is None else 'run'}: {failed[0]}")
        return FOUND
    return status


def _of(run: Run, names: Iterable[str]) -> Run:
    """The part of a run with the patterns of some names and globs."""
    return run.of(*dict.fromkeys(pattern for name in names for pattern in run.patterns_like(name)))


def show_comparison(comparison: RunComparison, form: str, fail_on: Collection[str], *, every: bool) -> int:
    """Show a comparison, count the changes that `fail_on` names, and return the exit status.

    Args:
        comparison: the comparison.
        form: output format.
        fail_on: kinds of changes that give status `FOUND`.
        every: True if text and Markdown have every row.
    """
    from xebench.report.comparison import FORMATS

    show(FORMATS[form](comparison, **({"every": every} if form in ("text", "markdown") else {})))
    found = {kind: comparison.count_changes(kind) for kind in _KINDS if kind in fail_on}
    for kind, count in found.items():
        if count:
            warn(f"xebench: --fail-on {kind}: {count} found")
    return FOUND if any(found.values()) else 0


#: Exit statuses from here on are 128 plus the number of the signal that ended a run.
_SIGNALS: Final = 128

#: Options of `xebench run` that `xebench ab` has, too.
_OF_RUN: Final = (
    "preset", "device", "require_gpu", "overrides", "output", "overwrite", "precision", "budget_s", "instances",
    "min_samples", "max_samples", "state", "timeout_s", "run_budget_s", "memory_limit", "exclusive", "seed",
)  # fmt: skip

#: Half-width of an interval at which sampling stops, as a part of the threshold, unless --precision is given. It is
#: small because intervals are widened afterwards, to hold for all pairs together, and must still lie beyond it.
_PRECISION: Final = 0.2

#: Instances of a pattern, unless --instances is given. Equal kernels differ most by where arrays and code lie, which
#: one instance does not show. Intervals that hold for all pairs together need more instances than a single one.
_INSTANCES: Final = 10


@click.command(cls=SectionedCommand)
@click.argument("old")
@click.argument("new")
@click.argument("names", nargs=-1)
@click.option(
    "--path",
    "paths",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Pattern file or folder in a git repository. OLD and NEW are then revisions (branches, tags, commits); '.' is "
    "the working tree. May be given more than once.",
)
@THRESHOLD
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(["slower", "missing"]),
    help=f"Exit status {FOUND} if a variant is slower, or one of OLD has no time in NEW. May be given more than once.",
)
@FORMAT
@VERBOSE
@QUIET
def ab(
    old: str,
    new: str,
    names: tuple[str, ...],
    paths: tuple[Path, ...],
    threshold: Any,
    fail_on: tuple[str, ...],
    form: str,
    verbose: bool,
    **given: Any,
) -> int:
    """Measure two versions of pattern files in one run, and show which variants became slower.

    OLD and NEW: two pattern files or folders; with --path, two git revisions of the files that it names. NAMES: the
    patterns to compare (default: all). The variants of both versions are sampled in turn. Both versions use the data
    and the reference of NEW. Drift affects both equally. Each variant is compared with itself in the other version, by
    intervals that hold for all variants together.

    \b
    xebench ab kernels_before.py kernels.py --fail-on slower
    xebench ab main . --path bench/kernels.py --threshold 3%
    xebench ab v1.0 v1.1 --path bench/ --format markdown

    'xebench compare RUN' shows the run again in another format. 'xebench run --resume RUN' continues a run that was cut
    off. Exit status 5 if --fail-on matches, 6 if the revisions differ in a module that they would share; otherwise as
    for 'run', but failures of OLD alone do not count.
    """  # noqa: D301 - click keeps the lines after this sign
    given["begun_s"] = time.monotonic()
    require_brief(verbose, form, ("text", "markdown"))
    from xebench.patterns import two_versions
    from xebench.report.comparison import RunComparison
    from xebench.runner.run_options import Recipe

    changes = None
    if paths:
        before, after, changes = two_versions.at_revisions(old, new, paths)
    else:
        before, after = two_versions.at_paths(Path(old), Path(new))
    for version in (before, after):
        say(f"xebench: {'old' if version is before else 'new'}: {version.name}")
    asked = {name: given.pop(name) for name in Recipe.__annotations__ if name in given}
    least = min(threshold.values()) if isinstance(threshold, dict) else threshold
    asked["precision"] = asked["precision"] or _PRECISION * least or None
    asked["instances"] = asked["instances"] or _INSTANCES
    both = two_versions.write(before, after, asked["preset"], changes)
    recipe = Recipe(names=names, paths=(str(both),), versions=(before.name, after.name), **asked)
    done = measure(recipe, **given)
    say(f"xebench: the run is in {done.path}")
    with blaming(done.path):
        comparison = RunComparison(done, done, "time", threshold)
        found = show_comparison(comparison, form, fail_on, every=verbose)
    sys.exit(status_of(comparison, found))


def status_of(comparison: RunComparison, found: int) -> int:
    """The exit status of `ab`: a signal's, else that of `--fail-on`, else the run's.

    Args:
        comparison: comparison of its two versions; what fails in the old one alone does not count.
        found: the status by `--fail-on`, or 0.
    """
    from xebench.runner.run import exit_status

    status = exit_status(comparison.after)
    if status >= _SIGNALS:
        return status
    before, after = comparison.failed
    if after and status == 1:  # a wrong new version says more than a row that is missing for it
        return status
    return found or (0 if status == 1 and before else status)


ab.params += [parameter for parameter in run.params if parameter.name in _OF_RUN]
