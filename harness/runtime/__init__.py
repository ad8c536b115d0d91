"""The SYCL runtime and the machine under it: loading, devices, and what they lack.

Importing this package loads neither dpctl nor numpy; each name is imported from its module when it is first
used. Only this package touches environment variables and shared libraries.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.runtime.capabilities import missing
    from harness.runtime.devices import DeviceInfo, Selection, list_devices, select_device
    from harness.runtime.loading import check_environment, load
    from harness.runtime.machine import Machine, describe_machine
    from harness.runtime.variables import relevant_environment

_HOME = {
    "DeviceInfo": "devices",
    "Machine": "machine",
    "Selection": "devices",
    "check_environment": "loading",
    "describe_machine": "machine",
    "list_devices": "devices",
    "load": "loading",
    "missing": "capabilities",
    "relevant_environment": "variables",
    "select_device": "devices",
}

__all__ = [
    "DeviceInfo",
    "Machine",
    "Selection",
    "check_environment",
    "describe_machine",
    "list_devices",
    "load",
    "missing",
    "relevant_environment",
    "select_device",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
