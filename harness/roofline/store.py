"""Measured roofs kept on disk, one file for each device and driver. A file that is damaged or foreign is no file."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from harness import disk_cache
from harness.roofline.catalogue import PROBES
from harness.roofline.known_roofs import Known
from harness.roofline.results import Roofline

#: Raised when probes measure something else than before, so that what they measured then is not used.
VERSION: Final = 1
#: What makes a device another one. A virtual CPU's name says nothing of its cores and memory.
_IDENTITY: Final = ("name", "vendor", "driver_version", "backend", "compute_units", "global_memory_bytes")


def known_roofs(device: Mapping[str, Any]) -> Known | None:
    """The roofs that were kept of the device in whose row of table ``devices`` this is, for a run."""
    kept = Store().load(device)
    return None if kept is None else Known(kept.roofs(), kept.measured_utc)


class Store:
    """A folder of measured roofs.

    Attributes:
        folder: made when the first is kept.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or disk_cache.default_folder("roofline")

    def path(self, device: Mapping[str, Any]) -> Path:
        """The file of a device, of which ``device`` is the row of table ``devices``."""
        identity = json.dumps([VERSION, *(device[name] for name in _IDENTITY)])
        readable = re.sub(r"[^A-Za-z0-9.]+", "-", f"{device['name']} {device['driver_version']}").strip("-")
        return self.folder / f"{readable[:80]}-{hashlib.sha256(identity.encode()).hexdigest()[:8]}.json"

    def load(self, device: Mapping[str, Any]) -> Roofline | None:
        """What was kept of a device, if it is whole."""
        try:
            found = Roofline.from_json(json.loads(self.path(device).read_text(encoding="utf-8")))
            same = all(found.device[name] == device[name] for name in _IDENTITY)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        complete = [reading.probe for reading in found.readings] == [probe.name for probe in PROBES]
        return replace(found, cached=True) if same and complete and not found.quick else None

    def keep(self, measured: Roofline) -> None:
        """Keep a measurement; a folder or disk that refuses is no error."""
        disk_cache.keep(self.path(measured.device), json.dumps(measured.to_json()).encode())
