"""Measure a device's roofs in child processes, or take them from the disk: plain data, and what follows from them.

What follows are the columns of table ``devices``: the roofs, and the level of the memory that a working set names.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from xebench.records.device_facts import MEMORY, Level, Roof, levels_text
from xebench.results.provenance import now
from xebench.roofs.catalogue import PROBES, ROUTES, WORKING_SETS, find_probe, grouped, level_name
from xebench.roofs.search import beyond_bytes
from xebench.system import disk_cache, runtime
from xebench.system.children import Program
from xebench.system.children.process import ChildReply, ask
from xebench.system.runtime.devices import DeviceInfo
from xebench.system.runtime.machine import cache_bytes_by_level
from xebench.vocabulary import DeviceClass

#: Ratio of the best sample to the median from which a machine counts as disturbed.
DISTURBED: Final = 1.25
#: Roofs that may be disturbed in a measurement that is kept; all are where others use the device.
MOST_DISTURBED: Final = 3
#: Word before the date in the column ``roofs_from``.
MEASURED: Final = "measured"
#: Ends of a probe that leave a roof unknown which the device has.
_NO_ROOF: Final = ("failed", "undetermined")


@dataclass(frozen=True)
class ProbeResult:
    """The result of one probe.

    Attributes:
        probe: name in the catalogue.
        status: ``ok``; ``skipped`` if the device lacks a capability; ``undetermined`` if its samples contradict one
            another; ``failed``: wrong, crashed or hung.
        value: rate of the fastest sample, in the probe's unit, since a roof is the most that the device can reach.
        median: median rate of the best form's samples; far from ``value`` on a busy machine.
        samples: number of these samples.
        best_ns: time of the fastest sample in ns.
        form: parameters of the best form.
        reason: reason why there is no value, one line.
        rejected: forms that fail or compute wrong results on this device, each with its reason.
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
        device: the device.
        measured_utc: time of the measurement, ISO 8601.
        load_average: load average of the host over the minute before the measurement, or before the run that makes it.
        cores: number of cores of the host.
        results: results in the order of the catalogue.
        cached: True if the results are from an earlier measurement.
    """

    device: DeviceInfo
    measured_utc: str
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
    def disturbed(self) -> list[Roof]:
        """The roofs that may be too low: those whose repeats disagree, or all of them where others used the cores."""
        shaken = {result.probe for result in self.results if result.disturbed}
        # repeats of a copy differ on a quiet machine, too; a link whose halves differ has no roof
        told = {roof for roof in Roof if self.busy or (roof is not Roof.HOST_LINK and roof.probes[0] in shaken)}
        return [roof for roof in Roof if roof in told and self.value(roof.probes[0])]

    @property
    def trusted(self) -> bool:
        """True if it serves later runs: no probe failed, and others left the device alone."""
        return not self.failed and len(self.disturbed) <= MOST_DISTURBED

    @property
    def values(self) -> dict[str, float | None]:
        """The value of each probe; None if it has none."""
        return {result.probe: result.value for result in self.results}

    def roofs(self) -> dict[str, float | None]:
        """The roofs for cases, by column of table ``devices``; None where nothing was measured."""
        return roof_columns(self.values, self._caches)

    @property
    def _caches(self) -> list[Cache]:
        return known_caches(self.device.device_class, self.device.global_cache_bytes)

    def columns(self) -> dict[str, float | str | None]:
        """The columns of table ``devices`` that hold what was measured."""
        roofs, values = self.roofs(), self.values
        return {
            **roofs,
            "bandwidth_levels": named_levels(measured_levels(values), roofs[Roof.BANDWIDTH.column], self._caches),
            "link_roofs": json.dumps({route: values.get(route) for route in ROUTES}),
            "roofs_disturbed": ", ".join(self.disturbed),
            "roofs_from": "; ".join([f"{MEASURED} {self.measured_utc}", *self._unknown()]),
        }

    def _unknown(self) -> list[str]:
        """The roofs and routes that the device has and nobody knows, each with the reason."""
        results = {result.probe: result for result in self.results}
        named = [(str(roof), roof.probes[0]) for roof in Roof if roof.probes[0] not in ROUTES]
        return [
            f"{name}: {result.reason}"
            for name, probe in (*named, *zip(ROUTES, ROUTES, strict=True))
            if (result := results.get(probe)) is not None
            # every device has a memory
            and (result.status in _NO_ROOF or (name == Roof.BANDWIDTH and result.value is None))
        ]

    def to_json(self) -> dict[str, Any]:
        """All results as plain data for ``json.dumps``."""
        return {**msgspec.to_builtins(self), "roofs": self.roofs()}


def roof_columns(values: Mapping[str, float | None], caches: Sequence[Cache]) -> dict[str, float | None]:
    """The roofs by column of table ``devices``: the highest value among each roof's probes.

    Working sets far larger than the caches are read from memory, so their bandwidths also raise the memory's roof.

    Args:
        values: values of probes by name; a roof without a value is None.
        caches: caches of the device; empty if unknown.
    """
    columns = {roof.column: max(filter(None, map(values.get, roof.probes)), default=None) for roof in Roof}
    if memory_gbps := columns[Roof.BANDWIDTH.column]:
        beyond = beyond_caches(measured_levels(values), max((cache.bytes for cache in caches), default=0))
        columns[Roof.BANDWIDTH.column] = max(memory_gbps, beyond)
    return columns


#: Speed relative to the memory from which a working set lies in a cache, if no cache is known.
_CACHED: Final = 1.25


@dataclass(frozen=True)
class Cache:
    """A cache of a device: its name, and the bytes of all its parts together."""

    name: str
    bytes: int


def known_caches(device_class: str, global_cache_bytes: int | None) -> list[Cache]:
    """The caches that the system or the driver reports, the smallest first; 0 bytes are an unknown one.

    Args:
        device_class: class of the device; a CPU's caches come from the system, since its driver reports only one.
        global_cache_bytes: cache size that the driver reports.
    """
    if device_class == DeviceClass.CPU and (by_level := cache_bytes_by_level()):
        return [Cache(f"L{level}", size) for level, size in by_level.items()]
    return [Cache("cache", global_cache_bytes)] if global_cache_bytes else []


def measured_levels(values: Mapping[str, float | None]) -> dict[int, float]:
    """The measured bandwidth of each working set, in GB/s.

    Args:
        values: values of probes by name.
    """
    found = {size: values.get(level_name(size)) for size in WORKING_SETS}
    return {size: value for size, value in found.items() if value is not None}


def named_levels(measured: Mapping[int, float], memory_gbps: float | None, caches: Sequence[Cache]) -> str:
    """The column ``bandwidth_levels``: JSON of a list, the smallest working set first; the last one is the memory.

    A case belongs to the last entry whose working set is not larger than its own: it is no faster than that. The name
    is that of the level which holds every working set up to the next entry's.

    Args:
        measured: GB/s by working set. A smaller one is no slower than a larger one, so that it gets at least the
            same: what others did to the machine just then is not in it.
        memory_gbps: the memory's roof, which no larger set falls below; None if it was not measured.
        caches: those that are known; if there are none, what is measured decides.
    """
    sizes, levels = sorted(measured), []
    reached = memory_gbps or 0.0
    for number in reversed(range(len(sizes))):
        size, following = sizes[number], (*sizes, 2 * sizes[-1])[number + 1]
        reached = max(reached, measured[size])
        beyond = measured.get(following, 0.0)
        name = _name(following, caches) if caches else _guessed_name(beyond, memory_gbps)
        levels.append(Level(name, size, reached))
    levels.reverse()
    if memory_gbps is not None and sizes:
        levels.append(Level(MEMORY, 2 * sizes[-1], memory_gbps))
    return levels_text(levels)


def _name(largest_bytes: int, caches: Sequence[Cache]) -> str:
    return next((cache.name for cache in caches if largest_bytes <= cache.bytes), MEMORY)


def _guessed_name(gbps: float, memory_gbps: float | None) -> str:
    return "cache" if memory_gbps and gbps > _CACHED * memory_gbps else MEMORY


def beyond_caches(measured: Mapping[int, float], cache_bytes: int) -> float:
    """The bandwidth of working sets that are far larger than the caches, which is the memory's; 0 without one.

    Args:
        measured: GB/s by working set.
        cache_bytes: the last-level cache; 0 if it is not known.
    """
    return max((gbps for size, gbps in measured.items() if size >= beyond_bytes(cache_bytes)), default=0.0)


#: Version of the stored results; increase it when probes change what they measure.
VERSION: Final = 4
#: Facts that distinguish a device, beside its hardware. A virtual CPU's name says nothing of its cores and memory.
_IDENTITY: Final = (
    "name",
    "vendor",
    "driver_version",
    "backend",
    "compute_units",
    "global_memory_bytes",
    "max_clock_mhz",
)
#: How long measurements serve: a week.
MOST_AGE: Final = timedelta(days=7)


class Store:
    """A folder of measured roofs.

    Attributes:
        folder: made when the first is kept.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or disk_cache.default_folder("roofline")

    def path(self, device: DeviceInfo) -> Path:
        """The file of a device."""
        identity = json.dumps([VERSION, *_identity(device)])
        readable = re.sub(r"[^A-Za-z0-9.]+", "-", f"{device.name} {device.driver_version}").strip("-")
        return self.folder / f"{readable[:80]}-{hashlib.sha256(identity.encode()).hexdigest()[:8]}.json"

    def load(self, device: DeviceInfo, most_age: timedelta = MOST_AGE) -> Roofline | None:
        """The kept results of a device, if they are whole and not too old."""
        try:
            kept = msgspec.json.decode(self.path(device).read_bytes(), type=Roofline)
            age = datetime.now(UTC) - datetime.fromisoformat(kept.measured_utc)
        except (OSError, ValueError, TypeError, RecursionError):
            return None
        complete = [result.probe for result in kept.results] == [probe.name for probe in PROBES]
        same = _identity(kept.device) == _identity(device)
        return replace(kept, cached=True) if same and complete and age <= most_age else None

    def last(self, device: DeviceInfo) -> Roofline | None:
        """The kept results of a device, however old."""
        return self.load(device, timedelta.max)

    def keep(self, measured: Roofline) -> None:
        """Keep a measurement; a folder or disk that refuses is no error."""
        disk_cache.keep(self.path(measured.device), msgspec.json.encode(measured))


def _identity(device: DeviceInfo) -> list[object]:
    # of two equal GPUs one may sit in a slower slot; a filter string is another GPU's when a variable hides the first
    return [device.hardware_id or device.device, *(getattr(device, name) for name in _IDENTITY)]


#: Seconds after which a group of probes counts as hung; most of that is for slow compilers.
GROUP_TIMEOUT_S = 300.0

PROBE_TIMEOUT_S = 120.0

Ask = Callable[..., ChildReply]


def measure_roofline(
    device: runtime.DeviceInfo,
    *,
    names: Sequence[str] = (),
    refresh: bool = False,
    store: Store | None = None,
    load_average: float | None = None,
    say: Callable[[str], None] = lambda text: None,
    ask: Ask = ask,
) -> Roofline:
    """Measure all probes of a device, or some.

    Args:
        device: the device.
        names: names of probes; all if empty. Measurements of some probes are neither stored nor loaded.
        refresh: True to measure again despite a stored measurement.
        store: store of measurements; the user's cache folder if None.
        load_average: load of the host before this program used the device; None for the load now.
        say: callback with the current group.
        ask: function that runs a module in a child process.

    Raises:
        XebenchError: a probe is unknown.
    """
    names = [find_probe(name).name for name in dict.fromkeys(names)]
    store = store or Store()
    kept = None if refresh or names else store.load(device)
    if kept is not None:
        return kept
    load_average = os.getloadavg()[0] if load_average is None else load_average
    measured = Roofline(device, now(), load_average, len(os.sched_getaffinity(0)), ())
    results = ask_probes(device.device, names or [probe.name for probe in PROBES], say=say, ask=ask)
    measured = replace(measured, results=tuple(results))
    if not names and measured.trusted:
        store.keep(measured)
    return measured


def ask_probes(
    device: str,
    names: Sequence[str],
    *,
    say: Callable[[str], None] = lambda text: None,
    ask: Ask = ask,
) -> list[ProbeResult]:
    """Measure some probes, each group in its own process; if the process dies, its probes are measured one by one.

    Args:
        device: SYCL filter string.
        names: names of probes.
        say, ask: see :func:`measure_roofline`.
    """
    results: list[ProbeResult] = []
    for group, members in grouped(names).items():
        say(f"measuring {group.replace('_', ' ')}")
        answer = ask(Program.PROBE_ROOFS, [device, *members], timeout_s=GROUP_TIMEOUT_S)
        if answer.failure is None:
            results += _decoded(answer)
            continue
        for name in members:
            answer = ask(Program.PROBE_ROOFS, [device, name], timeout_s=PROBE_TIMEOUT_S)
            if answer.failure is None:
                results += _decoded(answer)
            else:
                results.append(ProbeResult(name, "failed", reason=answer.failure))
    return results


def _decoded(answer: ChildReply) -> list[ProbeResult]:
    return msgspec.convert(answer.value, list[ProbeResult])
