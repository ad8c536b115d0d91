"""A pattern's declaration as plain data: it can be shown, kept and sent without the pattern's module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from xebench.tables.analysis.claim import Claim

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


def _named(claims: Iterable[Claim], baseline: str) -> tuple[Claim, ...]:
    return tuple(msgspec.structs.replace(claim, against=claim.against or baseline) for claim in claims)
