"""Make a plan from declarations: the families of cases that a run measures."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from xebench.errors import PatternError, suggestion
from xebench.patterns.declaration import PatternInfo, VariantInfo
from xebench.patterns.pattern import DEVICE, DEVICE_AXES
from xebench.patterns.problem import Room, by_class, fitted, is_fit
from xebench.records import points
from xebench.records.claim import Claim, applying
from xebench.records.points import Value
from xebench.system.runtime.devices import LIMITED_AXES, narrow_sub_group_size, usual_sub_group_size
from xebench.vocabulary import find_baseline

#: Words on an axis of sub-group sizes, for one of those that a device offers.
_OFFERED: Final[Mapping[Value, Callable[[Sequence[int]], int]]] = {
    DEVICE: usual_sub_group_size,
    "narrow": narrow_sub_group_size,
}
#: Room assumed for an unknown device.
NO_ROOM: Final = Room()


@dataclass(frozen=True)
class Family:
    """The variants of one pattern at one point of its parameters, which are sampled side by side.

    Attributes:
        pattern: pattern whose variants are compared.
        preset: name of the requested defaults.
        parameters: every number of the preset and a value of every axis, by name.
        preset_parameters: the preset's own numbers, its defaults; a parameter that is not there is an axis.
        reasons: reason for the value of each parameter that depends on the device.

    Parameters that depend on the device have no value until `on` is called.
    """

    pattern: PatternInfo
    preset: str
    parameters: Mapping[str, Value]
    preset_parameters: Mapping[str, Value]
    reasons: Mapping[str, str] = field(default_factory=dict, compare=False)

    def on(self, device_class: str, sub_group_sizes: Sequence[int] = (), room: Room = NO_ROOM) -> Family:
        """The same family with the values that a device has.

        Args:
            device_class: ``gpu`` or ``cpu``.
            sub_group_sizes: sizes that the device offers; the guide's size is used if empty.
            room: limits of the device that sizes are fitted to; by default none, which gives the smallest sizes.
        """
        here = {name: _on_device(size, device_class, room) for name, size in self.preset_parameters.items()}
        # a size left at the preset's value gets the device's value and its reason
        own = {name for name, size in self.preset_parameters.items() if self.parameters[name] == size}
        values = {name: _on_device(value, device_class, room)[0] for name, value in self.parameters.items()}
        return replace(
            self,
            parameters={
                name: _OFFERED[value](sub_group_sizes) if name in DEVICE_AXES and value in _OFFERED else value
                for name, value in values.items()
            },
            preset_parameters={name: value for name, (value, _) in here.items()},
            reasons={name: here[name][1] for name in here if name in own and here[name][1]},
        )

    @property
    def axes(self) -> Mapping[str, Value]:
        """The parameters that are swept: those that no preset gives."""
        return {name: value for name, value in self.parameters.items() if name not in self.preset_parameters}

    @property
    def at_preset(self) -> bool:
        """True if all numbers are the preset's own."""
        return all(self.parameters[name] == value for name, value in self.preset_parameters.items())

    def claims(self, variant: VariantInfo, device_class: str) -> list[Claim]:
        """The claims on a variant for this class of devices, at this family's parameters."""
        return applying(variant.claims, device_class, self.parameters)

    def compared(self, device_class: str) -> list[tuple[str, str]]:
        """Variants, each with another that its time is compared with, beside the family's baseline."""
        baseline = find_baseline(self.pattern.variants, role=lambda variant: variant.role)
        asked = (
            (variant.name, claim) for variant in self.pattern.variants for claim in self.claims(variant, device_class)
        )
        pairs = [(name, claim.against) for name, claim in asked if claim.of_time]
        pairs += [(variant.name, variant.against) for variant in self.pattern.variants if variant.against]
        return [pair for pair in dict.fromkeys(pairs) if baseline is None or pair[1] != baseline.name]

    def point(self) -> str:
        """The parameters that differ from the preset, such as ``n=64;stride=16``; "" if there is only one family."""
        values = points.distinct(self.parameters, self.preset_parameters)
        return ";".join(f"{name}={value}" for name, value in values.items())

    def axes_json(self) -> str:
        """The values of the axes as a JSON object."""
        return points.to_json(self.axes)

    def title(self) -> str:
        """The pattern's name and the point, for people."""
        return f"{self.pattern.name} {self.point()}".strip()

    def family_id(self, device_class: str) -> str:
        """The key of the family, unique within a run, and the same in every run of the same problem."""
        return self._key(self.pattern.name, device_class)

    def case_id(self, variant: str, device_class: str) -> str:
        """The key of one case, unique within a run, and the same in every run of the same problem."""
        return self._key(f"{self.pattern.name}/{variant}", device_class)

    def _key(self, name: str, device_class: str) -> str:
        return "/".join((name, self.preset, self.point() or "-", device_class))


def build_plan(
    patterns: Sequence[PatternInfo], preset: str, overrides: Mapping[str, Sequence[Value]] | None = None
) -> list[Family]:
    """Every family that a run with these patterns, this preset and these axis values measures.

    Args:
        patterns: selected patterns.
        preset: a preset's name; patterns that lack it are left out.
        overrides: values for axes or for a preset's sizes (``--set``); each combination is a family. A preset's further
            sizes are families as well, but not where one is set.

    Raises:
        PatternError: nothing is left to measure, or no selected pattern has a parameter that an override names.
    """
    overrides = dict(overrides or {})
    unused = set(overrides)
    families: list[Family] = []
    for info in patterns:
        if preset not in info.presets:
            continue
        own = info.presets[preset]
        unused -= set(own) | set(info.axes)
        # a preset is a row of defaults, an axis is a parameter that is swept
        values: dict[str, Sequence[Value]] = {**info.axes, **{name: (value,) for name, value in own.items()}}
        for name in overrides.keys() & values.keys():
            values[name] = [_like(values[name], name, value) for value in overrides[name]]
        for point in itertools.product(*values.values()):
            chosen = dict(zip(values, point, strict=True))
            # a number equal to the preset's (64.0 for 64) counts as the preset's
            as_own = {name: value for name, value in own.items() if chosen[name] == value}
            families.append(Family(info, preset, {**chosen, **as_own}, own))
        families += _further_families(info, preset, values, overrides)
    if unused:
        name = sorted(unused)[0]
        known = {name for info in patterns for name in (*info.axes, *info.presets.get(preset, {}))}
        raise PatternError(f"--set {name}: no selected pattern has such an axis or size: {suggestion(name, known)}")
    if not families:
        presets = {name for info in patterns for name in info.presets}
        raise PatternError(f"no selected pattern has the preset {preset!r}: {suggestion(preset, presets)}")
    return without_repeats(families)


def without_repeats(families: Iterable[Family]) -> list[Family]:
    """The families, each once: two of a preset's sizes may be the same on a device."""
    return list({family.family_id(""): family for family in families}.values())


def _further_families(
    info: PatternInfo, preset: str, values: Mapping[str, Sequence[Value]], overrides: Mapping[str, Sequence[Value]]
) -> Iterator[Family]:
    """A family for each of a preset's further sizes but those that are set, at the first value of all else."""
    first = {name: own[0] for name, own in values.items()}
    for further in info.further_sizes.get(preset, ()):
        changed = {name: value for name, value in further.items() if name not in overrides}
        if changed:
            yield Family(info, preset, {**first, **changed}, info.presets[preset])


def _like(declared: Sequence[Value], name: str, value: Value) -> Value:
    """A value as those that a pattern declares: a whole number where they are (1e6 is one).

    Raises:
        PatternError: it is text where they are numbers, or no whole number where they are.
    """
    declared = [value for own in declared for value in _declared(own)]
    numbers = name in LIMITED_AXES or all(isinstance(own, int | float) for own in declared)
    if not numbers or value in declared:
        return value
    whole = name in LIMITED_AXES or all(isinstance(own, int) for own in declared)
    if isinstance(value, str) or (whole and not float(value).is_integer()):
        raise PatternError(f"--set {name}={value}: give a {'whole ' if whole else ''}number, such as {declared[0]}")
    if value < 0 <= min((own for own in declared if not isinstance(own, str)), default=0):
        raise PatternError(f"--set {name}={value}: give a number from 0, such as {declared[0]}")
    if name in LIMITED_AXES and value < 1:
        raise PatternError(f"--set {name}={value}: give a number from 1, such as {declared[0]}")
    return int(value) if whole else value


def parse_override(text: str) -> tuple[str, tuple[Value, ...]]:
    """Read ``name=value,value``; numbers become numbers, and what is given twice counts once.

    Raises:
        PatternError: the text has another form.
    """
    name, equals, values = text.partition("=")
    if not name or not equals or not values:
        raise PatternError(f"--set {text!r}: write NAME=VALUE or NAME=VALUE,VALUE")
    return name.strip(), tuple(dict.fromkeys(_number(value.strip()) for value in values.split(",")))


def _on_device(size: Any, device_class: str, room: Room) -> tuple[Value, str]:
    """A size on a device, and the reason if it follows the device."""
    own = by_class(size)[device_class]
    if is_fit(own):
        return fitted(own, room)
    value: Value = own
    return value, f"given for a {device_class} device" if isinstance(size, Mapping) else ""


def _declared(size: Any) -> list[Value]:
    """The plain values that a size may have as it is declared."""
    return [int(own["least"]) if is_fit(own) else own for own in by_class(size).values()]


def _number(text: str) -> Value:
    """The finite number that a text is, or else the text."""
    for kind in (int, float):
        with suppress(ValueError):
            if math.isfinite(number := kind(text)):
                return number
    return text
