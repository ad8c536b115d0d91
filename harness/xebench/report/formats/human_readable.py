"""A run for people, as text for a terminal and as Markdown: the answers first, a row a pair, and then the remarks."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import Final

from rich.text import Text

from xebench.report import console
from xebench.report.console import draw, terminal_width
from xebench.report.remarks import SIGNS, brief_remarks, compilers_line, failures, noise_line, notes, remarks
from xebench.report.result_rows import ResultRow, device_line, result_rows, sorted_pairs
from xebench.report.run_summary import (
    NBSP,
    Highlight,
    answer_sentence,
    gains,
    headline,
    highlights,
    mean_words,
    next_steps,
    state,
    visits_line,
)
from xebench.report.table_forms import escape
from xebench.report.table_forms import table as markdown_table
from xebench.results import Run
from xebench.vocabulary import Answer

#: Columns at most: longer lines are hard to read.
MOST: Final = 100
#: Columns at least for the words beside a bar: "guide 2.9x on Max 1550".
WORDS: Final = 22

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
_PLAIN: Final = str.maketrans("✓✗≡·●○━│◀▶", "+x=.*o-|<>")


@dataclass(frozen=True)
class _Columns:
    """Widths of the parts of a row: sign, name and speed-up together; the bar; the words."""

    left: int
    bar: int
    words: int


def render_text(
    run: Run,
    width: int | None = None,
    *,
    verbose: bool = False,
    colour: bool | None = None,
    encoding: str | None = None,
) -> str:
    """The answers, and what needs attention.

    Args:
        run: any run, finished or not.
        width: width in columns; by default that of the terminal, at most 100.
        verbose: True for times, roofs, intervals as numbers, whole reasons and everything that was noticed.
        colour: True for a terminal, which shows colours and leaves whole reasons to another command; by default True if
            standard output is a terminal.
        encoding: encoding of the output, by default that of standard output; characters that it lacks are replaced.
    """
    width = min(width or terminal_width(elsewhere=MOST), MOST)
    on_terminal = sys.stdout.isatty() if colour is None else colour
    lines = _lines(run, width, verbose=verbose, on_terminal=on_terminal)
    return _encodable(draw(lines, width, colour=colour), encoding or sys.stdout.encoding)


def excerpt(run: Run, patterns: Collection[str], width: int) -> str:
    """The device, what became of all claims, and the rows of some patterns, as in `render_text`; without colour."""
    rows = [row for row in result_rows(run) if row.pattern in patterns]
    lines = [*_summary(run, width), *_table(rows, width, gains(sorted_pairs(run)), verbose=False)]
    return draw(lines, width, colour=False)


def table(run: Run, width: int) -> str:
    """The rows of all patterns alone, as `render_text` shows them; without colour."""
    return draw(_table(result_rows(run), width, {}, verbose=False), width, colour=False).lstrip("\n")


def _encodable(text: str, encoding: str | None) -> str:
    """The text as an output can show it."""
    encoding = encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "replace").decode(encoding)
    return text


def _lines(run: Run, width: int, *, verbose: bool, on_terminal: bool) -> Iterator[str | Text]:
    first_screen = [*_summary(run, width), *_wrapped(next_steps(run), width)]
    yield from first_screen
    if verbose:
        more = filter(None, (device_line(run), compilers_line(run), noise_line(run), visits_line(run)))
        yield from _wrapped(more, width)
    rows = result_rows(run)
    yield from _table(rows, width, gains(sorted_pairs(run)), verbose=verbose)
    yield ""
    if verbose:
        yield from _remarks([f"{key}: {status}: {reason}" for key, status, reason in failures(run, whole=True)], width)
        yield from _remarks(remarks(run), width)
    elif on_terminal:
        yield from (f"! {_shortened(line, width - 2)}" for line in brief_remarks(run))
    else:
        yield from _remarks(brief_remarks(run), width)
    yield f"run folder: {run.path} ({state(run)})"
    if on_terminal and len(rows) > shutil.get_terminal_size().lines:  # it is out of sight
        yield from ("", *first_screen)


def _summary(run: Run, width: int) -> Iterator[str]:
    yield from _wrapped((headline(run), answer_sentence(run)), width)
    for highlight in highlights(run):
        yield from _wrapped([highlight.sentence], width)
        yield from _wrapped(map("".join, highlight.rows), width, "  ")


def _wrapped(sentences: Iterable[str], width: int, indent: str = "") -> Iterator[str]:
    """Lines that break no word."""
    for sentence in sentences:
        lines = textwrap.wrap(
            sentence,
            width,
            initial_indent=indent,
            subsequent_indent=2 * indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        yield from (line.replace(NBSP, " ") for line in lines)


def _table(
    rows: Sequence[ResultRow], width: int, means: Mapping[str, tuple[float, int]], *, verbose: bool
) -> Iterator[str | Text]:
    columns = _columns([row for row in rows if row.answer], width)
    for chapter, members in groupby(rows, key=lambda row: row.chapter):
        yield ""
        yield _chapter(chapter, columns)
        if chapter in means:
            yield Text(f"  {mean_words(*means[chapter])}", style="dim")
        for row in members:
            yield from _row(row, columns, width, verbose=verbose)


def _columns(rows: Sequence[ResultRow], width: int) -> _Columns:
    """Names take what the longest needs, the bar what the words leave of the rest."""
    needed = max((len(f"? {row.variant} {row.speedup}") for row in rows), default=0)
    left = min(max(needed, 24), width - WORDS - 2 - console.cells_for(17))
    bar = console.cells_for(min(width - WORDS - 2 - left, 25))
    return _Columns(left, bar, width - left - bar - 2)


def _chapter(name: str, columns: _Columns) -> Text:
    """A chapter's heading, which names the columns too."""
    title = Text(name or "without a chapter", style="bold")
    rest = f"speed-up {console.axis(columns.bar)}"
    gap = columns.left - len("speed-up") - len(title)
    if gap < 1:
        return title
    return title.append(" " * gap + rest, style="not bold dim")


def _row(row: ResultRow, columns: _Columns, width: int, *, verbose: bool) -> Iterator[Text]:
    if not row.answer:
        time = " ".join(filter(None, (row.time.removeprefix("-"), row.rate and f"({row.rate})"))).replace(" ", NBSP)
        heading = ", ".join(filter(None, (f"{row.pattern} against {row.variant}", row.axes, time, *row.asides)))
        wrapped = textwrap.wrap(heading, width, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)
        yield from (Text(line.replace(NBSP, " "), style="bold") for line in wrapped)
    else:
        yield from _answer(row, columns, width)
    if verbose:
        for detail in (_measured(row), row.reason):
            for line in textwrap.wrap(detail, width, initial_indent="    ", subsequent_indent="    "):
                yield Text(line, style="dim")


def _measured(row: ResultRow) -> str:
    parts = {
        f"{row.variant}, {row.role}:": ", ".join(filter(None, (row.time, row.rate))),
        "compiling": row.compiling,
        "95 % interval": row.interval,
        "of its roof:": row.roof,
        "copies": row.copies,
        "accuracy:": row.error,
        "predicted occupancy": row.occupancy,
        "guide:": row.guide,
        "claim:": "" if row.guide else row.claimed_by,
    }
    return "; ".join(f"{name} {value}" for name, value in parts.items() if value not in ("", "-"))


def _answer(row: ResultRow, columns: _Columns, width: int) -> Iterator[Text]:
    """Sign, name, speed-up, bar and words; what the name or the words need more stands below."""
    style = COLOURS.get(row.answer, "")
    sign, speedup = SIGNS.get(row.answer, "?"), row.speedup
    names, against = [f"{sign} {row.label}"], ""
    if len(names[0]) + 1 + len(speedup) > columns.left:
        names, against = [f"{sign} {row.variant}"], f"    against {row.against}" if row.against else ""
    if len(names[0]) + 1 + len(speedup) > columns.left:  # a line of its own
        yield from (Text(line, style=style) for line in textwrap.wrap(names[0], width, subsequent_indent="  "))
        names = [""]
    left = names[0].ljust(columns.left - len(speedup)) + speedup
    # without a speed-up the words take the place of the bar
    drawn = row.ends[0] is not None
    first = f"{left} {console.bar(*row.ends, columns.bar)}" if drawn else left
    room = columns.words if drawn else columns.words + columns.bar + 1
    words = _words(row.asides, room)
    measured = row.rate or row.time.removeprefix("-")  # where there is room for it: --verbose has both
    if drawn and measured and len(", ".join((*words, measured))) <= room:
        words = [", ".join((*words, measured))]
    yield Text(first if words else first.rstrip(), style=style).append(f" {words[0]}" if words else "", "not dim")
    for name, word in zip_longest([against] if against else [], words[1:], fillvalue=""):
        yield Text(f"{name.ljust(len(first))} {word}" if word else name)


def _words(asides: Sequence[str], width: int) -> list[str]:
    """Lines that hold as many of these as fit, and break none that fits into a line."""
    lines: list[str] = []
    for aside in asides:
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
    "pattern": lambda row: "" if row.answer else f"`{row.pattern}` {row.axes}".rstrip(),
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
    lines = [escape(headline(run)), "", escape(answer_sentence(run)), ""]
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
