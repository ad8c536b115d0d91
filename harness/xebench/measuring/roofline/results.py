"""The results of a measurement of the roofs: plain data, from the child process to the disk and to readers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import msgspec

from xebench.measuring.roofline.catalogue import ROUTES
from xebench.measuring.roofline.levels import known_caches, measured_levels, named_levels
from xebench.system.runtime.devices import DeviceInfo
from xebench.tables.analysis.device_facts import levels_of
from xebench.tables.analysis.metrics import link_roofs
from xebench.tables.roofs import Roof
from xebench.vocabulary import DeviceClass

#: How many times as good as the median the best sample is on a disturbed machine.
DISTURBED: Final = 1.25


@dataclass(frozen=True)
class ProbeResult:
    """The result of one probe.

    Attributes:
        probe: name in the catalogue.
        status: ``ok``; ``skipped``, when the device lacks what it needs; ``undetermined``, when its samples contradict
            one another; ``failed``: wrong, crashed or hung.
        value: of the fastest sample, in the probe's unit: a roof is what the device can reach.
        median: of all samples of the best form, in the same unit; far from ``value`` on a busy machine.
        samples: how many that were.
        best_ns: how long the fastest took.
        form: the parameters of the best form.
        reason: why there is no value, one line.
        rejected: forms that this device does not run, or runs wrong, each with its reason.
    """

    probe: str
    status: Literal["ok", "skipped", "undetermined", "failed"]
    value: float | None = None
    median: float | None = None
    samples: int = 0
    best_ns: float | None = None
    form: Mapping[str, int | str] = field(default_factory=dict)
    reason: str | None = None
    rejected: tuple[str, ...] = ()

    @property
    def disturbed(self) -> bool:
        """True if its samples differ so much that other programs were at work: the best may be too low as well."""
        if not self.value or not self.median:
            return False
        return max(self.value, self.median) > DISTURBED * min(self.value, self.median)


@dataclass(frozen=True)
class Roofline:
    """The results of all probes on one device.

    Attributes:
        device: which.
        measured_utc: when, ISO 8601.
        quick: few forms and samples of small problems: a look, no roof.
        load_average: of the host over the last minute, when the measurement began.
        cores: how many cores the host has for that load.
        results: in the order of the catalogue.
        cached: they were measured earlier and kept.
    """

    device: DeviceInfo
    measured_utc: str
    quick: bool
    load_average: float
    cores: int
    results: tuple[ProbeResult, ...]
    cached: bool = False

    def value(self, probe: str) -> float | None:
        """A probe's value; None if it has none."""
        return self.values.get(probe)

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the probes that were wrong, crashed or hung."""
        return tuple(result.probe for result in self.results if result.status == "failed")

    @property
    def busy(self) -> bool:
        """True if others used so much of a CPU device, more than a quarter of it, that its roofs may be too low."""
        return self.device.device_class == DeviceClass.CPU and self.load_average > self.cores / 4

    @property
    def values(self) -> dict[str, float | None]:
        """The value of each probe; None if it has none."""
        return {result.probe: result.value for result in self.results}

    def roofs(self) -> dict[str, float | None]:
        """The roofs for cases, by column of table ``devices``; None where nothing was measured."""
        return {roof.column: highest(roof, self.values) for roof in Roof}

    def to_json(self) -> dict[str, Any]:
        """Everything, ready for ``json.dumps``."""
        return {**msgspec.to_builtins(self), "roofs": self.roofs()}


def highest(roof: Roof, values: Mapping[str, float | None]) -> float | None:
    """The highest value of a roof's probes, since nothing may pass above it; None where none was measured.

    Args:
        roof: which.
        values: of probes, by name.
    """
    return max(filter(None, map(values.get, roof.probes)), default=None)


def with_kept_roofs(measured: Mapping[str, Any], kept: Roofline | None) -> dict[str, Any]:
    """Raise each measured roof to the kept one if that is higher: a roof is what the device can reach.

    Args:
        measured: columns of the table ``devices``.
        kept: of the same device and driver; None if there is nothing.
    """
    merged = {**dict.fromkeys(roof.column for roof in Roof), "link_roofs": None, "roofs_from": "this run", **measured}
    if kept is None:
        return merged
    disturbed = list(filter(None, str(merged.get("roofs_disturbed") or "").split(", ")))
    earlier = kept.roofs()
    raised = [roof for roof in Roof if (earlier[roof.column] or 0) > (merged[roof.column] or 0)]
    merged |= {roof.column: earlier[roof.column] for roof in raised}
    if disturbed and not kept.busy:
        merged["roofs_disturbed"] = ", ".join(name for name in disturbed if name not in raised)
    merged["bandwidth_levels"] = _raised_levels(merged, kept)
    merged["link_roofs"] = _raised_links(merged, kept)
    if raised:
        unknown = _unknown(merged)
        _, *failures = str(merged["roofs_from"]).split("; ")
        failures = [failure for failure in failures if failure.partition(": ")[0] in unknown]
        merged["roofs_from"] = "; ".join([f"xebench roofline of {kept.measured_utc}", *failures])
    return merged


def _unknown(merged: Mapping[str, Any]) -> set[str]:
    """The roofs and routes without a value."""
    known = link_roofs(merged["link_roofs"])
    return {roof for roof in Roof if merged[roof.column] is None} | {route for route in ROUTES if route not in known}


def _raised_links(merged: Mapping[str, Any], kept: Roofline) -> str:
    measured = link_roofs(merged.get("link_roofs"))
    return json.dumps({route: max(measured.get(route, 0), kept.value(route) or 0) or None for route in ROUTES})


def _raised_levels(merged: Mapping[str, Any], kept: Roofline) -> str:
    measured = {level.working_set_bytes: level.gbps for level in levels_of(merged.get("bandwidth_levels"))}
    earlier = measured_levels(kept.values)
    best = {size: max(measured.get(size, 0.0), earlier.get(size, 0.0)) for size in (measured.keys() | earlier.keys())}
    caches = known_caches(kept.device.device_class, kept.device.global_cache_bytes)
    return named_levels(best, merged[Roof.BANDWIDTH.column], caches)
