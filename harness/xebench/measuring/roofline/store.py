"""Measured roofs kept on disk, one file for each device and driver. A file that is damaged or foreign is no file."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from xebench.measuring.roofline.catalogue import PROBES
from xebench.measuring.roofline.results import Roofline
from xebench.system import disk_cache
from xebench.system.runtime.devices import DeviceInfo

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
