"""What the harness knows of a pattern without running it: plain data that lists, plans and reports use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.patterns.pattern import Pattern


@dataclass(frozen=True)
class VariantInfo:
    """A variant's name, role, claim by device class, and its first line of documentation."""

    name: str
    role: str
    claim: Mapping[str, str]
    summary: str


@dataclass(frozen=True)
class PatternInfo:
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

    def to_json(self) -> dict[str, Any]:
        """One object for ``xebench list --json``."""
        return {
            "name": self.name,
            "chapter": self.chapter,
            "guide": self.guide,
            "lesson": self.lesson,
            "catalogue": list(self.catalogue),
            "metric": self.metric,
            "claim": dict(self.claim),
            "presets": {name: dict(sizes) for name, sizes in self.presets.items()},
            "axes": {name: list(values) for name, values in self.axes.items()},
            "variants": [
                {"name": v.name, "role": v.role, "claim": dict(v.claim), "summary": v.summary} for v in self.variants
            ],
            "source": self.source,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PatternInfo:
        """The inverse of :meth:`to_json`."""
        fields = dict(data)
        fields["catalogue"] = tuple(fields["catalogue"])
        fields["axes"] = {name: tuple(values) for name, values in fields["axes"].items()}
        fields["variants"] = tuple(VariantInfo(**variant) for variant in fields["variants"])
        return cls(**fields)


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
        variants=tuple(VariantInfo(v.name, v.role, dict(v.claim), v.summary) for v in pattern.variants.values()),
        source=str(pattern.source),
    )
