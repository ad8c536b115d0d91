"""The catalogue of probes: each one's name, group and unit.

Probes cannot declare themselves: their modules need SYCL, which a reader of results may lack.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from xebench.errors import XebenchError, suggestion


@dataclass(frozen=True)
class Probe:
    """One measured number.

    Attributes:
        name: name in JSON.
        group: class that measures it, with its module in `xebench.roofs`. Probes of a group share a process and their
            arrays.
        title: name for readers.
        unit: unit of its value: ``GB/s``, ``GFLOP/s`` or ``Gop/s``.
    """

    name: str
    group: str
    title: str
    unit: str


#: Working sets whose bandwidth is measured, in bytes.
WORKING_SETS: Final = tuple(1 << power for power in range(15, 29))


def size_text(size_bytes: int) -> str:
    """``4096`` as ``4 KiB``; whole units only."""
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size_bytes >= 1 << shift:
            return f"{size_bytes >> shift} {unit}"
    return f"{size_bytes} B"


def level_name(working_set_bytes: int) -> str:
    """The name of the probe that reads a working set again and again: ``read_32KiB``."""
    return f"read_{size_text(working_set_bytes).replace(' ', '')}"


PROBES: Final = (
    Probe("stream_copy", "memory_probes.GlobalMemory", "STREAM copy", "GB/s"),
    Probe("stream_triad", "memory_probes.GlobalMemory", "STREAM triad", "GB/s"),
    Probe("read", "memory_probes.GlobalMemory", "read only", "GB/s"),
    Probe("write", "memory_probes.GlobalMemory", "write only", "GB/s"),
    *(
        Probe(level_name(size), "memory_probes.GlobalMemory", f"{size_text(size)} again and again", "GB/s")
        for size in WORKING_SETS
    ),
    Probe("fp32", "core_probes.Arithmetic", "fp32 multiply-add", "GFLOP/s"),
    Probe("fp64", "core_probes.Arithmetic", "fp64 multiply-add", "GFLOP/s"),
    Probe("int32", "core_probes.Arithmetic", "int32 multiply-add", "Gop/s"),
    Probe("slm_read", "core_probes.LocalMemory", "SLM read", "GB/s"),
    Probe("pageable_to_device", "host_probes.Transfers", "pageable memory to device", "GB/s"),
    Probe("device_to_pageable", "host_probes.Transfers", "device to pageable memory", "GB/s"),
    Probe("host_to_device", "host_probes.Transfers", "host USM to device", "GB/s"),
    Probe("device_to_host", "host_probes.Transfers", "device to host USM", "GB/s"),
    Probe("shared_to_device", "host_probes.Transfers", "shared USM to device", "GB/s"),
    Probe("device_to_shared", "host_probes.Transfers", "device to shared USM", "GB/s"),
    Probe("device_to_peer", "host_probes.Transfers", "device to another device", "GB/s"),
)

#: The probes of copies; each has the name of its route in the table `events`.
ROUTES: Final = tuple(probe.name for probe in PROBES if probe.group == "host_probes.Transfers")

_BY_NAME: Final = {probe.name: probe for probe in PROBES}
GROUPS: Final = tuple(dict.fromkeys(probe.group for probe in PROBES))


def find_probe(name: str) -> Probe:
    """The probe of a name.

    Raises:
        XebenchError: there is none.
    """
    if name not in _BY_NAME:
        raise XebenchError(f"no probe {name!r}: {suggestion(name, _BY_NAME)}")
    return _BY_NAME[name]


def grouped(names: Iterable[str]) -> dict[str, list[str]]:
    """The names by group, groups in the order of :data:`GROUPS`."""
    probes = [find_probe(name) for name in names]
    members = {group: [probe.name for probe in probes if probe.group == group] for group in GROUPS}
    return {group: names for group, names in members.items() if names}
