"""Facts of a launch: how its accesses lie to one another, and where each fact comes from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

#: Bytes of a cache line.
LINE: Final = 64
#: Work-items beside one another in dimension 0 that are read.
LANES: Final = 16


@dataclass(frozen=True)
class Access:
    """One access in a kernel's code, compared between neighbouring work-items.

    Attributes:
        kind: load, store or atomic.
        array, space, element_bytes, dtype, array_bytes: array that it is on; ``space`` is global or local.
        file, line, text: its place in the code.
        count: number of times that one work-item does it.
        lane_stride: bytes from a work-item to its neighbour in dimension 0; None if that differs.
        row_stride: the same in dimension 1; None without that dimension.
        step_stride: bytes from one time to the next in a work-item; None if it differs, or there is one time only.
        line_use: share of the cache lines that neighbours touch at one time that they use.
        shared: number of work-items, in the mean, that touch the same element over the whole loop.
    """

    kind: str
    array: str
    space: str
    dtype: str
    element_bytes: int
    array_bytes: int
    file: str
    line: int
    text: str
    count: int
    lane_stride: int | None
    row_stride: int | None
    step_stride: int | None
    line_use: float
    shared: float


@dataclass(frozen=True)
class KernelFacts:
    """Facts of a kernel's first launch.

    Attributes:
        name: name of the kernel.
        global_size, local_size: its index space, dimension 0 first.
        unreadable: reason why its accesses are not known; "" otherwise.
        accesses: its accesses.
        barriers, private_bytes: of one work-item.
        divergent_share: share of the lines run by a work-item that its neighbours do not run; None if it depends on
            what other work-items compute.
        functions: number of calls of each mathematical function by one work-item.
        is_whole: False if the reading stopped before the end of a work-item.
        computes_doubles: True if it computes float64 although all its arrays of reals are float32.
    """

    name: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    unreadable: str = ""
    accesses: Sequence[Access] = ()
    barriers: int = 0
    private_bytes: int = 0
    divergent_share: float | None = None
    functions: tuple[tuple[str, int], ...] = ()
    is_whole: bool = True
    computes_doubles: bool = False

    @property
    def items(self) -> int:
        """The number of work-items."""
        return math.prod(self.global_size)

    @property
    def data_bytes(self) -> int:
        """The bytes of global arrays that the launch touches, each once: at most those of each array."""
        found: Counter[str] = Counter()
        for access in self.accesses:
            if access.space == "global":
                touched = access.count / max(access.shared, 1) * access.element_bytes * self.items
                found[access.array] = max(found[access.array], int(min(access.array_bytes, touched)))
        return found.total()


@dataclass(frozen=True)
class SampleFacts:
    """Facts of a few samples, each in ns: medians.

    Attributes:
        host_ns: host time of an execution.
        device_ns: time in which its commands ran.
        kernels, copies, allocations: number of these in an execution.
        copied_bytes: bytes of copies between host and device.
        copy_ns: device time of copies.
        making_ns: host time of compilations and builds.
    """

    host_ns: int
    device_ns: int
    kernels: int
    copies: int
    allocations: int
    copied_bytes: int
    copy_ns: int
    making_ns: int


@dataclass(frozen=True)
class Device:
    """The device, with what is known of its limits.

    Attributes:
        name, vendor, device_class: the device.
        cache_bytes, sub_group_size: of it.
        memory_gbps: measured memory roof; None if none was measured.
    """

    name: str
    vendor: str
    device_class: str
    cache_bytes: int
    sub_group_size: int
    memory_gbps: float | None


@dataclass(frozen=True)
class Facts:
    """All facts of a function or a variant."""

    name: str
    device: Device
    kernels: Sequence[KernelFacts]
    sample: SampleFacts

    @property
    def memory_fraction(self) -> float | None:
        """The share of the memory roof at which the arrays that its kernels touch pass by once; None if unknown."""
        if not self.device.memory_gbps or not self.sample.device_ns or not self.kernels:
            return None
        if any(kernel.unreadable or not kernel.is_whole for kernel in self.kernels):
            return None
        total = sum(kernel.data_bytes for kernel in self.kernels)
        return total / self.sample.device_ns / self.device.memory_gbps

    def rows(self) -> list[dict[str, Any]]:
        """The table: a row a fact, with its value and where it comes from."""
        rows: list[dict[str, Any]] = []

        def add(what: str, value: Any, source: str, kernel: str | None = None) -> None:
            rows.append({"kernel": kernel, "fact": what, "value": value, "source": source})

        for name, value in asdict(self.sample).items():
            add(name, value, "samples")
        add("memory_fraction", self.memory_fraction, "samples, memory roof, accesses")
        for kernel in self.kernels:
            for name in ("global_size", "local_size"):
                add(name, getattr(kernel, name), "launch", kernel.name)
            if kernel.unreadable:
                add("unreadable", kernel.unreadable, "work-items", kernel.name)
                continue
            for name in ("barriers", "private_bytes", "divergent_share", "is_whole"):
                add(name, getattr(kernel, name), "work-items", kernel.name)
            add("functions", dict(kernel.functions), "work-items", kernel.name)
            add("computes_doubles", kernel.computes_doubles, "SPIR-V", kernel.name)
            for access in kernel.accesses:
                of = ("count", "lane_stride", "row_stride", "step_stride", "line_use", "shared")
                where = f"{Path(access.file).name}:{access.line}"
                value = {name: getattr(access, name) for name in of}
                add(f"{access.kind} {access.text}", value, where, kernel.name)
        return rows
