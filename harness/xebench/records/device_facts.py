"""The facts in a device's row: its roofs, the instrument's own error, and the bandwidth of each working set.

Each roof is declared once: a new one is a row of `Roof`, over the probes that measure it. docs/extending.md has an
example.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from string import Formatter
from typing import Any, Final

from xebench.vocabulary import Word


class Roof(Word):
    """A limit of the device that cases are placed under; the value is its name in reports.

    Attributes:
        column: column of table ``devices``.
        unit: unit of the column.
        meaning: description in the documentation of tables.
        bound_by: limiting resource of a case under this roof, as reports name it.
        work: column of table ``cases`` with the amount that passes through it; amount per ns has the roof's unit.
        operation_kind: kind of operations that the roof limits, which is its name; None for a bandwidth.
        reads: share of reads in the traffic, for a memory roof that applies only to cases of about this mix.
        probes: names in `xebench.roofs.catalogue`; by default the roof's own name. The fastest probe sets the roof.
    """

    def __init__(
        self,
        name: str,
        column: str,
        unit: str,
        meaning: str,
        bound_by: str = "compute",
        work: str = "operations",
        probes: tuple[str, ...] = (),
        reads: float | None = None,
    ) -> None:
        self.column = column
        self.unit = unit
        self.meaning = meaning
        self.bound_by = bound_by
        self.work = work
        self.operation_kind = name if work == "operations" else None
        self.probes = probes or (name,)
        self.reads = reads

    BANDWIDTH = (
        "bandwidth",
        "bandwidth_roof_gbps",
        "GB/s",
        "Memory bandwidth: the highest measured; of caches: bandwidth_levels.",
        "memory",
        "bytes_moved",
        ("read", "write", "stream_copy", "stream_triad"),
    )
    READ = (
        "memory read",
        "memory_read_roof_gbps",
        "GB/s",
        "Memory bandwidth of reads alone, the highest measured.",
        "memory",
        "bytes_moved",
        ("read",),
        1.0,
    )
    WRITE = (
        "memory write",
        "memory_write_roof_gbps",
        "GB/s",
        "The same of writes alone.",
        "memory",
        "bytes_moved",
        ("write",),
        0.0,
    )
    COPY = (
        "memory copy",
        "memory_copy_roof_gbps",
        "GB/s",
        "The same of as many reads as writes.",
        "memory",
        "bytes_moved",
        ("stream_copy",),
        1 / 2,
    )
    TRIAD = (
        "memory triad",
        "memory_triad_roof_gbps",
        "GB/s",
        "The same of two reads for each write.",
        "memory",
        "bytes_moved",
        ("stream_triad",),
        2 / 3,
    )
    FP32 = ("fp32", "fp32_roof_gflops", "GFLOP/s", "Single-precision rate, the highest measured.")
    FP64 = ("fp64", "fp64_roof_gflops", "GFLOP/s", "The same for double precision; null where the device has none.")
    INT32 = ("int32", "int32_roof_gops", "Gop/s", "32-bit integer rate, the highest measured.")
    SLM = (
        "SLM",
        "slm_roof_gbps",
        "GB/s",
        "Bandwidth of shared local memory, the highest measured.",
        "slm",
        "slm_bytes",
        ("slm_read",),
    )
    PEER_LINK = (
        "device link",
        "peer_link_roof_gbps",
        "GB/s",
        "The highest bandwidth of copies to another device, or between parts of one; null where there is no other.",
        "device link",
        "peer_bytes",
        ("device_to_peer",),
    )
    HOST_LINK = (
        "host link",
        "host_link_roof_gbps",
        "GB/s",
        "Bandwidth of copies between host and device, the highest measured.",
        "host link",
        "host_bytes",
        ("host_to_device", "device_to_host", "pageable_to_device", "device_to_pageable"),
    )


#: Memory roofs by their share of reads.
MIXES: Final = tuple(roof for roof in Roof if roof.reads is not None)

#: Largest plausible share of a measured roof. A case above it casts doubt on the roof.
ROOF_DOUBT: Final = 1.02

#: The rate roof of each kind of operation that a problem may count.
RATE_ROOFS: Final = {roof.operation_kind: roof for roof in Roof if roof.operation_kind is not None}


_SUBMISSION: Final = "submit to start {empty_kernel_queue_ns}"
#: Sentences with columns to fill in. A sentence is left out if one of its columns was not measured; times come as text.
_PARTS: Final = (
    "{aa_speedup:.4f}x for a kernel against itself ({aa_low:.4f} to {aa_high:.4f})",
    "empty kernel {empty_kernel_ns} on the device, {empty_kernel_host_ns} on the host",
    _SUBMISSION,
    "launch {launch_overhead_ns}",
    "timer quantum {timer_resolution_ns}",
)


def noise_floor(device: Mapping[str, Any]) -> str | None:
    """One line from a row of the table `devices`, of what was measured; None if nothing was.

    Args:
        device: The row, by column name.
    """
    numbers = {name: _number(device, name) for name in device}
    known = {
        name: _time(value) if name.endswith("_ns") else value for name, value in numbers.items() if value is not None
    }
    return "; ".join(_words(part, numbers).format_map(known) for part in _PARTS if _names(part) <= known.keys()) or None


def _words(part: str, numbers: Mapping[str, float | None]) -> str:
    """A sentence, or another in its place if the driver's times of submission cannot be true."""
    queue_ns, host_ns = numbers.get("empty_kernel_queue_ns"), numbers.get("empty_kernel_host_ns")
    if part != _SUBMISSION or queue_ns is None:
        return part
    # the host's time spans from before the submission until after the end
    untrue = queue_ns <= 0 or (host_ns is not None and queue_ns > host_ns)
    return "the driver gives no submission times" if untrue else part


def _names(part: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(part) if name}


def _number(device: Mapping[str, Any], name: str) -> float | None:
    value = device.get(name)
    try:
        number = math.nan if value is None else float(value)
    except (TypeError, ValueError):  # pandas' NA, text
        return None
    return None if math.isnan(number) else number


def _time(time_ns: float) -> str:
    return f"{time_ns:.0f} ns" if time_ns < 1000 else f"{time_ns / 1000:.3g} us"


#: Name of the memory level, which is not a cache.
MEMORY: Final = "memory"


@dataclass(frozen=True)
class Level:
    """The level of memory that holds a working set, and its read bandwidth.

    Attributes:
        level: a cache, such as ``L2``, or `MEMORY`.
        working_set_bytes: bytes that were read again and again.
        gbps: measured, in GB/s.
    """

    level: str
    working_set_bytes: int
    gbps: float


@functools.lru_cache(maxsize=8)
def levels_of(text: Any) -> Sequence[Level]:
    """The levels in the column, the smallest working set first; empty for a null."""
    return tuple(Level(**one) for one in json.loads(text)) if isinstance(text, str) else ()


def levels_text(levels: Sequence[Level]) -> str:
    """The column: a JSON list."""
    return json.dumps([asdict(level) for level in levels])
