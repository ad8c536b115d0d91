"""Parameters of Intel's GPUs: the catalogue ``data/gpus.json``, each fact with its source, and derived values.

A GPU that is not in it can be described in a JSON or TOML file with the same fields (`load_gpu_file`). Nothing here
asks a device: that is the runtime's business.
"""

from __future__ import annotations

import json
import re
import tomllib
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from xebench.errors import XebenchError, suggestion


class SizeError(XebenchError):
    """A text is no size."""


LARGEST_SIZE: Final = 2**63 - 1

_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def parse_size(text: str | int) -> int:
    """Read a whole number with an optional binary unit: ``"256"``, ``"32K"``, ``"64KB"``, ``"1M"``.

    Raises:
        SizeError: the text is not of this form, negative, or larger than `LARGEST_SIZE`.
    """
    match = re.fullmatch(r"(\d+)\s*([KMG]?)(?:I?B)?", str(text).strip().upper(), re.ASCII)
    if match is None:
        raise SizeError(f"{str(text)!r} is not a size: write a whole number, or one with K, M or G (1K = 1024)")
    digits = match[1].lstrip("0")
    if len(digits) > len(str(LARGEST_SIZE)) or int(digits or 0) * _UNITS[match[2]] > LARGEST_SIZE:
        raise SizeError(f"{str(text)[:30]!r} is more than any device has: write a size below 2^63")
    return int(digits or 0) * _UNITS[match[2]]


class GpuError(XebenchError):
    """No such GPU, or a file that does not describe one."""


class Bytes(int):
    """A size above 0; a file may write it as text such as ``64K``."""


Count = Annotated[int, msgspec.Meta(ge=1)]

Counts = Annotated[tuple[Count, ...], msgspec.Meta(min_length=1)]


class Product(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A GPU that is sold, or a stack of one that is used alone; an unknown number is None.

    Attributes:
        stacks: parts of it with memory of their own.
    """

    name: str
    eu_count: Count
    aliases: tuple[str, ...] = ()
    stacks: Count = 1
    source: str = ""


class GpuParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of one GPU, and its product within the family; an unknown number is None.

    Attributes:
        code: its short name.
        eu_counts: the sizes in which the family is made, in EUs (Xe vector engines).
        slm_sizes_bytes: the sizes in which SLM is allocated; a request is rounded up to one of them.
        barrier_registers: work-groups with a barrier that an Xe-core holds, at one barrier each.
        large_grf: True if a thread can have twice the registers, with half the threads.
        registers_per_thread: number of registers per thread without large GRF.
        register_bytes: size of a register.
        matrix_lanes: sub-group size of the matrix engine; None without one.
        fp64: True if the GPU computes in double precision.
        native_float_atomics: True if atomics on floats are instructions instead of compare-and-swap loops.
        has_macl: True if both halves of an integer product have instructions, ``mach`` and ``macl``.
        device_names: regular expressions that the name of such a device matches.
        ocloc: its name for Intel's offline compiler, if that is not the code.
        igc_platforms: its names in assembly, or their beginnings.
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


# built at import time: msgspec crashes if two threads use a type first at the same time
msgspec.json.Decoder(GpuParameters)


@cache
def gpus() -> tuple[GpuParameters, ...]:
    """All GPUs of the catalogue, oldest first.

    Raises:
        GpuError: an entry is wrong; the message names the file, the entry and the field.
    """
    catalogue = json.loads(resources.files(__package__).joinpath("data/gpus.json").read_text("utf-8"))
    return tuple(_entry(entry, catalogue["calculator"]) for entry in catalogue["gpus"])


def _entry(entry: dict[str, Any], calculator: str) -> GpuParameters:
    gpu = _read_gpu(f"gpus.json: entry {entry.get('code', 'without a code')!r}", entry)
    return msgspec.structs.replace(gpu, source=gpu.source.replace("calculator", calculator))


def find_gpu(name: str, eu_count: int | None = None) -> GpuParameters:
    """A GPU by its code, alias or product (``pvc``, ``tgl``, ``a770``), or by the path of a parameter file.

    Raises:
        GpuError: no such GPU, or one without that many EUs.
    """
    gpu = load_gpu_file(name) if Path(name).suffix in (".json", ".toml") else _find_in_catalogue(name)
    return gpu if eu_count is None else gpu.with_eu_count(eu_count)


def _find_in_catalogue(name: str) -> GpuParameters:
    wanted = _plain(name)
    for gpu in gpus():
        if wanted in map(_plain, (gpu.code, *gpu.aliases)):
            return gpu
        for product in gpu.products:
            if wanted in map(_plain, product.aliases):
                return gpu.with_product(product)
    codes = [gpu.code for gpu in gpus()]
    names = {*codes, *(alias for gpu in gpus() for alias in gpu.aliases)}
    names |= {alias for gpu in gpus() for product in gpu.products for alias in product.aliases}
    every = f"use one of {', '.join(codes)}, or the path of a parameter file (.json, .toml)"
    raise GpuError(f"unknown GPU {name!r}: {suggestion(name, names, every)}")


def gpu_of_device(name: str, compute_units: int | None = None) -> GpuParameters:
    """The GPU behind a device's name, such as ``Intel(R) Arc(TM) A770 Graphics``, with its number of EUs.

    Raises:
        GpuError: no GPU of the catalogue has such a name.
    """
    for gpu in gpus():
        if any(re.search(pattern, name, re.IGNORECASE) for pattern in gpu.device_names):
            return gpu if compute_units is None else gpu.with_eu_count(compute_units)
    raise GpuError(f"no parameters are known for device {name!r}: name a GPU, or describe it in a parameter file")


def gpu_of_platform(platform: str) -> GpuParameters | None:
    """The GPU that IGC's assembly calls ``PVCXT``, ``XE2``, ..., or None."""
    return next((gpu for gpu in gpus() if platform.startswith(gpu.igc_platforms)), None)


def _plain(name: str) -> str:
    return re.sub(r"[-_ ]", "", name).lower()


def load_gpu_file(path: str | Path) -> GpuParameters:
    """Read a user's own GPU: one table with the fields of `GpuParameters` (``data/gpus.json`` has examples).

    ``code`` and ``name`` default to the file's name; sizes may be text such as ``64K``.

    Raises:
        GpuError: the file cannot be read or parsed, or a field is missing, unknown or wrong; the message
            names the file and the field.
    """
    path = Path(path)
    try:
        text = path.read_text("utf-8")
        entry = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except OSError as error:
        raise GpuError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise GpuError(f"{path}: is not {path.suffix[1:].upper()} ({' '.join(str(error).split())})") from None
    defaults = {"code": path.stem, "name": path.stem, "source": str(path)}
    return _read_gpu(str(path), defaults | entry if isinstance(entry, dict) else entry)


def _read_gpu(where: str, entry: Any) -> GpuParameters:
    """A parsed table as a GPU.

    Args:
        where: its file, and its entry where the file has several.
        entry: the table.
    """
    try:
        gpu = msgspec.convert(entry, GpuParameters, dec_hook=_read_bytes)
    except msgspec.ValidationError as error:
        what, _, place = str(error).replace("`", "'").partition(" - at '$")
        field = f"field {place[:-1].lstrip('.')}: " if place else ""
        raise GpuError(f"{where}: {field}{what}: docs/extending.md says what a GPU needs") from None
    for rule, is_broken in _broken_rules(gpu).items():
        if is_broken:
            raise GpuError(f"{where}: field {rule}")
    return gpu


def _read_bytes(kind: type, value: Any) -> Any:
    """The decoder that msgspec calls for a `Bytes`."""
    if kind is Bytes and type(value) in (int, str):
        try:
            size = parse_size(value)
        except SizeError as error:
            raise ValueError(str(error)) from None
        if size:
            return Bytes(size)
    raise ValueError(f"Expected a size such as 65536 or '64K', got {value!r:.40}")


def _broken_rules(gpu: GpuParameters) -> dict[str, bool]:
    """Rules for several fields together, each with a flag that it is broken."""
    sizes = list(gpu.slm_sizes_bytes)
    return {
        "eu_counts must be multiples of eus_per_xe_core": any(n % gpu.eus_per_xe_core for n in gpu.eu_counts),
        "products must have an eu_count of eu_counts": any(p.eu_count not in gpu.eu_counts for p in gpu.products),
        "max_slm_per_work_group_bytes must not be above slm_per_xe_core_bytes": (
            gpu.max_slm_per_work_group_bytes > gpu.slm_per_xe_core_bytes
        ),
        "slm_sizes_bytes must ascend to max_slm_per_work_group_bytes": (
            sorted(sizes) != sizes or sizes[-1] != gpu.max_slm_per_work_group_bytes
        ),
    }
