"""Measure a device's roofs in child processes, or take them from the disk."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from xebench.measuring.roofline.catalogue import PROBES, find_probe, grouped
from xebench.measuring.roofline.results import ProbeResult, Roofline
from xebench.system import disk_cache, runtime
from xebench.system.children import Program
from xebench.system.children.process import ChildReply, ask
from xebench.system.runtime.devices import DeviceInfo
from xebench.tables.provenance import now

#: Raised when probes measure something else than before, so that what they measured then is not used.
VERSION: Final = 3
#: What makes a device another one, beside its hardware. A virtual CPU's name says nothing of its cores and memory.
_IDENTITY: Final = ("name", "vendor", "driver_version", "backend", "compute_units", "global_memory_bytes")


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

    def load(self, device: DeviceInfo) -> Roofline | None:
        """The kept results of a device, if they are whole."""
        try:
            kept = msgspec.json.decode(self.path(device).read_bytes(), type=Roofline)
        except (OSError, ValueError, RecursionError):
            return None
        complete = [result.probe for result in kept.results] == [probe.name for probe in PROBES]
        same = _identity(kept.device) == _identity(device)
        return replace(kept, cached=True) if same and complete and not kept.quick else None

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


def roofs(device: str = "auto", *, store: Store | None = None) -> dict[str, float | None]:
    """The roofs for cases on a device: the kept ones, or measured now, which takes a minute or two.

    Args:
        device: see :func:`xebench.system.runtime.select_device`.
        store: where they are kept; the user's cache folder if None.

    Returns:
        A value for the column of each :class:`xebench.tables.roofs.Roof`; None where the device lacks something or its
        probes failed.

    Raises:
        NoDevice: no device fits.
        BrokenEnvironment: the stack cannot be loaded.
    """
    return measure_roofline(runtime.select_device(device).device, store=store).roofs()


def measure_roofline(
    device: runtime.DeviceInfo,
    *,
    names: Sequence[str] = (),
    quick: bool = False,
    refresh: bool = False,
    store: Store | None = None,
    say: Callable[[str], None] = lambda text: None,
    ask: Ask = ask,
) -> Roofline:
    """All probes of a device, or some.

    Args:
        device: which.
        names: of the probes; all if there is none. A measurement of some is neither kept nor taken from the disk.
        quick: a look with few forms and samples, which is neither kept nor taken from the disk.
        refresh: measure even if there is a measurement on the disk.
        store: where measurements are kept; the user's cache folder if None.
        say: told which group is at work.
        ask: runs a module in a child process.

    Raises:
        XebenchError: there is no probe of a name.
    """
    names = [find_probe(name).name for name in dict.fromkeys(names)]
    store = store or Store()
    kept = None if quick or refresh or names else store.load(device)
    if kept is not None:
        return kept
    measured = Roofline(device, now(), quick, os.getloadavg()[0], len(os.sched_getaffinity(0)), ())
    effort = "quick" if quick else "patient" if measured.busy else "full"
    results = ask_probes(device.device, names or [probe.name for probe in PROBES], effort, say=say, ask=ask)
    measured = replace(measured, results=tuple(results))
    if not quick and not names and not measured.failed:
        store.keep(measured)
    return measured


def ask_probes(
    device: str,
    names: Sequence[str],
    effort: str = "full",
    *,
    say: Callable[[str], None] = lambda text: None,
    ask: Ask = ask,
) -> list[ProbeResult]:
    """Measure some probes, each group in a process; the probes of a group that dies are measured one by one.

    Args:
        device: SYCL filter string.
        names: of probes.
        effort: ``full``, ``patient``, for a device that others use, or ``quick``.
        say, ask: as for :func:`measure_roofline`.
    """
    results: list[ProbeResult] = []
    for group, members in grouped(names).items():
        say(f"measuring {group.replace('_', ' ')}")
        answer = ask(Program.PROBE_ROOFS, [device, effort, *members], timeout_s=GROUP_TIMEOUT_S)
        if answer.failure is None:
            results += _decoded(answer)
            continue
        for name in members:
            answer = ask(Program.PROBE_ROOFS, [device, effort, name], timeout_s=PROBE_TIMEOUT_S)
            if answer.failure is None:
                results += _decoded(answer)
            else:
                results.append(ProbeResult(name, "failed", reason=answer.failure))
    return results


def _decoded(answer: ChildReply) -> list[ProbeResult]:
    return msgspec.convert(answer.value, list[ProbeResult])
