"""GPUs of this machine, and what the system has for them: nodes, loaders and drivers."""

from __future__ import annotations

import ctypes
import ctypes.util
import grp
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from numba_sycl.libraries import text_of
from xebench.system.runtime.packages import Finding

ROOT = Path("/")

INTEL = "0x8086"

# Nodes that exist where a kernel driver found a GPU: DRM, WSL, and other vendors'.
_NODES = ("dri/render*", "dxg", "kfd", "nvidia[0-9]*")

LOADER_PACKAGE = "libze1 (in Intel's older repositories: level-zero)"

LEVEL_ZERO_PACKAGE = "intel-level-zero-gpu (newer: libze-intel-gpu1)"

OPENCL_PACKAGE = "intel-opencl-icd"

#: Title of the finding on OpenCL drivers for GPUs.
OPENCL_GPU_DRIVER = "OpenCL GPU driver"

# OpenCL drivers that mostly offer no GPU.
_DRIVERS_OF_CPUS = ("libintelocl", "libpocl")

# libsycl's Level Zero plugin needs a loader that has it; Debian 12's 1.8.12 does not.
_NEWEST_FUNCTION = "zeCommandListHostSynchronize"


def nodes(root: Path = ROOT) -> list[Path]:
    """Device nodes that say that this machine has a GPU."""
    return sorted(path for pattern in _NODES for path in (root / "dev").glob(pattern))


def intel_gpus_on_bus(root: Path = ROOT) -> list[str]:
    """PCI addresses of Intel display controllers, whether a driver serves them or not."""
    return [
        device.name
        for device in sorted((root / "sys/bus/pci/devices").glob("*"))
        if text_of(device / "vendor") == INTEL and text_of(device / "class").startswith("0x03")
    ]


def access_findings(root: Path = ROOT) -> Iterator[Finding]:
    """Findings on an Intel GPU: is it there, and may this user open its render node?"""
    gpus = nodes(root)
    on_bus = intel_gpus_on_bus(root)
    if not gpus:
        if on_bus:
            detail = f"an Intel GPU is on the PCI bus ({', '.join(on_bus)}), but there is no /dev/dri/render*"
            step = "load the kernel driver i915 or xe; start a container with --device /dev/dri"
            yield Finding("devices", "warning", "GPU", detail, step)
        else:
            yield Finding("devices", "ok", "GPU", "no device node, so only the CPU device can be measured")
    for node in gpus:
        yield _access(node)


def level_zero_findings(expected: bool, loader: str = "libze_loader.so.1") -> Iterator[Finding]:
    """Findings on Level Zero's loader and Intel's driver for it.

    Args:
        expected: True if this machine has a GPU; without one, missing libraries are no problem.
        loader: the library to look for.
    """
    problem, step = _loader_problem(loader)
    yield _needed_for_gpu("Level Zero loader", problem, loader, step, expected=expected)
    driver = ctypes.util.find_library("ze_intel_gpu")
    problem = None if driver else "libze_intel_gpu.so.1 not found"
    step = f"for an Intel GPU, install {LEVEL_ZERO_PACKAGE}"
    yield _needed_for_gpu("Level Zero GPU driver", problem, driver or "", step, expected=expected)


def opencl_finding(drivers: Sequence[str], expected: bool) -> Finding:
    """A finding on registered OpenCL drivers for GPUs: Intel's, or another, whose devices are tested like any.

    Args:
        drivers: the registered drivers that exist.
        expected: True if this machine has a GPU.
    """
    for_gpus = [driver for driver in drivers if not any(name in driver for name in _DRIVERS_OF_CPUS)]
    problem = None if for_gpus else "none registered"
    step = f"for an Intel GPU, install {OPENCL_PACKAGE}"
    return _needed_for_gpu(OPENCL_GPU_DRIVER, problem, ", ".join(for_gpus), step, expected=expected, topic="opencl")


def _needed_for_gpu(
    title: str, problem: str | None, present: str, step: str, *, expected: bool, topic: str = "level zero"
) -> Finding:
    if problem is None:
        return Finding(topic, "ok", title, present)
    if not expected:
        return Finding(topic, "ok", title, f"not needed without a GPU ({problem})", step)
    return Finding(topic, "warning", title, problem, step)


def _loader_problem(loader: str) -> tuple[str | None, str]:
    """The fault of Level Zero's loader, and what to do."""
    try:
        library = ctypes.CDLL(loader)
    except OSError:
        return f"{loader} not found", f"for an Intel GPU, install {LOADER_PACKAGE}"
    if not hasattr(library, _NEWEST_FUNCTION):
        return (
            f"{loader} is too old for this SYCL runtime",
            f"for an Intel GPU, install a newer {LOADER_PACKAGE}",
        )
    return None, ""


def _access(node: Path) -> Finding:
    if os.access(node, os.R_OK | os.W_OK):
        return Finding("devices", "ok", "GPU", f"{node} may be opened")
    group = _group_of(node)
    step = f"sudo usermod -aG {group} $USER, then log in again"
    if group.isdecimal():  # the host's group has no name in a container
        step = f"start the container with --group-add {group}"
    return Finding("devices", "warning", "GPU", f"{node} may not be opened: you are not in group {group}", step)


def _group_of(node: Path) -> str:
    number = node.stat().st_gid
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:  # common in containers: the host's group has no name here
        return str(number)
