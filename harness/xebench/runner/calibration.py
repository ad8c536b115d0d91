"""The device's row of a run: its roofs, measured or kept, and the instrument's own error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from xebench.roofs.measure import Store, measure_roofline
from xebench.system.runtime import DeviceInfo


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
    if store is None:
        return {**instrument, "roofs_from": "nowhere"}
    if preset == "smoke" and store.load(device) is None:
        return {**instrument, "roofs_from": "nowhere: the preset smoke measures none"}
    return {**instrument, **measure_roofline(device, store=store).columns()}
