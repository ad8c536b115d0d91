"""SYCL contexts made on purpose."""

from __future__ import annotations

from typing import Any

import dpctl

from xebench.system.sycl_types import Device


def separate_context(device: Device) -> Any:
    """A new ``dpctl.SyclContext`` of its own for ``device``.

    ``dpctl.SyclContext(device)`` answers the device's cached default context, so two contexts made that way are
    one; a context of a list of devices is always new.
    """
    return dpctl.SyclContext([device])
