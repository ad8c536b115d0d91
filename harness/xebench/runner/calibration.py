"""The device's row of a run: its roofs, measured or kept from a recent run, and the instrument's own error."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from xebench.roofs.measure import Roofline, Store, with_kept_roofs
from xebench.system import disk_cache
from xebench.system.runtime import DeviceInfo

#: Seconds for which the roofs of a run serve later ones on the same device, driver and clock limit: a week.
MOST_AGE_S: Final = 7 * 24 * 3600.0
#: Roofs whose repeats may disagree in a run whose roofs are kept; all do where others use the device.
MOST_DISTURBED: Final = 3


class RunRoofs:
    """Roofs that runs have measured, in the user's cache folder.

    Args:
        folder: folder of the files; None for the default.
        now: seconds since the epoch.
    """

    def __init__(self, folder: Path | None = None, now: Callable[[], float] = time.time) -> None:
        self._store, self._now = Store(folder), now

    def load(self, device: DeviceInfo) -> dict[str, Any] | None:
        """Columns of the table ``devices`` that a run has measured of a device; None if there are no recent ones."""
        try:
            kept = json.loads(self._path(device).read_bytes())
            fresh = 0 <= self._now() - float(kept["measured_s"]) <= MOST_AGE_S
            return dict(kept["columns"]) if fresh else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, device: DeviceInfo, columns: Mapping[str, Any]) -> None:
        """Keep columns; a disk that refuses is no error."""
        when = time.strftime("%Y-%m-%dT%H:%MZ", time.gmtime(self._now()))
        kept = {**columns, "roofs_from": str(columns["roofs_from"]).replace("this run", f"a run of {when}", 1)}
        disk_cache.keep(self._path(device), json.dumps({"measured_s": self._now(), "columns": kept}).encode())

    def _path(self, device: DeviceInfo) -> Path:
        path = self._store.path(device)
        return path.with_name(f"run-{device.max_clock_mhz or 0}-{path.name}")


class Measures(Protocol):
    """Measures on the device: a `xebench.runner.manager.Manager`."""

    def measure_roofs(self, *, brief: bool = False) -> Mapping[str, Any]: ...

    def measure_instrument(self) -> Mapping[str, Any]: ...


def device_columns(
    manager: Measures, device: DeviceInfo, roofline: Roofline | None, run_roofs: RunRoofs | None, *, brief: bool
) -> dict[str, Any]:
    """The roofs and the instrument's own error, as columns of the table ``devices``.

    Args:
        manager: manager that measures roofs that are not kept.
        device: facts about the device.
        roofline: earlier measurement of `xebench roofline`; its roofs are used where they are higher.
        run_roofs: roofs of earlier runs; None to measure again.
        brief: True to measure only briefly.
    """
    kept = None if run_roofs is None or brief else run_roofs.load(device)
    if kept is not None:
        return with_kept_roofs({**kept, **manager.measure_instrument()}, roofline)
    measured = manager.measure_roofs(brief=brief or roofline is not None)
    disturbed = str(measured.get("roofs_disturbed") or "").split(", ")
    if run_roofs is not None and not (brief or roofline) and len(disturbed) <= MOST_DISTURBED:
        run_roofs.keep(device, {name: measured[name] for name in with_kept_roofs({}, None) if name in measured})
    return with_kept_roofs(measured, roofline)
