"""Facts of the host that belong to a measurement's record. Touches no device."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from numba_sycl.libraries import CPUINFO, text_of


def last_level_cache_bytes(root: Path = Path("/")) -> int | None:
    """The last-level caches of all cores together, each counted once; None if the system does not report them.

    Args:
        root: directory that contains ``sys``.
    """
    by_level = cache_bytes_by_level(root)
    return by_level[max(by_level)] if by_level else None


def cache_bytes_by_level(root: Path = Path("/")) -> dict[int, int]:
    """The data caches of each level, of all cores together, each counted once; empty if the system does not report
    them.

    Args:
        root: directory that contains ``sys``.
    """
    sizes: dict[tuple[int, str], int] = {}
    for folder in (root / "sys/devices/system/cpu").glob("cpu[0-9]*/cache/index[0-9]*"):
        try:
            kind, level, size, cores = (
                (folder / name).read_text().strip() for name in ("type", "level", "size", "shared_cpu_list")
            )
            if kind != "Instruction":
                sizes[int(level), cores] = _bytes(size)
        except (OSError, ValueError):
            continue
    levels = sorted({level for level, _ in sizes})
    return {level: sum(size for (of, _), size in sizes.items() if of == level) for level in levels}


def _bytes(text: str) -> int:
    """``32768K`` in bytes."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return int(text[:-1]) * units[text[-1]] if text[-1:] in units else int(text)


ROOT = Path("/")

#: Cores of which one is free beside a run: one launches and waits, others serve the driver and the run's manager.
CORES_OF_A_RUN: Final = 4


@dataclass(frozen=True)
class Machine:
    """Facts about the host. An unknown fact is None or empty.

    Attributes:
        usable_cores: number of logical cores that this process may use.
        container: ``docker``, ``podman``, ``kubernetes``, ``lxc`` or ``wsl``; a hint, not a proof.
        virtual: True on a virtual machine.
        load_average: load averages over 1, 5 and 15 minutes.
        cpu_governors: frequency governors in use, by name; more than one if cores differ.
        cpu_mhz: ``min``, ``max`` and ``now`` of the first core.
        gpu_mhz: frequencies of each GPU tile, by its place in sysfs (``card0/gt0``), then by name (``RP0``,
            the fused maximum; ``max`` and ``min``, the limits in force; ``act``, the present one).
        xe_link_power: state of the links to other GPUs (Xe Link), True if on, for each GPU that reports it, by its name
            in sysfs (``card0``).
    """

    cpu_model: str
    physical_cores: int | None
    logical_cores: int
    usable_cores: int
    memory_bytes: int
    available_memory_bytes: int
    operating_system: str
    kernel: str
    python: str
    container: str | None
    virtual: bool
    load_average: tuple[float, float, float]
    cpu_governors: tuple[str, ...] = ()
    cpu_mhz: Mapping[str, int] = field(default_factory=dict)
    gpu_mhz: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    xe_link_power: Mapping[str, bool] = field(default_factory=dict)


def describe_machine(root: Path = ROOT) -> Machine:
    """Facts of this host.

    Args:
        root: directory that contains ``sys``, ``proc`` and ``etc``.
    """
    import psutil

    memory = psutil.virtual_memory()
    cpuinfo = text_of(CPUINFO)
    return Machine(
        cpu_model=cpu_model(cpuinfo) or platform.machine(),
        physical_cores=psutil.cpu_count(logical=False),
        logical_cores=os.cpu_count() or 1,
        usable_cores=len(os.sched_getaffinity(0)),
        memory_bytes=memory.total,
        available_memory_bytes=memory.available,
        operating_system=operating_system(root),
        kernel=platform.release(),
        python=platform.python_version(),
        container=container_hint(root, os.environ),
        virtual=" hypervisor" in cpuinfo,
        load_average=os.getloadavg(),
        cpu_governors=cpu_governors(root),
        cpu_mhz=cpu_frequencies(root),
        gpu_mhz=gpu_frequencies(root),
        xe_link_power=xe_link_power(root),
    )


def spare_cores(*, is_cpu: bool) -> int:
    """Number of cores that are free while a device samples.

    Args:
        is_cpu: True if the device is made of these cores.
    """
    return 0 if is_cpu else len(os.sched_getaffinity(0)) // CORES_OF_A_RUN


def cpu_model(cpuinfo: str) -> str | None:
    """The model name of the first processor."""
    match = re.search(r"^model name\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    return match[1].strip() if match else None


def operating_system(root: Path = ROOT) -> str:
    """The distribution's own name for itself, else the kernel's."""
    match = re.search(r'^PRETTY_NAME="?([^"\n]+)', text_of(root / "etc/os-release"), re.MULTILINE)
    return match[1] if match else platform.system()


def container_hint(root: Path, environment: Mapping[str, str]) -> str | None:
    """The probable kind of container, by the marks that each leaves."""
    if "KUBERNETES_SERVICE_HOST" in environment:
        return "kubernetes"
    if (root / ".dockerenv").exists():
        return "docker"
    if (root / "run/.containerenv").exists():
        return "podman"
    if "microsoft" in text_of(root / "proc/sys/kernel/osrelease").lower():
        return "wsl"
    return environment.get("container") or None


def cpu_governors(root: Path = ROOT) -> tuple[str, ...]:
    """Frequency governors of the cores, each once."""
    files = (root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    return tuple(sorted({text for file in files if (text := text_of(file))}))


def cpu_frequencies(root: Path = ROOT) -> dict[str, int]:
    """``min``, ``max`` and ``now`` of the first core, in MHz; the kernel keeps kHz."""
    folder = root / "sys/devices/system/cpu/cpu0/cpufreq"
    names = {"min": "scaling_min_freq", "max": "scaling_max_freq", "now": "scaling_cur_freq"}
    values = {name: _number(folder / file) for name, file in names.items()}
    return {name: value // 1000 for name, value in values.items() if value is not None}


def gpu_frequencies(root: Path = ROOT) -> dict[str, dict[str, int]]:
    """Frequencies of each Intel GPU tile in MHz (guide, Configuring GPU Device; drivers i915 and xe)."""
    drm = root / "sys/class/drm"
    tiles: dict[str, dict[str, int]] = {}

    def add(tile: str, name: str, file: Path) -> None:
        value = _number(file)
        if value is not None:
            tiles.setdefault(tile, {})[name] = value

    for file in sorted(drm.glob("card*/gt/gt*/rps_*_freq_mhz")):
        add(f"{file.parts[-4]}/{file.parts[-2]}", file.name[len("rps_") : -len("_freq_mhz")], file)
    for file in sorted(drm.glob("card*/device/tile*/gt*/freq0/*_freq")):
        add(f"{file.parts[-6]}/{file.parts[-4]}/{file.parts[-3]}", file.name[: -len("_freq")], file)
    return tiles


def xe_link_power(root: Path = ROOT) -> dict[str, bool]:
    """The power state of the links between GPUs, by card (guide, Switching Xe-link On/Off; driver i915)."""
    values = {file.parent.name: _number(file) for file in (root / "sys/class/drm").glob("card*/iaf_power_enable")}
    return {card: bool(value) for card, value in sorted(values.items()) if value is not None}


def _number(file: Path) -> int | None:
    text = text_of(file)
    return int(text) if text.isdigit() else None
