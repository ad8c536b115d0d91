"""The catalogue of GPUs, ``data/gpus.json``: every fact of a GPU that any room needs, each with its source.

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
from typing import Any

import msgspec

from xebench.errors import suggestion
from xebench.system.gpu_model.gpu_parameters import Bytes, GpuError, GpuParameters
from xebench.system.gpu_model.size_text import SizeError, parse_size


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
