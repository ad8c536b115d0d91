"""From declarations to a plan: which families of cases a run measures."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.errors import PatternError
from harness.patterns.declaration import PatternInfo


@dataclass(frozen=True)
class Family:
    """The variants of one pattern at one size and one point of its axes: what is sampled side by side."""

    pattern: PatternInfo
    preset: str
    sizes: Mapping[str, Any]
    axes: Mapping[str, Any]

    def axes_text(self) -> str:
        """The point on the axes, readable and stable: ``stride=16;work_group_size=32``."""
        return ";".join(f"{name}={self.axes[name]}" for name in sorted(self.axes))

    def axes_json(self) -> str:
        """The point on the axes as tables keep it: a JSON object."""
        return json.dumps(dict(self.axes), sort_keys=True)

    def case_id(self, variant: str, device_class: str) -> str:
        """The key of one case, unique within a run."""
        return "/".join((self.pattern.name, variant, self.preset, self.axes_text() or "-", device_class))


def build_plan(
    patterns: Sequence[PatternInfo], preset: str, overrides: Mapping[str, Sequence[Any]] | None = None
) -> list[Family]:
    """Every family that a run with these patterns, this preset and these axis values measures.

    Args:
        patterns: what was selected.
        preset: a preset's name; patterns that lack it are left out.
        overrides: values for axes or for a preset's numbers (``--set``); each combination is a family.

    Raises:
        PatternError: nothing is left to measure, or an override names what no selected pattern has.
    """
    overrides = dict(overrides or {})
    unused = set(overrides)
    families: list[Family] = []
    for info in patterns:
        if preset not in info.presets:
            continue
        sizes = info.presets[preset]
        unused -= set(sizes) | set(info.axes)
        swept = {name: tuple(overrides.get(name, values)) for name, values in info.axes.items()}
        fixed = {name: tuple(overrides.get(name, (value,))) for name, value in sizes.items()}
        names = [*swept, *fixed]
        for point in itertools.product(*swept.values(), *fixed.values()):
            values = dict(zip(names, point, strict=True))
            axes = {n: values[n] for n in names if n in swept or (n in overrides and len(overrides[n]) > 1)}
            families.append(Family(info, preset, {name: values[name] for name in fixed}, axes))
    if unused:
        raise PatternError(
            f"--set {sorted(unused)[0]}: no selected pattern has such an axis or size: see 'xebench list --json'"
        )
    if not families:
        known = sorted({name for info in patterns for name in info.presets})
        raise PatternError(f"no selected pattern has the preset {preset!r}: known are {', '.join(known)}")
    return families


def parse_override(text: str) -> tuple[str, tuple[Any, ...]]:
    """Read ``name=value,value``; numbers become numbers.

    Raises:
        PatternError: the text has another form.
    """
    name, equals, values = text.partition("=")
    if not name or not equals or not values:
        raise PatternError(f"--set {text!r}: write NAME=VALUE or NAME=VALUE,VALUE")
    return name.strip(), tuple(_number(value.strip()) for value in values.split(","))


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
