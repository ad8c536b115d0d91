"""The table of results for a terminal: a line a pair, with its claim, the guide's figure and remarks under it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from rich.text import Text

from xebench.report.remarks import SIGNS
from xebench.report.result_rows import ResultRow
from xebench.report.run_summary import NBSP, in_a_sentence, mean_words
from xebench.vocabulary import JUDGED, Answer

#: Columns at least for names; longer ones have a line of their own.
NAME: Final = 14
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


@dataclass(frozen=True)
class _Columns:
    """Widths of the columns of a pattern: sign and name, the figures, and a rate a unit."""

    name: int
    figures: tuple[int, ...]
    rates: Mapping[str, int]


def table_lines(
    rows: Sequence[ResultRow], width: int, means: Mapping[str, tuple[float, int]], *, verbose: bool
) -> Iterator[str | Text]:
    """The rows by chapter and pattern.

    Args:
        rows: rows in the order of `result_rows`.
        width: columns of the table.
        means: geometric mean of a chapter, and of how many patterns it is.
        verbose: True for whole reasons, and for what a row has no column for.
    """
    for chapter, members in groupby(rows, key=lambda row: row.chapter):
        yield ""
        yield Text(chapter or "without a chapter", style="bold underline")
        if means.get(chapter, (1.0, 0))[1] > 1:
            yield Text(mean_words(*means[chapter]), style="dim")
        for _, pattern in groupby(members, key=lambda row: (row.pattern, row.metric)):
            yield from _pattern(list(pattern), width, verbose=verbose)


def wrapped(sentences: Iterable[str], width: int, indent: str = "", further: str | None = None) -> Iterator[str]:
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


def _pattern(rows: Sequence[ResultRow], width: int, *, verbose: bool) -> Iterator[Text]:
    """The heading of a pattern, its families, and what is said of all of its rows."""
    families = {axes: list(group) for axes, group in groupby(rows, key=lambda row: row.axes)}
    common = [part for part in rows[0].axes.split(", ") if all(part in axes.split(", ") for axes in families)]
    columns, shared = _columns(rows, width), _shared(rows)
    yield Text("")
    heading = ", ".join(filter(None, (rows[0].pattern, *common, f"{rows[0].metric} time")))
    yield from (Text(line, style="bold") for line in wrapped([heading], width, "", "    "))
    yield Text(_cells(columns, "  variant", ("time", "speed-up", "interval", "answer"), columns.rates), style="dim")
    for axes, family in families.items():
        if len(families) > 1:
            yield from (Text(line, style="bold") for line in wrapped([_rest(axes, common)], width))
        yield from _family(family, columns, width, shared, verbose=verbose)
    yield from (Text(line, style="dim") for line in wrapped(shared, width, "  "))


def _rest(axes: str, common: Sequence[str]) -> str:
    return ", ".join(part for part in axes.split(", ") if part not in common)


def _family(
    rows: Sequence[ResultRow], columns: _Columns, width: int, shared: Sequence[str], *, verbose: bool
) -> Iterator[Text]:
    """The rows by what they are compared with, the baseline first, and the best variant in a sentence."""
    for other in dict.fromkeys(row.against for row in rows):
        if other:
            yield from (Text(line, style="dim") for line in wrapped([f"against {other}:"], width, "  "))
        for row in rows:
            if row.against == other:
                yield from _row(row, columns, width, shared)
                for detail in (_measured(row), row.reason) if verbose else ():
                    yield from (Text(line, style="dim") for line in wrapped([detail], width, "    ", "    "))
    yield from (Text(line) for line in wrapped(filter(None, [in_a_sentence(rows)]), width, "  "))


def _shared(rows: Sequence[ResultRow]) -> list[str]:
    """The remarks that are the same of all claims of a pattern, or of all of its programs."""
    found: list[str] = []
    for group in ([row for row in rows if row.claim], [row for row in rows if not row.against]):
        if len(group) > 1:
            found += [aside for aside in group[0].asides if all(aside in row.asides for row in group)]
    return list(dict.fromkeys(found))


def _columns(rows: Sequence[ResultRow], width: int) -> _Columns:
    """Figures take what the longest needs, and names what is left."""
    headings = ("time", "speed-up", "interval", "answer")
    figures = tuple(max(map(len, cells)) for cells in zip(headings, *map(_figures, rows), strict=True))
    rates: dict[str, int] = {}
    for row in rows:
        for unit, value in _rates(row).items():
            rates[unit] = max(rates.get(unit, 0), len(unit), len(value))
    room = width - sum(figures) - len(figures) - sum(rates.values()) - len(rates)
    return _Columns(min(max(len(f"? {row.variant}") for row in rows), max(room, NAME)), figures, rates)


def _figures(row: ResultRow) -> tuple[str, str, str, str]:
    """The time, speed-up, interval and answer; "" for what there is not."""
    answer = row.answer if row.claim and (row.answer in JUDGED or _is_measured(row)) else ""
    return row.time.removeprefix("-"), row.speedup.removeprefix("-"), row.interval.removeprefix("-"), answer


def _is_measured(row: ResultRow) -> bool:
    return row.ends[0] is not None or not row.answer


def _rates(row: ResultRow) -> dict[str, str]:
    """The rates by their units."""
    parts = (part.partition(" ") for part in row.rate.split(", ") if part)
    return {unit: value for value, _, unit in parts}


def _row(row: ResultRow, columns: _Columns, width: int, shared: Sequence[str]) -> Iterator[Text]:
    """A row and its remarks; a name has a line of its own where it is long."""
    style = COLOURS.get(row.answer, "")
    sign = SIGNS[row.answer] if row.answer else " "
    name = f"{sign} {row.variant}"
    if len(name) > columns.name:
        yield from (Text(line, style=style) for line in wrapped([row.variant], width, f"{sign} ", "  "))
        name = ""
    asides = [aside for aside in row.asides if aside not in shared]
    if _is_measured(row):
        rates = _rates(row)
        yield Text(_cells(columns, name, _figures(row), [rates.get(unit, "") for unit in columns.rates]), style=style)
        # why a comparison without a claim has no answer is of no interest
        asides = [aside for aside in asides if row.claim or aside != row.obstacle]
    else:  # without figures the words have their place
        words = "; ".join(filter(None, [row.answer if row.answer in JUDGED or not row.obstacle else "", *asides]))
        indent = " " * (columns.name + 1)
        first, *others = list(wrapped([words], width, indent, indent)) or [""]
        first = f"{name:{columns.name}} {first.lstrip()}".rstrip()
        yield from (Text(line, style=style) for line in (first, *others))
        asides = []
    yield from (Text(line, style="dim") for line in wrapped(["; ".join(asides)], width, "    ", "    "))


def _cells(columns: _Columns, name: str, figures: Sequence[str], rates: Iterable[str]) -> str:
    """A line of the table; the answer is aligned at its left."""
    *numbers, answer = zip(figures, columns.figures, strict=True)
    cells = [f"{name:{columns.name}}", *(f"{text:>{size}}" for text, size in numbers), f"{answer[0]:{answer[1]}}"]
    cells += [f"{text:>{size}}" for text, size in zip(rates, columns.rates.values(), strict=True)]
    return " ".join(cells).rstrip()


def _measured(row: ResultRow) -> str:
    parts = {
        f"{row.variant}, {row.role}:": ", ".join(filter(None, (row.time, row.rate))),
        "compiling": row.compiling,
        "reaches": row.roof,
        "copies": row.copies,
        "accuracy:": row.error,
        "predicted occupancy": row.occupancy,
        "guide:": row.guide,
        "claim:": "" if row.guide else row.claimed_by,
    }
    return "; ".join(f"{name} {value}" for name, value in parts.items() if value not in ("", "-"))
