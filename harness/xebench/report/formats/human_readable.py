"""A run for people, as text for a terminal and as Markdown: the answers first, a row a pair, and then the remarks."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from rich.text import Text

from xebench.errors import from_here
from xebench.report.console import draw, terminal_width
from xebench.report.remarks import (
    SIGNS,
    brief_remarks,
    compilers_line,
    failures,
    noise_line,
    notes,
    point_words,
    remarks,
)
from xebench.report.result_rows import ResultRow, device_line, result_rows, sorted_pairs
from xebench.report.run_summary import (
    Highlight,
    answer_sentences,
    counted_answers,
    gains,
    headline,
    highlights,
    is_small,
    mean_words,
    next_steps,
    rounds_line,
    state,
)
from xebench.report.table_forms import escape
from xebench.report.table_forms import table as markdown_table
from xebench.report.text_table import table_lines, wrapped
from xebench.results import Run

#: Columns at most: longer lines are hard to read.
MOST: Final = 100
#: Replacements for encodings that lack these characters.
_PLAIN: Final = str.maketrans("✓✗≡·", "+x=.")


def render_text(
    run: Run,
    width: int | None = None,
    *,
    patterns: Collection[str] = (),
    verbose: bool = False,
    colour: bool | None = None,
    encoding: str | None = None,
) -> str:
    """The summary of a run or the rows of some patterns, and what needs attention.

    Args:
        run: any run, finished or not.
        width: width in columns; by default that of the terminal, at most 100.
        patterns: patterns whose rows stand alone; by default a small run (`is_small`) has all rows below its summary.
        verbose: True for every row, with roofs, whole reasons and everything that was noticed.
        colour: True for a terminal, which shows colours and leaves whole reasons to another command; by default True if
            standard output is a terminal.
        encoding: encoding of the output, by default that of standard output; characters that it lacks are replaced.
    """
    width = min(width or terminal_width(elsewhere=MOST), MOST)
    on_terminal = sys.stdout.isatty() if colour is None else colour
    lines = _lines(run, width, patterns, verbose=verbose, on_terminal=on_terminal)
    return _encodable(draw(lines, width, colour=colour), encoding or sys.stdout.encoding)


def excerpt(run: Run, patterns: Collection[str], width: int) -> str:
    """The answers, the device, and the rows of some patterns, as in `render_text`; without colour."""
    rows = [row for row in result_rows(run) if row.pattern in patterns]
    lines = [*wrapped(_opening(run), width, further="  "), *table_lines(rows, width, {}, verbose=False)]
    return draw(lines, width, colour=False)


def _encodable(text: str, encoding: str | None) -> str:
    """The text as an output can show it."""
    encoding = encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "replace").decode(encoding)
    return text


def _lines(
    run: Run, width: int, patterns: Collection[str], *, verbose: bool, on_terminal: bool
) -> Iterator[str | Text]:
    if patterns:
        yield from wrapped([headline(run)], width)
    else:
        yield from _summary(run, width)
    if verbose:
        facts = filter(None, (device_line(run), compilers_line(run), noise_line(run), rounds_line(run)))
        yield from wrapped([*counted_answers(run), *facts], width, further="  ")
    if patterns or verbose or is_small(run):
        rows = [row for row in result_rows(run) if not patterns or row.pattern in patterns]
        means = {} if patterns else gains(sorted_pairs(run))
        yield from table_lines(rows, width, means, verbose=verbose)
    yield ""
    if verbose:
        yield from _remarks([f"{key}: {status}: {reason}" for key, status, reason in failures(run, whole=True)], width)
        yield from _remarks(remarks(run), width)
    elif on_terminal:
        yield from (f"! {_shortened(line, width - 2)}" for line in brief_remarks(run))
    else:
        yield from _remarks(brief_remarks(run), width)
    yield from _outputs(run, whole=verbose)
    if not patterns:
        yield from _next_steps(run, width)
    yield f"run folder: {run.path} ({state(run)})"


def _next_steps(run: Run, width: int) -> Iterator[str | Text]:
    """Each command, whole to be copied, and its purpose as a comment, beside it if there is room."""
    steps = next_steps(run)
    if steps:
        yield Text("Next:", style="bold")
    for command, purpose in steps:
        line = f"  {command}  # {purpose}"
        yield from [line] if len(line) <= width else [f"  {command}", *wrapped([purpose], width, "    # ", "    # ")]


def _opening(run: Run) -> list[str]:
    """The verdict, the device, and further answers."""
    verdict, *more = answer_sentences(run)
    return [verdict, headline(run), *more]


def _summary(run: Run, width: int) -> Iterator[str | Text]:
    verdict, *more = _opening(run)
    yield from (Text(line, style="bold") for line in wrapped([verdict], width))
    yield from wrapped(more, width, further="  ")
    for sentence, named in highlights(run):
        lines = wrapped([sentence], width, further="  ")
        yield from (Text(line, style="bold") for line in lines) if named else lines
        yield from wrapped(map("".join, named), width, "  ")


def _remarks(lines: Sequence[str], width: int) -> Iterator[str]:
    for line in lines:
        yield from textwrap.wrap(
            from_here(line),
            width,
            initial_indent="! ",
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )


#: Last lines of a failed case's output that the short report shows.
_LAST: Final = 10


def _outputs(run: Run, *, whole: bool) -> Iterator[str]:
    """What the code of failed families has printed, the last lines of each case's; or all that was printed."""
    cases = run.cases[run.cases["output"].notna()]
    if not whole:
        cases = cases[cases["family_id"].isin(run.failed_cases["family_id"])]
    for case in cases.to_dict("records"):
        counted = ((line, len([*equal])) for line, equal in groupby(case["output"].splitlines()))
        lines = [line if times == 1 else f"{line} ({times} times)" for line, times in counted]
        yield f"{case['pattern']}/{case['variant']}{point_words(case)} printed:"
        yield from (f"  {from_here(line)}" for line in (lines if whole else lines[-_LAST:]))


def _shortened(line: str, width: int) -> str:
    """One line, which says where the rest of it is."""
    return textwrap.shorten(from_here(line), width, placeholder=" ... (--verbose)")


def _answer_cell(row: ResultRow) -> str:
    answer = f"{SIGNS.get(row.answer, '')} {row.answer}".strip()
    return f"{answer}: {row.obstacle}" if row.obstacle else answer


#: Columns of the Markdown tables that are left out if empty, such as the occupancy on a CPU device.
OPTIONAL: Final[Mapping[str, Callable[[ResultRow], str]]] = {
    "overlap": lambda row: row.overlap,
    "predicted occupancy": lambda row: row.occupancy,
    "rate": lambda row: row.rate,
    "accuracy": lambda row: row.error,
    "compiling": lambda row: row.compiling,
}

#: Every column of the Markdown tables, by its heading.
MARKDOWN_COLUMNS: Final[Mapping[str, Callable[[ResultRow], str]]] = {
    # a pattern is named in the row of its baseline, which has no answer
    "pattern": lambda row: "" if row.answer else f"`{row.pattern}` {row.axes} ({row.metric} time)".replace("  ", " "),
    "variant": lambda row: row.label if row.answer else f"{row.variant} ({row.role})",
    "answer": _answer_cell,
    "speed-up": lambda row: row.speedup,
    "95 % interval": lambda row: row.interval,
    "claimed": lambda row: row.claim,
    "claimed for": lambda row: row.claimed_for,
    "claimed by": lambda row: row.source,
    "time": lambda row: row.time,
    "of roof": lambda row: row.roof,
    **OPTIONAL,
}


def render_markdown(run: Run) -> str:
    """The answers, a heading and a table a chapter, then what has no result."""
    verdict, *more = _opening(run)
    lines = [f"**{escape(verdict)}**", "", *(f"- {escape(each)}" for each in more), ""]
    for sentence, named in (*highlights(run), Highlight(device_line(run))):
        lines += [escape(sentence), "", *(f"- {escape(''.join(each))}" for each in named), *([""] if named else [])]
    means = gains(sorted_pairs(run))
    for chapter, rows in groupby(result_rows(run), key=lambda row: row.chapter):
        lines += [f"### {escape(chapter)}", "", *_chapter_table(rows), ""]
        if chapter in means:
            lines += [f"{mean_words(*means[chapter])}.", ""]
    without_result = [escape(f"- `{key}`: {status}: {reason}") for key, status, reason in failures(run)]
    if without_result:
        lines += ["### without a result", "", *without_result, ""]
    lines += [f"- {note}" for note in notes(run)]
    return "\n".join(lines).rstrip("\n")


def _chapter_table(rows: Iterable[ResultRow]) -> list[str]:
    rows = list(rows)
    shown = {name: cell for name, cell in MARKDOWN_COLUMNS.items() if name not in OPTIONAL or any(map(cell, rows))}
    return markdown_table([*shown], ([cell(row) for cell in shown.values()] for row in rows))
