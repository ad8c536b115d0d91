"""What a device can reach: bandwidths, rates and latencies, measured in child processes and kept on disk.

    from harness.roofline import roofs
    roofs("level_zero:gpu:0")  # {"bandwidth_roof_gbps": ..., "fp32_roof_gflops": ..., ...}

Importing this package loads neither dpctl nor numpy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.roofline.measure import measure_roofline, roofs
    from harness.roofline.results import Reading, Roofline
    from harness.roofline.store import Store

_HOMES = {
    "Reading": "results",
    "Roofline": "results",
    "Store": "store",
    "measure_roofline": "measure",
    "roofs": "measure",
}

__all__ = ["Reading", "Roofline", "Store", "measure_roofline", "roofs"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
