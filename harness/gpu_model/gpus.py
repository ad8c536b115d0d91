"""What Intel's GPUs are made of: the parameters of the occupancy and roof models, each with its source.

The catalogue is ``data/gpus.json``; a GPU that is not in it can be described in a JSON or TOML file with the
same fields (`load_gpu_file`). Nothing here asks a device: that is the runtime's business.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

from harness.errors import XebenchError


class GpuError(XebenchError):
    """No such GPU, or a file that does not describe one."""


class SizeError(XebenchError):
    """A text is no size."""


LARGEST_SIZE = 2**63 - 1
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


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


@dataclass(frozen=True)
class Product:
    """A GPU that is sold, or a stack of one that is used alone; what is not known is None.

    Attributes:
        ceilings_gbps: bandwidths that a tool measured by memory level (``gti``, ``dram``, ``l3``, ``slm``).
        ceilings_gops: arithmetic rates that a tool measured (``fp32_add``, ``int32``).
        gti_bytes_per_clock: bytes read, and as many written, between the GPU and memory in one clock.
        memory_gbps: theoretical bandwidth of the memory.
    """

    name: str
    eu_count: int
    aliases: tuple[str, ...] = ()
    clock_mhz: float | None = None
    gti_bytes_per_clock: int | None = None
    memory_gbps: float | None = None
    ceilings_gbps: Mapping[str, float] = field(default_factory=dict)
    ceilings_gops: Mapping[str, float] = field(default_factory=dict)
    source: str = ""


@dataclass(frozen=True)
class GpuParameters:
    """The limits of one GPU, and the product of its family that is meant.

    Attributes:
        eu_counts: the sizes in which the family is made, in EUs (Xe vector engines).
        slm_sizes_bytes: the sizes in which SLM is allocated; a request is rounded up to one of them.
        barrier_registers: work-groups with a barrier that an Xe-core holds, at one barrier each.
        fp32_lanes_per_eu: multiply-adds that one EU finishes in a clock.
        device_names: regular expressions that the name of such a device matches.
    """

    code: str
    name: str
    eus_per_xe_core: int
    threads_per_eu: int
    eu_counts: tuple[int, ...]
    sub_group_sizes: tuple[int, ...]
    slm_per_xe_core_bytes: int
    max_slm_per_work_group_bytes: int
    slm_sizes_bytes: tuple[int, ...]
    max_work_group_size: int
    max_work_groups_per_xe_core: int
    barrier_registers: int
    generation: str = "custom"
    large_grf: bool = False
    fp32_lanes_per_eu: int | None = None
    fp64_lanes_per_eu: int | None = None
    aliases: tuple[str, ...] = ()
    device_names: tuple[str, ...] = ()
    source: str = ""
    notes: tuple[str, ...] = ()
    products: tuple[Product, ...] = ()

    @property
    def product(self) -> Product:
        """The product that is meant: the first one, or the largest size of a family without products."""
        if self.products:
            return self.products[0]
        count = max(self.eu_counts)
        return Product(f"{self.name}, {count} EUs", count)

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

    @property
    def operations(self) -> int | None:
        """Operations in flight: thread contexts x lanes of an EU (F1; "Total Operations" of the tables)."""
        return None if self.fp32_lanes_per_eu is None else self.threads * self.fp32_lanes_per_eu

    def allocated_slm_bytes(self, slm_bytes: int) -> int | None:
        """SLM that a request takes from the Xe-core, or None if no work-group may have that much."""
        if slm_bytes > self.max_slm_per_work_group_bytes:
            return None
        return next((size for size in (0, *self.slm_sizes_bytes) if slm_bytes <= size), None)

    @property
    def peak_fp32_gflops(self) -> float | None:
        """Multiply-adds of all EUs at the product's clock, two operations each; None if not known."""
        return self._peak_gflops(self.fp32_lanes_per_eu)

    @property
    def peak_fp64_gflops(self) -> float | None:
        """As `peak_fp32_gflops`, in double precision."""
        return self._peak_gflops(self.fp64_lanes_per_eu)

    def _peak_gflops(self, lanes_per_eu: int | None) -> float | None:
        clock_mhz = self.product.clock_mhz
        if lanes_per_eu is None or clock_mhz is None:
            return None
        return 2 * lanes_per_eu * self.eu_count * clock_mhz / 1000

    @property
    def peak_memory_gbps(self) -> float | None:
        """Bandwidth of the memory; where only a tool measured it, its lower ceiling of DRAM and GTI."""
        measured = [self.product.ceilings_gbps[key] for key in ("dram", "gti") if key in self.product.ceilings_gbps]
        return self.product.memory_gbps or min(measured, default=None)

    def with_eu_count(self, eu_count: int) -> GpuParameters:
        """The member of the family with that many EUs.

        Raises:
            GpuError: not a whole number of Xe-cores, or more than the family has.
        """
        if eu_count < 1 or eu_count % self.eus_per_xe_core or eu_count > max(self.eu_counts):
            sizes = ", ".join(map(str, self.eu_counts))
            raise GpuError(f"{self.code} has no product of {eu_count} EUs: use one of {sizes}")
        named = [product for product in self.products if product.eu_count == eu_count]
        return self._meaning(named[0] if named else Product(f"{self.name}, {eu_count} EUs", eu_count))

    def _meaning(self, product: Product) -> GpuParameters:
        rest = tuple(other for other in self.products if other != product)
        return replace(self, products=(product, *rest))


@cache
def gpus() -> tuple[GpuParameters, ...]:
    """All GPUs of the catalogue, oldest first."""
    from importlib.resources import files

    data = json.loads(files(__package__).joinpath("data/gpus.json").read_text("utf-8"))
    entries = [_read_gpu("catalogue of GPUs", entry) for entry in data["gpus"]]
    return tuple(replace(gpu, source=gpu.source.replace("calculator", data["calculator"])) for gpu in entries)


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
                return gpu._meaning(product)
    known = ", ".join(gpu.code for gpu in gpus())
    raise GpuError(f"unknown GPU {name!r}: use one of {known}, or the path of a parameter file (.json, .toml)")


def gpu_of_device(name: str, compute_units: int | None = None) -> GpuParameters:
    """The GPU behind a device's name, such as ``Intel(R) Arc(TM) A770 Graphics``, with its number of EUs.

    Raises:
        GpuError: no GPU of the catalogue has such a name.
    """
    for gpu in gpus():
        if any(re.search(pattern, name, re.IGNORECASE) for pattern in gpu.device_names):
            return gpu if compute_units is None else gpu.with_eu_count(compute_units)
    raise GpuError(f"no parameters are known for device {name!r}: name a GPU, or describe it in a parameter file")


def _plain(name: str) -> str:
    return re.sub(r"[-_ ]", "", name).lower()


def load_gpu_file(path: str | Path) -> GpuParameters:
    """Read a user's own GPU: one table with the fields of `GpuParameters` (``data/gpus.json`` has examples).

    ``code`` and ``name`` default to the file's name; sizes may be text such as ``64K``.

    Raises:
        GpuError: the file cannot be read or parsed, or a field is missing, unknown or wrong; the message
            names the file and the field.
    """
    import tomllib

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
    gpu: GpuParameters = _read(where, GpuParameters, entry)
    sizes = gpu.slm_sizes_bytes
    broken = {
        "eu_counts must be multiples of eus_per_xe_core": any(n % gpu.eus_per_xe_core for n in gpu.eu_counts),
        "products must have an eu_count of eu_counts": any(p.eu_count not in gpu.eu_counts for p in gpu.products),
        "max_slm_per_work_group_bytes must not be above slm_per_xe_core_bytes": (
            gpu.max_slm_per_work_group_bytes > gpu.slm_per_xe_core_bytes
        ),
        "slm_sizes_bytes must ascend to max_slm_per_work_group_bytes": (
            sorted(sizes) != list(sizes) or sizes[-1] != gpu.max_slm_per_work_group_bytes
        ),
    }
    for rule, is_broken in broken.items():
        if is_broken:
            raise GpuError(f"{where}: field {rule}")
    return gpu


def _read(where: str, record: Any, entry: Any) -> Any:
    """Make a dataclass of a parsed table, every value checked against its field's annotation."""
    if not isinstance(entry, dict):
        raise GpuError(f"{where}: must hold a table of fields, not {entry!r:.40}")
    known = {each.name: each for each in fields(record)}
    for name in entry:
        if name not in known:
            raise GpuError(f"{where}: unknown field {name!r}; the fields are {', '.join(known)}")
    for name, each in known.items():
        if name not in entry and each.default is MISSING and each.default_factory is MISSING:
            raise GpuError(f"{where}: field {name!r} is missing")
    return record(**{name: _read_field(where, name, str(known[name].type), entry[name]) for name in entry})


def _read_field(where: str, name: str, annotation: str, value: Any) -> Any:
    if annotation == "tuple[Product, ...]" and isinstance(value, list):
        return tuple(_read(f"{where}: products[{i}]", Product, each) for i, each in enumerate(value))
    what, convert = _KINDS[annotation.replace("int", "size") if name.endswith("_bytes") else annotation]
    try:
        return convert(value)
    except (ValueError, TypeError, AttributeError, SizeError):
        raise GpuError(f"{where}: field {name!r} must be {what}, not {value!r:.40}") from None


def _exactly(*types: type) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        if type(value) not in types or (type(value) in (int, float) and not 0 < value < inf):
            raise ValueError
        return value

    return convert


def _each(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def convert_all(value: Any) -> Any:
        if type(value) is not list or not value:
            raise ValueError
        return tuple(map(convert, value))

    return convert_all


def _size(value: Any) -> Any:
    return _exactly(int)(parse_size(_exactly(int, str)(value)))


# what each annotation of the two dataclasses accepts from a file, and the word for it in an error
_KINDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "str": ("text", _exactly(str)),
    "bool": ("true or false", _exactly(bool)),
    "int": ("a whole number above 0", _exactly(int)),
    "int | None": ("a whole number above 0", _exactly(int)),
    "float | None": ("a number above 0", _exactly(int, float)),
    "size": ("a size such as 65536 or '64K'", _size),
    "tuple[size, ...]": ("a list of sizes such as 65536 or '64K'", _each(_size)),
    "tuple[int, ...]": ("a list of whole numbers above 0", _each(_exactly(int))),
    "tuple[str, ...]": ("a list of texts", _each(_exactly(str))),
    "tuple[Product, ...]": ("a list of tables", _each(_exactly(dict))),
    "Mapping[str, float]": (
        "a table of numbers above 0",
        lambda value: {key: _exactly(int, float)(each) for key, each in value.items()},
    ),
}
