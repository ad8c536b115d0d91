"""The catalogue of the guide's lessons, and those that a pattern covers."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from xebench.patterns.declaration import PatternInfo


@dataclass(frozen=True)
class CatalogueEntry:
    """A lesson of the guide.

    Attributes:
        id: as patterns name it.
        name: its name.
        guide: its place in the guide.
        program: ``kernel`` or ``host``: the program that the lesson lies in.
        same_as: the id of the entry of which this is the same lesson in another chapter; a pattern that names one of
            them covers all.
        kind: ``recorded`` or ``cannot be said``, where a pattern is not the answer.
        detail: what records it (columns as ``table.column``, facts of the manifest, commands), or why it cannot be
            said.
        stand_in: the nearest substitute for a lesson that cannot be expressed.
    """

    id: str
    name: str
    guide: str
    program: str
    same_as: str
    kind: str
    detail: str
    stand_in: str

    @property
    def lesson(self) -> str:
        """The id that stands for the lesson in all of its chapters."""
        return self.same_as or self.id


@cache
def entries() -> tuple[CatalogueEntry, ...]:
    """The catalogue, in the guide's order."""
    text = Path(__file__).with_name("data").joinpath("catalogue.csv").read_text(encoding="utf-8")
    return tuple(CatalogueEntry(**row) for row in csv.DictReader(text.splitlines()))


def covered_entries(ids: Iterable[str]) -> tuple[CatalogueEntry, ...]:
    """The entries that a pattern covers which names these ids: theirs, and the same lessons in other chapters."""
    named = set(ids)
    lessons = {entry.lesson for entry in entries() if entry.id in named}
    return tuple(entry for entry in entries() if entry.lesson in lessons)


def sections(info: PatternInfo) -> tuple[str, ...]:
    """The places in the guide that a pattern is about: its own, and those of the entries that it covers."""
    return (info.guide, *(entry.guide for entry in covered_entries(info.catalogue)))
