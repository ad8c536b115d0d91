"""What the harness knows of a pattern without running it: plain data that lists, plans and reports use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from harness.patterns.pattern import Pattern


class VariantInfo(msgspec.Struct, frozen=True):
    """A variant's name, role, claim by device class, and its first line of documentation."""

    name: str
    role: str
    claim: Mapping[str, str]
    summary: str


class PatternInfo(msgspec.Struct, frozen=True):
    """A pattern's declaration as data; ``source`` is the file and ``chapter`` the folder it lies in."""

    name: str
    chapter: str
    guide: str
    lesson: str
    catalogue: tuple[str, ...]
    metric: str
    claim: Mapping[str, str]
    presets: Mapping[str, Mapping[str, Any]]
    axes: Mapping[str, tuple[Any, ...]]
    variants: tuple[VariantInfo, ...]
    source: str


def describe(pattern: Pattern) -> PatternInfo:
    """The declaration of a pattern as data."""
    return PatternInfo(
        name=pattern.name,
        chapter=pattern.source.parent.name,
        guide=pattern.guide,
        lesson=pattern.lesson,
        catalogue=pattern.catalogue,
        metric=pattern.metric,
        claim=pattern.claim,
        presets=pattern.presets,
        axes=pattern.axes,
        variants=tuple(VariantInfo(v.name, v.role, v.claim, v.summary) for v in pattern.variants.values()),
        source=str(pattern.source),
    )
