"""Queues of sub-devices.

Symptom: any kernel with an array of a sub-device's queue fails while its arguments are typed.
Cause: numba-dpex asks the device for its filter string, which only root devices have.
Cure: name the root device; the queue's identity still tells the sub-devices apart.
"""

from __future__ import annotations

from typing import Any

import dpctl
from numba.core import types
from numba_dpex.core.types.dpctl_types import DpctlSyclQueue


def root_device(device: Any) -> Any:
    """The root device that ``device`` is a part of, or ``device`` itself."""
    while device.parent_device is not None:
        device = device.parent_device
    return device


def _init(self: Any, sycl_queue: Any) -> None:
    if not isinstance(sycl_queue, dpctl.SyclQueue):
        raise TypeError("The argument sycl_queue is not of type SyclQueue.")
    device = sycl_queue.sycl_device
    self._device = root_device(device).filter_string
    self._device_has_aspect_atomic64 = device.has_aspect_atomic64
    self._unique_id = hash(sycl_queue)
    types.Type.__init__(self, name=f"DpctlSyclQueue on {self._device}")


def apply() -> None:
    """Replace the constructor of the queue's numba type."""
    DpctlSyclQueue.__init__ = _init
