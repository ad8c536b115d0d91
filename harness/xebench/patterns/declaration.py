"""A pattern's declaration as plain data, which needs not its module, and the lessons of the guide that it covers."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from xebench.records.claim import Claim
from xebench.vocabulary import Role, Strength, find_baseline

if TYPE_CHECKING:
    from xebench.patterns.pattern import Pattern


class VariantInfo(msgspec.Struct, frozen=True):
    """A variant's name, role, claims, its first line of documentation, and variables beside the pattern's.

    ``against`` is what it is compared with where nothing is claimed: another variant, or "" for the baseline.
    """

    name: str
    role: str
    claims: tuple[Claim, ...]
    summary: str
    environment: Mapping[str, str] = {}
    against: str = ""


class PatternInfo(msgspec.Struct, frozen=True):
    """A pattern's declaration as data; ``source`` is the file and ``chapter`` the folder it lies in.

    ``source_sha256`` is a hash of the file with what it imports from the user's or the project's folders.
    ``further_sizes`` has, by preset, the sizes of each family beside those at the preset's own.
    """

    name: str
    chapter: str
    guide: str
    lesson: str
    catalogue: tuple[str, ...]
    metric: str
    presets: Mapping[str, Mapping[str, Any]]
    axes: Mapping[str, tuple[Any, ...]]
    variants: tuple[VariantInfo, ...]
    source: str
    state: str = "hot"
    environment: Mapping[str, str] = {}
    further_sizes: Mapping[str, tuple[Mapping[str, Any], ...]] = {}
    source_sha256: str = ""
    own_sizes: str = ""
    short_launches: str = ""
    stand_in: str = ""


def describe(pattern: Pattern, source_sha256: str = "") -> PatternInfo:
    """The declaration of a pattern as data; each claim names what the variant is compared with."""
    baseline = pattern.baseline_variant.name
    return PatternInfo(
        name=pattern.name,
        chapter=pattern.source.parent.name,
        guide=pattern.guide,
        lesson=pattern.lesson,
        catalogue=pattern.catalogue,
        metric=pattern.metric,
        presets=pattern.presets,
        axes=pattern.axes,
        variants=tuple(
            VariantInfo(
                variant.name,
                variant.role,
                _named(variant.claims, baseline),
                variant.summary,
                variant.environment,
                variant.against,
            )
            for variant in pattern.variants.values()
        ),
        source=str(pattern.source),
        state=pattern.state,
        environment=pattern.environment,
        further_sizes=pattern.further_sizes,
        source_sha256=source_sha256,
        own_sizes=pattern.own_sizes,
        short_launches=pattern.short_launches,
        stand_in=pattern.stand_in,
    )


def shown_pair(info: PatternInfo) -> tuple[VariantInfo, VariantInfo] | None:
    """The two variants that a reader sees first, the slower one on the left; None if there is only one.

    They are those of the firmest claim of the guide on times, errors or code: one without conditions, with a figure, or
    else one that it states, or implies. Among equal ones a claim on an optimized variant goes first, then one against
    the baseline. Without a claim of the guide they are the baseline and the first optimized variant.
    """
    baseline = find_baseline(info.variants, role=lambda each: each.role)
    named = {variant.name: variant for variant in info.variants}
    firmness = {Strength.FIGURE: 0, Strength.STATED: 1, Strength.IMPLIED: 2}
    claimed = [
        (bool(claim.requires), firmness[Strength(claim.strength)], variant.role != Role.OPTIMIZED, claim, variant)
        for variant in info.variants
        for claim in variant.claims
        if not claim.is_ours and not claim.of_end and claim.against in named
    ]
    if claimed:
        *_, claim, variant = min(claimed, key=lambda one: (*one[:3], named[one[3].against] is not baseline))
        return named[claim.against], variant
    others = [each for each in info.variants if each is not baseline]
    if baseline is None or not others:
        return None
    return baseline, next((each for each in others if each.role == Role.OPTIMIZED), others[0])


def _named(claims: Iterable[Claim], baseline: str) -> tuple[Claim, ...]:
    return tuple(msgspec.structs.replace(claim, against=claim.against or baseline) for claim in claims)


@dataclass(frozen=True)
class CatalogueEntry:
    """A lesson of the guide.

    Attributes:
        id: identifier that patterns use.
        name: name of the lesson.
        guide: its place in the guide.
        program: ``kernel`` or ``host``: the program that the lesson lies in.
        same_as: id of the entry with the same lesson in another chapter; a pattern that names one of them covers all.
        kind: ``recorded`` or ``cannot be said`` for lessons without a pattern; "" otherwise.
        detail: place where the lesson is recorded (columns as ``table.column``, facts of the manifest, commands), or
            the reason why it cannot be said.
        stand_in: nearest substitute for a lesson that cannot be said.
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
