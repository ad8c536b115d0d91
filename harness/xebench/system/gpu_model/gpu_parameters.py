"""The parts of an Intel GPU: the fields of an entry of ``data/gpus.json``, and what follows from them."""

from __future__ import annotations

import sys
from typing import Annotated

import msgspec

from xebench.errors import XebenchError


class GpuError(XebenchError):
    """No such GPU, or a file that does not describe one."""


class Bytes(int):
    """A size above 0; a file may write it as text such as ``64K``."""


Count = Annotated[int, msgspec.Meta(ge=1)]
Counts = Annotated[tuple[Count, ...], msgspec.Meta(min_length=1)]
PositiveFloat = Annotated[float, msgspec.Meta(gt=0, le=sys.float_info.max)]


class Product(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A GPU that is sold, or a stack of one that is used alone; an unknown number is None.

    Attributes:
        ceilings_gbps: bandwidths that a tool measured by memory level (``gti``, ``dram``, ``l3``, ``slm``).
        ceilings_gops: arithmetic rates that a tool measured (``fp32_add``, ``int32``).
        gti_bytes_per_clock: bytes read, and as many written, between the GPU and memory in one clock.
        l3_bytes: the last cache before the memory, of the whole GPU.
        l3_gbps: theoretical bandwidth of it.
        memory_gbps: theoretical bandwidth of the memory.
        stacks: parts of it with memory of their own.
    """

    name: str
    eu_count: Count
    aliases: tuple[str, ...] = ()
    clock_mhz: PositiveFloat | None = None
    gti_bytes_per_clock: Count | None = None
    l3_bytes: Count | None = None
    l3_gbps: PositiveFloat | None = None
    memory_gbps: PositiveFloat | None = None
    stacks: Count = 1
    ceilings_gbps: dict[str, PositiveFloat] = {}
    ceilings_gops: dict[str, PositiveFloat] = {}
    source: str = ""


class GpuParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of one GPU, and the product of its family that is meant; an unknown number is None.

    Attributes:
        code: its short name.
        eu_counts: the sizes in which the family is made, in EUs (Xe vector engines).
        slm_sizes_bytes: the sizes in which SLM is allocated; a request is rounded up to one of them.
        barrier_registers: work-groups with a barrier that an Xe-core holds, at one barrier each.
        large_grf: whether a thread may have twice the registers, at half the threads.
        registers_per_thread: of a thread without large GRF.
        register_bytes: size of a register.
        fp32_lanes_per_eu: multiply-adds that one EU finishes in a clock.
        int32_operations_per_lane: 32-bit integer operations that a lane of single precision finishes in a clock: 2
            where three numbers are added at once.
        slm_bytes_per_clock: bytes that an Xe-core loads from and stores into SLM in a clock.
        matrix_lanes: sub-group size of the matrix engine; None without one.
        fp64: whether it computes in double precision.
        native_float_atomics: whether atomics on floats are instructions, rather than loops of compare and swap.
        has_macl: whether the two halves of an integer product have instructions of their own, ``mach`` and ``macl``.
        device_names: regular expressions that the name of such a device matches.
        ocloc: what Intel's offline compiler calls it, where that is not the code.
        igc_platforms: what its assembly calls it, or begins with.
    """

    code: str
    name: str
    eus_per_xe_core: Count
    threads_per_eu: Count
    eu_counts: Counts
    sub_group_sizes: Counts
    slm_per_xe_core_bytes: Bytes
    max_slm_per_work_group_bytes: Bytes
    slm_sizes_bytes: Annotated[tuple[Bytes, ...], msgspec.Meta(min_length=1)]
    max_work_group_size: Count
    max_work_groups_per_xe_core: Count
    barrier_registers: Count
    generation: str = "custom"
    large_grf: bool = False
    registers_per_thread: Count = 128
    register_bytes: Count = 32
    fp32_lanes_per_eu: Count | None = None
    fp64_lanes_per_eu: Count | None = None
    int32_operations_per_lane: Count = 2
    slm_bytes_per_clock: Count | None = None
    matrix_lanes: Count | None = None
    fp64: bool | None = None
    native_float_atomics: bool | None = None
    has_macl: bool = False
    aliases: tuple[str, ...] = ()
    device_names: tuple[str, ...] = ()
    ocloc: str | None = None
    igc_platforms: tuple[str, ...] = ()
    source: str = ""
    notes: tuple[str, ...] = ()
    products: tuple[Product, ...] = ()

    @property
    def ocloc_name(self) -> str:
        """The name for Intel's offline compiler."""
        return self.ocloc or self.code

    @property
    def product(self) -> Product:
        """The product that is meant: the first one, or the largest size of a family without products."""
        return self.products[0] if self.products else self._unnamed_product(max(self.eu_counts))

    def _unnamed_product(self, eu_count: int) -> Product:
        return Product(f"{self.name}, {eu_count} EUs", eu_count)

    @property
    def eu_count(self) -> int:
        """EUs of the product that is meant."""
        return self.product.eu_count

    @property
    def xe_cores(self) -> int:
        """Xe-cores (sub-slices) of the product that is meant."""
        return self.eu_count // self.eus_per_xe_core

    @property
    def threads_per_xe_core(self) -> int:
        """Thread contexts of one Xe-core (F1; guide, Thread Mapping and GPU Occupancy)."""
        return self.threads_per_eu * self.eus_per_xe_core

    @property
    def threads(self) -> int:
        """Thread contexts of the GPU (F1)."""
        return self.threads_per_xe_core * self.xe_cores

    def allocated_slm_bytes(self, slm_bytes: int) -> int | None:
        """SLM that a request takes from the Xe-core, or None if no work-group may have that much."""
        if slm_bytes > self.max_slm_per_work_group_bytes:
            return None
        return next((size for size in (0, *self.slm_sizes_bytes) if slm_bytes <= size), None)

    def peak_gops(self, operation_kind: str) -> float | None:
        """Operations of all EUs in a nanosecond, at the product's clock; None if clock or lanes are unknown.

        A multiply-add counts as two. 32-bit integers have no multiply-add of full rate: up to Xe-LP one operation a
        lane and clock, which is the ceiling that the guide's GPU Roofline chapter prints; later GPUs add three numbers
        at once.

        Args:
            operation_kind: fp32, fp64 or int32.
        """
        per_clock = {
            "fp32": (self.fp32_lanes_per_eu, 2),
            "fp64": (self.fp64_lanes_per_eu, 2),
            "int32": (self.fp32_lanes_per_eu, self.int32_operations_per_lane),
        }
        lanes, operations = per_clock.get(operation_kind, (None, 0))
        clock_mhz = self.product.clock_mhz
        return None if lanes is None or clock_mhz is None else operations * lanes * self.eu_count * clock_mhz / 1000

    @property
    def peak_memory_gbps(self) -> float | None:
        """Bandwidth of the memory; where only a tool measured it, its lower ceiling of DRAM and GTI."""
        ceilings = self.product.ceilings_gbps
        measured = [ceilings[level] for level in ("dram", "gti") if level in ceilings]
        return self.product.memory_gbps or min(measured, default=None)

    @property
    def peak_l3_gbps(self) -> float | None:
        """Bandwidth of the last cache before the memory; where only a tool measured it, its ceiling."""
        return self.product.l3_gbps or self.product.ceilings_gbps.get("l3")

    @property
    def peak_slm_gbps(self) -> float | None:
        """Bandwidth of the SLM of all Xe-cores, at the product's clock; else the ceiling that a tool measured."""
        clock_mhz = self.product.clock_mhz
        if self.slm_bytes_per_clock is None or clock_mhz is None:
            return self.product.ceilings_gbps.get("slm")
        return self.slm_bytes_per_clock * self.xe_cores * clock_mhz / 1000

    def with_eu_count(self, eu_count: int) -> GpuParameters:
        """The member of the family with that many EUs.

        Raises:
            GpuError: not a whole number of Xe-cores, or more than the family has.
        """
        if eu_count < 1 or eu_count % self.eus_per_xe_core or eu_count > max(self.eu_counts):
            sizes = ", ".join(map(str, self.eu_counts))
            raise GpuError(f"{self.code} has no product of {eu_count} EUs: use one of {sizes}")
        named = (product for product in self.products if product.eu_count == eu_count)
        return self.with_product(next(named, self._unnamed_product(eu_count)))

    def with_product(self, product: Product) -> GpuParameters:
        """The same family, and this product of it is meant."""
        rest = (other for other in self.products if other != product)
        return msgspec.structs.replace(self, products=(product, *rest))


# msgspec dies where two threads are the first to use a type: put it together here
msgspec.json.Decoder(GpuParameters)
