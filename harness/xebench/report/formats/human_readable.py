"""A run for people, as text for a terminal and as Markdown: the answers first, a row a pair, and then the remarks."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from rich.text import Text

from xebench.report.console import draw, terminal_width
from xebench.report.remarks import SIGNS, brief_remarks, compilers_line, failures, noise_line, notes, remarks
from xebench.report.result_rows import ResultRow, device_line, result_rows, sorted_pairs
from xebench.report.run_summary import (
    NBSP,
    Highlight,
    answer_sentences,
    gains,
    headline,
    highlights,
    in_a_sentence,
    is_small,
    mean_words,
    next_steps,
    rounds_line,
    state,
)
from xebench.report.table_forms import escape
from xebench.report.table_forms import table as markdown_table
from xebench.results import Run
from xebench.vocabulary import JUDGED, Answer

#: Columns at most: longer lines are hard to read.
MOST: Final = 100
#: Columns at least for the words of an answer: "inverts, guide 2.9x on".
WORDS: Final = 18
# distinct for readers who cannot distinguish red and green; the signs carry the meaning
COLOURS: Final[dict[str, str]] = {
    Answer.HOLDS: "cyan",
    Answer.INVERTS: "bold yellow",
    Answer.NO_EFFECT: "magenta",
    Answer.SAME_PROGRAM: "magenta",
    Answer.UNDECIDED: "",
    Answer.NO_CLAIM: "dim",
    Answer.SKIPPED: "dim",
}

#: Replacements for encodings that lack these characters.
_PLAIN: Final = str.maketrans("✓✗≡·", "+x=.")


@dataclass(frozen=True)
class _Columns:
    """Widths of the columns of a row: sign and name; time; speed-up; its interval; the words of the answer."""

    name: int
    time: int
    speedup: int
    interval: int
    words: int


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
    """The device, what became of all claims, and the rows of some patterns, as in `render_text`; without colour."""
    rows = [row for row in result_rows(run) if row.pattern in patterns]
    summary = _wrapped((headline(run), *answer_sentences(run)), width)
    lines = [*summary, *_table(rows, width, {}, verbose=False)]
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
        yield from _wrapped([headline(run)], width)
    else:
        yield from _summary(run, width)
    if verbose:
        more = filter(None, (device_line(run), compilers_line(run), noise_line(run), rounds_line(run)))
        yield from _wrapped(more, width)
    if patterns or verbose or is_small(run):
        rows = [row for row in result_rows(run) if not patterns or row.pattern in patterns]
        means = {} if patterns else gains(sorted_pairs(run))
        yield from _table(rows, width, means, verbose=verbose)
    yield ""
    if verbose:
        yield from _remarks([f"{key}: {status}: {reason}" for key, status, reason in failures(run, whole=True)], width)
        yield from _remarks(remarks(run), width)
    elif on_terminal:
        yield from (f"! {_shortened(line, width - 2)}" for line in brief_remarks(run))
    else:
        yield from _remarks(brief_remarks(run), width)
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
        yield from [line] if len(line) <= width else [f"  {command}", *_wrapped([purpose], width, "    # ", "    # ")]


def _summary(run: Run, width: int) -> Iterator[str | Text]:
    yield from (Text(line, style="bold") for line in _wrapped([headline(run)], width))
    yield from _wrapped(answer_sentences(run), width, further="  ")
    for sentence, named in highlights(run):
        lines = _wrapped([sentence], width, further="  ")
        yield from (Text(line, style="bold") for line in lines) if named else lines
        yield from _wrapped(map("".join, named), width, "  ")


def _wrapped(sentences: Iterable[str], width: int, indent: str = "", further: str | None = None) -> Iterator[str]:
    """Lines that break no word."""
    for sentence in sentences:
        lines = textwrap.wrap(
            sentence,
            width,
            initial_indent=indent,
            subsequent_indent=2 * indent if further is None else further,
            break_long_words=False,
            break_on_hyphens=False,
        )
        yield from (line.replace(NBSP, " ") for line in lines)


def _table(
    rows: Sequence[ResultRow], width: int, means: Mapping[str, tuple[float, int]], *, verbose: bool
) -> Iterator[str | Text]:
    columns = _columns(rows, width)
    for chapter, members in groupby(rows, key=lambda row: row.chapter):
        yield ""
        yield Text(chapter or "without a chapter", style="bold underline")
        if means.get(chapter, (1.0, 0))[1] > 1:
            yield Text(mean_words(*means[chapter]), style="dim")
        for _, family in groupby(members, key=lambda row: (row.pattern, row.axes)):
            yield from _family(list(family), columns, width, verbose=verbose)


def _columns(rows: Sequence[ResultRow], width: int) -> _Columns:
    """Figures take what the longest needs, names what the words of answers leave of the rest."""
    headings = ("time", "speed-up", "interval")
    time, speedup, interval = (max(map(len, cells)) for cells in zip(headings, *map(_figures, rows), strict=True))
    room = width - time - speedup - interval - 4
    name = min(max((len(f"? {row.variant}") for row in rows), default=0), room - WORDS)
    return _Columns(name, time, speedup, interval, room - name)


def _figures(row: ResultRow) -> tuple[str, str, str]:
    """The time, speed-up and interval; "" for one that is not known."""
    return row.time.removeprefix("-"), row.speedup.removeprefix("-"), row.interval.removeprefix("-")


def _family(rows: Sequence[ResultRow], columns: _Columns, width: int, *, verbose: bool) -> Iterator[Text]:
    """The heading of a family, its rows, and the largest difference in a sentence."""
    (head, *_) = rows
    heading = ", ".join(filter(None, (head.pattern, head.axes, f"{head.metric} time")))
    yield Text("")
    yield from (Text(line, style="bold") for line in _wrapped([heading], width, "", "    "))
    yield Text(_cells(columns, "  variant", "time", "speed-up", "interval", "answer").rstrip(), style="dim")
    for row in rows:
        yield from _row(row, columns, width)
        for detail in (_measured(row), row.reason) if verbose else ():
            yield from (
                Text(line, style="dim")
                for line in textwrap.wrap(detail, width - 4, initial_indent="    ", subsequent_indent="    ")
            )
    yield from (Text(line) for line in _wrapped(filter(None, [in_a_sentence(rows)]), width, "  "))


def _row(row: ResultRow, columns: _Columns, width: int) -> Iterator[Text]:
    """A row, whose words are continued below it, and whose name has a line of its own where it is long."""
    style = COLOURS.get(row.answer, "")
    name = f"{SIGNS[row.answer]} {row.variant}" if row.answer else f"  {row.variant}"
    if len(name) > columns.name:
        yield from (
            Text(line, style=style)
            for line in textwrap.wrap(row.variant, width - 2, initial_indent=name[:2], subsequent_indent="  ")
        )
        name = ""
    measured = row.ends[0] is not None or not row.answer
    beside = _cells(columns, name, *_figures(row), "")
    head = beside if measured else f"{name:{columns.name}} "  # without figures the words have their place
    words = _words([f"against {row.against}" if row.against else "", *_told(row)], width - len(head))
    first, *others = words or [""]
    yield Text(f"{head}{first}".rstrip(), style=style)
    yield from (Text(" " * len(head) + line) for line in others)


def _told(row: ResultRow) -> tuple[str, ...]:
    """The answer, unless what prevents one says more; what is to be said beside it; and the rate."""
    answer = row.answer if row.claim and (row.answer in JUDGED or not row.obstacle) else ""
    return (answer, *row.asides, row.rate)


def _cells(columns: _Columns, name: str, time: str, speedup: str, interval: str, words: str) -> str:
    figures = f"{time:>{columns.time}} {speedup:>{columns.speedup}} {interval:>{columns.interval}}"
    return f"{name:{columns.name}} {figures} {words}"


def _measured(row: ResultRow) -> str:
    parts = {
        f"{row.variant}, {row.role}:": ", ".join(filter(None, (row.time, row.rate))),
        "compiling": row.compiling,
        "of its roof:": row.roof,
        "copies": row.copies,
        "accuracy:": row.error,
        "predicted occupancy": row.occupancy,
        "guide:": row.guide,
        "claim:": "" if row.guide else row.claimed_by,
    }
    return "; ".join(f"{name} {value}" for name, value in parts.items() if value not in ("", "-"))


def _words(asides: Sequence[str], width: int) -> list[str]:
    """Lines that hold as many of these as fit, and break none that fits into a line."""
    lines: list[str] = []
    for aside in filter(None, asides):
        if lines and len(lines[-1]) + 2 + len(aside) <= width:
            lines[-1] += f", {aside}"
        else:
            lines += textwrap.wrap(aside, width, break_long_words=False, break_on_hyphens=False)
    return lines


def _remarks(lines: Sequence[str], width: int) -> Iterator[str]:
    for line in lines:
        yield from textwrap.wrap(
            line, width, initial_indent="! ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )


def _shortened(line: str, width: int) -> str:
    """One line, which says where the rest of it is."""
    return textwrap.shorten(line, width, placeholder=" ... (--verbose)")


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
    lines = [escape(headline(run)), "", *(f"- {escape(each)}" for each in answer_sentences(run)), ""]
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
