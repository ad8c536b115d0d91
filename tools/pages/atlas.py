"""Which lesson carries over to which device, from every stored run: ``python -m tools.pages.atlas results``.

It writes `atlas.md` and `atlas.html` into the folder of the runs. A run that `xebench pack-run` has packed and that is
put there, or into a folder of it, is one of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

import click

from tools.pages.claims import (
    NOT_ASKED,
    NOT_MEASURED,
    OLDER,
    RESULTS,
    SOURCE,
    Answered,
    Found,
    Said,
    class_of,
    is_asked,
    told,
)
from xebench.cli.output import run_program
from xebench.patterns.declaration import PatternInfo
from xebench.patterns.registry import discover
from xebench.report import units
from xebench.report.remarks import SIGNS
from xebench.report.result_rows import short_compilers
from xebench.report.table_forms import fill, table
from xebench.results import Run, load_run
from xebench.results.files import MANIFEST
from xebench.vocabulary import ANSWERED, Answer, DeviceClass

#: Answers that say something of the device, in the order in which a cell has them.
_SHOWN: Final = (*ANSWERED, Answer.SKIPPED, Answer.NOT_ASKED)
_COUNTED: Final = (*_SHOWN, OLDER, NOT_MEASURED)
#: A cell has the first of these among its answers at several points.
_FIRST: Final = (Answer.INVERTS, Answer.NO_EFFECT, Answer.SAME_PROGRAM, Answer.HOLDS, *_SHOWN)


#: Answers that two devices can agree or disagree in.
_DECIDED: Final = (Answer.HOLDS, Answer.INVERTS, Answer.NO_EFFECT)
#: What becomes of a claim over several devices.
FATES: Final = ("holds on all", "holds on none", "differs by class", "turns within a class")


class Cell(NamedTuple):
    """A device's answers to a claim.

    Attributes:
        words: words for readers.
        kind: an answer, `OLDER` or `NOT_MEASURED`; of several answers the one that says most against the claim.
    """

    words: str
    kind: str


@dataclass(frozen=True)
class Row:
    """A claim with its lesson, and a cell for each device."""

    info: PatternInfo
    said: Said
    cells: tuple[Cell, ...]


def stored_runs(folder: Path = RESULTS) -> dict[str, Run]:
    """Every run in a folder and those in it, by its place there, the latest first; packed ones too."""
    # a source distribution has the manifests alone
    found = [path.parent for path in folder.rglob(MANIFEST) if path.with_name("devices.parquet").is_file()]
    places = [*found, *folder.rglob("*.zip")]
    runs = {path.relative_to(folder).as_posix(): load_run(path) for path in sorted(places)}
    return dict(sorted(runs.items(), key=lambda item: str(item[1].manifest.get("created")), reverse=True))


def device_of(run: Run) -> str:
    """The device's name and class."""
    kind = "CPU device" if class_of(run) == DeviceClass.CPU else "GPU"
    return f"{run.devices['name'].iloc[0]}, {kind}"


def by_device(runs: Mapping[str, Run]) -> dict[str, list[str]]:
    """The runs of each device and compiler by the column's heading, CPU devices last.

    A run without kernels of Python is in the latest column of its device; one without a device, which was cut off
    early, in none.
    """
    known = [name for name, run in runs.items() if not run.devices.empty]
    devices: dict[str, list[str]] = {}
    for name in sorted(known, key=lambda name: (class_of(runs[name]) == DeviceClass.CPU, device_of(runs[name]))):
        device = device_of(runs[name])
        beside = (short_compilers(runs[other]) for other in known if device_of(runs[other]) == device)
        compiler = short_compilers(runs[name]) or next(filter(None, beside), "")
        devices.setdefault(", ".join(filter(None, (device, compiler))), []).append(name)
    return devices


def rows(answered: Answered) -> list[Row]:
    """A row for each claim that samples can answer, by chapter and pattern."""
    infos = {info.name: info for info in answered.infos}
    columns = by_device(answered.runs)
    made = [
        Row(infos[said.pattern], said, tuple(cell(answered, number, names) for names in columns.values()))
        for number, said in enumerate(answered.said)
    ]
    return sorted(made, key=lambda row: (row.info.chapter, row.info.name))


def cell(answered: Answered, number: int, names: Sequence[str]) -> Cell:
    """The answer of a device's runs to a claim: runs of today's program, else the latest older one, in brackets.

    Args:
        answered: the claims and the runs.
        number: number of the claim.
        names: the device's runs, the latest first.
    """
    today = [each for name in names for each in answered.found[name][number] if not each.older]
    if asked := [each for each in today if each.answer in _SHOWN]:
        return Cell(in_words(asked), next(word for word in _FIRST if word in {one.answer for one in asked}))
    for name in names:
        if older := [each for each in answered.found[name][number] if each.answer in _SHOWN]:
            return Cell(f"{OLDER} ({in_words(older)})", OLDER)
    said, runs = answered.said[number], [answered.runs[name] for name in names]
    if not is_asked(said, answered.said, class_of(runs[0])):
        return Cell(NOT_ASKED, Answer.NOT_ASKED)
    if any((run.part("cases", ["pattern"])["pattern"] == said.pattern).any() for run in runs):
        return Cell(OLDER, OLDER)
    return Cell(NOT_MEASURED, NOT_MEASURED)


def in_words(found: Iterable[Found]) -> str:
    """``holds 1.82 [1.80, 1.84]``; of several points the ends of all: ``holds 1.2 to 4.5 [1.1, 4.7] at 3 points``."""
    by_word = {word: [each for each in found if each.answer == word] for word in _SHOWN}
    return "; ".join(_of_one(word, group) for word, group in by_word.items() if group)


def _of_one(word: str, group: Sequence[Found]) -> str:
    if word == Answer.NOT_ASKED:
        return word
    speedups = [each.speedup for each in group if each.speedup is not None]
    span = " to ".join(dict.fromkeys(units.figure(end) for end in (min(speedups), max(speedups)))) if speedups else ""
    lows = [each.low for each in group if each.low is not None]
    highs = [each.high for each in group if each.high is not None]
    interval = f"[{units.figure(min(lows))}, {units.figure(max(highs))}]" if lows and highs else ""
    where = f"at {len(group)} points" if len(group) > 1 else ""
    return " ".join(filter(None, (word, span, interval, where)))


def _sign(made: Cell) -> str:
    return SIGNS.get(made.kind, "")


def counts(made: Sequence[Row], devices: Sequence[str]) -> list[tuple[str | int, ...]]:
    """The number of claims by kind of answer, for each device."""
    lines: list[tuple[str | int, ...]] = []
    for column, device in enumerate(devices):
        kinds = Counter(row.cells[column].kind for row in made)
        lines.append((device, *(kinds[kind] for kind in _COUNTED)))
    return lines


def classes(answered: Answered) -> list[str]:
    """The class of each column's device."""
    return [class_of(answered.runs[names[0]]) for names in by_device(answered.runs).values()]


def fate(cells: Sequence[Cell], of_class: Sequence[str]) -> str:
    """One of `FATES`; "" where fewer than two devices have decided.

    Args:
        cells: a claim's answer on each device.
        of_class: class of each device.
    """
    held = [
        (kind, made.kind == Answer.HOLDS) for made, kind in zip(cells, of_class, strict=True) if made.kind in _DECIDED
    ]
    if len(held) < 2:
        return ""
    if len({each for _, each in held}) == 1:
        return FATES[0] if held[0][1] else FATES[1]
    return FATES[2] if len(set(held)) == len({kind for kind, _ in held}) else FATES[3]


def matrix(made: Sequence[Row], of_class: Sequence[str]) -> list[tuple[str | int, ...]]:
    """A line a chapter: how many claims have which answer on each device, and how many have which fate."""
    lines: list[tuple[str | int, ...]] = []
    for chapter, group in groupby(made, key=lambda row: row.info.chapter):
        own = [*group]
        kinds = [Counter(row.cells[column].kind for row in own) for column in range(len(of_class))]
        answers = (", ".join(f"{SIGNS[word]} {each[word]}" for word in _DECIDED if each[word]) or "-" for each in kinds)
        fates = Counter(fate(row.cells, of_class) for row in own)
        lines.append((chapter, *answers, *(fates[name] for name in FATES)))
    return lines


def markdown(answered: Answered) -> str:
    """The page as Markdown."""
    made, devices = rows(answered), by_device(answered.runs)
    chapters = {}
    for chapter, group in groupby(made, key=lambda row: row.info.chapter):
        lines = []
        for info, own in groupby(group, key=lambda row: row.info):
            for first, row in enumerate(own):
                lesson = "" if first else f"`{info.name}`: {info.lesson}"
                answers = [f"{_sign(each)} {each.words}" for each in row.cells]
                lines.append((lesson, *told(row.said, answers)[1:]))
        chapters[chapter] = table(("lesson", "claim", *devices, *SOURCE), lines)
    summary = table(("device", *_COUNTED), counts(made, [*devices]), right=range(1, 1 + len(_COUNTED)))
    agreeing = matrix(made, classes(answered))
    headings = ("chapter", *devices, *FATES)
    agreement = table(headings, agreeing, right=range(len(headings) - len(FATES), len(headings)))
    tables = {"summary": summary, "agreement": agreement, "chapters": chapters}
    return fill("tools.pages", "atlas.md.j2", **_common(answered), **tables) + "\n"


def html(answered: Answered) -> str:
    """The page as one HTML file that needs nothing else."""
    made, devices = rows(answered), by_device(answered.runs)
    chapters = {
        chapter: [
            (info, [(row, told(row.said, ()), [*zip(row.cells, map(_sign, row.cells), strict=True)]) for row in own])
            for info, own in groupby(group, key=lambda row: row.info)
        ]
        for chapter, group in groupby(made, key=lambda row: row.info.chapter)
    }
    common = {**_common(answered), "counted": _COUNTED, "summary": counts(made, [*devices])}
    agreement = matrix(made, classes(answered))
    return fill("tools.pages", "atlas.html.j2", **common, fates=FATES, agreement=agreement, chapters=chapters) + "\n"


def _common(answered: Answered) -> dict[str, object]:
    return {"devices": by_device(answered.runs), "older": OLDER, "not_asked": NOT_ASKED, "not_measured": NOT_MEASURED}


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), default=RESULTS)
def main(folder: Path) -> None:
    """Write the atlas of the runs in FOLDER into it."""
    answered = Answered(discover(), stored_runs(folder), {})
    for name, text in (("atlas.md", markdown(answered)), ("atlas.html", html(answered))):
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run_program(main, "python -m tools.pages.atlas")
