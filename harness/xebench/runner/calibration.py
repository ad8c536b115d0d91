"""The device's row of a run: its roofs, measured or kept, and the instrument's own error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from xebench.roofs.measure import Store, measure_roofline
from xebench.system.runtime import DeviceInfo

#: Seconds that measuring the roofs usually takes.
ROOFS_S: Final = 25.0


class Measures(Protocol):
    """Measures on the device: a `xebench.runner.manager.Manager`."""

    def measure_instrument(self) -> Mapping[str, Any]: ...


def device_columns(manager: Measures, device: DeviceInfo, store: Store | None, preset: str) -> dict[str, Any]:
    """The roofs and the instrument's own error, as columns of the table ``devices``.

    Args:
        manager: manager that measures the instrument.
        device: facts about the device.
        store: store of roofs; None for a run without roofs.
        preset: preset of the run; ``smoke`` takes stored roofs, and measures none.
    """
    instrument = manager.measure_instrument()
    roofs = measured_roofs(device, store) if lacks_roofs(device, store, preset) else kept_roofs(device, store, preset)
    return {**instrument, **roofs}


def lacks_roofs(device: DeviceInfo, store: Store | None, preset: str) -> bool:
    """True if a run should measure the roofs: none are kept, or they are too old."""
    return store is not None and preset != "smoke" and store.load(device) is None


def kept_roofs(device: DeviceInfo, store: Store | None, preset: str) -> dict[str, Any]:
    """The last roofs that are kept, however old, as columns of the table ``devices``; or why there are none."""
    if store is None:
        return {"roofs_from": "nowhere"}
    if kept := store.last(device):
        return dict(kept.columns())
    none = "the preset smoke measures none" if preset == "smoke" else "the run ended before they were measured"
    return {"roofs_from": f"nowhere: {none}"}


def measured_roofs(device: DeviceInfo, store: Store | None, load_average: float | None = None) -> dict[str, Any]:
    """Measure the roofs; the last ones that are kept where others disturb the measurement.

    Args:
        device: the device.
        store: store of roofs; the user's cache folder if None.
        load_average: load of the host before the run; None for the load now.
    """
    store = store or Store()
    measured = measure_roofline(device, store=store, load_average=load_average)
    return dict((measured if measured.trusted else store.last(device) or measured).columns())
