"""The roofs of a device, each declared once: a new one is a row here, over the probes that measure it.

docs/extending.md has an example.
"""

from __future__ import annotations

from typing import Final

from xebench.vocabulary import Word


class Roof(Word):
    """A limit of the device that cases are placed under; the value is its name in reports.

    Attributes:
        column: of table ``devices``.
        unit: of the column.
        meaning: for the documentation of tables.
        bound_by: what a case under it is bound by.
        work: column of table ``cases`` with the amount that passes through it; amount per ns has the roof's unit.
        operation_kind: of the operations that it limits, the roof's name; None for a bandwidth.
        reads: part of the traffic that is read, of a roof of memory that holds for cases of about this mix alone.
        probes: of `xebench.measuring.roofline.catalogue`, the one of the roof's name unless others are given; the
            highest counts, since nothing may pass above a roof. A run asks the first alone, and quickly;
            `xebench roofline` asks all.
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
        "Memory bandwidth: the highest measured, in this run or by 'xebench roofline'; of caches: bandwidth_levels.",
        "memory",
        "bytes_moved",
        ("read", "write", "stream_copy", "stream_scale", "stream_add", "stream_triad"),
    )
    READ = (
        "memory read",
        "memory_read_roof_gbps",
        "GB/s",
        "Memory bandwidth of reads alone, the highest measured; null after a quick look, unless it was kept.",
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
        ("stream_copy", "stream_scale"),
        1 / 2,
    )
    TRIAD = (
        "memory triad",
        "memory_triad_roof_gbps",
        "GB/s",
        "The same of two reads for each write.",
        "memory",
        "bytes_moved",
        ("stream_triad", "stream_add"),
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


#: The roofs of memory by what is read and what is written.
MIXES: Final = tuple(roof for roof in Roof if roof.reads is not None)

#: A measured roof is as sure as this: a larger part of it that a case reaches is a doubt of the roof.
ROOF_DOUBT: Final = 1.02

#: The rate roof of each kind of operation that a problem may count.
RATE_ROOFS: Final = {roof.operation_kind: roof for roof in Roof if roof.operation_kind is not None}
