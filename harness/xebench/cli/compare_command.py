"""The command ``xebench compare``."""

from __future__ import annotations

import math
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from xebench.cli.options import VERBOSE, path_option
from xebench.cli.output import say, show, write
from xebench.errors import XebenchError

if TYPE_CHECKING:
    from xebench.report.comparison import RunComparison

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
