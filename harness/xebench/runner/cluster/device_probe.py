"""The device of this host that a worker would use, found in a process of its own: ``... REQUEST [--require-gpu]``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from xebench.system import runtime
from xebench.system.children.process import answer


def chosen(arguments: list[str]) -> dict[str, Any]:
    """The device that answers a request, the work-items that fill it, and all drivers by device.

    Raises:
        NoDevice: none does.
        BrokenEnvironment: the SYCL runtime cannot be loaded.
    """
    request, *flags = arguments
    runtime.load()
    device = runtime.select_device(request, require_gpu="--require-gpu" in flags).device

    import dpctl  # can be imported once the runtime is loaded

    from xebench.measuring.session.lanes import device_lanes

    return {
        "device": asdict(device),
        "lanes": device_lanes(dpctl.SyclDevice(device.device)),
        "drivers": {each.device: each.driver_version for each in runtime.list_devices()},
    }


if __name__ == "__main__":
    answer(chosen)
