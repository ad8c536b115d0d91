"""Kernels that were compiled elsewhere and shipped: the project's own pack, and one beside a user's pattern file."""

from __future__ import annotations

import functools
import os
import time
from pathlib import Path
from typing import Any, Final

from xebench.dpex.decorators import options_of
from xebench.dpex.dpex_errors import NotShipped
from xebench.dpex.foreign_kernel import ForeignKernel, foreign_digest
from xebench.dpex.identity import UnknownIdentity, shipped_key
from xebench.dpex.kernel_options import SourceFunction, SourceKernel
from xebench.dpex.signature import CompiledKernel, Signature, not_a_kernel
from xebench.system.kernel_pack import OWN_PACK, Pack, PackedKernel, compiler_label, pack_beside


def find_packed(key: str, file: Path) -> tuple[Pack, PackedKernel] | None:
    """A kernel and the pack that has it.

    Args:
        key: of the kernel.
        file: the Python file that it is in.
    """
    for path in _packs(file):
        if key in (kernels := _kernels(path)):
            return kernels[key]
    return None


def packs_in_sight(file: Path) -> str:
    """A key that changes when a pack for kernels of a file is made, replaced or removed; no pack is opened."""
    return repr([(stat.st_size, stat.st_mtime_ns) for path in _packs(file) if (stat := _stat(path))])


def shipped_spirv(kernel: ForeignKernel, backend: str) -> bytes:
    """The SPIR-V of a kernel in OpenCL C.

    Args:
        kernel: whose text is not taken.
        backend: that does not take it.

    Raises:
        NotShipped: no pack has it.
    """
    found = find_packed(foreign_digest(kernel), kernel.file)
    if found is None:
        make = f"run 'xebench pack {kernel.file}' where ocloc is installed"
        raise NotShipped(kernel.name, f"{backend}, which takes no OpenCL C", make)
    pack, packed = found
    return pack.module(packed.spirv)


def _packs(file: Path) -> tuple[Path, Path]:
    return OWN_PACK, pack_beside(file)


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


@functools.cache
def _kernels(path: Path) -> dict[str, tuple[Pack, PackedKernel]]:
    """The kernels of a pack by their keys; none where there is no file."""
    try:
        pack = Pack.open(path)
    except FileNotFoundError:
        return {}
    return {kernel.key: (pack, kernel) for kernel in pack.index.kernels}


_COMPILE: Final = "run 'python -m pip install numba', which compiles it here"


def find_shipped(kernel: Any, signature: Signature) -> CompiledKernel:
    """The shipped SPIR-V of a kernel.

    Raises:
        NotShipped: there is none for this source, these options and this signature.
        ArgumentError: it is no kernel.
    """
    started = time.perf_counter_ns()
    if isinstance(kernel, SourceFunction) and not isinstance(kernel, SourceKernel):
        raise not_a_kernel(kernel)
    name, file = kernel.py_func.__name__, Path(kernel.py_func.__code__.co_filename)
    try:
        key = shipped_key(kernel, signature)
    except UnknownIdentity as error:
        raise NotShipped(
            name, str(signature), f"it refers to {error}, so that it cannot be shipped: {_COMPILE}"
        ) from None
    found = find_packed(key, file)
    if found:
        pack, packed = found
        spirv, narrow = pack.module(packed.spirv), pack.module(packed.narrow)
        compiler = compiler_label(pack.index.versions)
        stages = {"typing": time.perf_counter_ns() - started}
        return CompiledKernel(
            packed.kernel,
            spirv,
            options_of(kernel),
            signature,
            stages,
            cached=True,
            compiler=compiler,
            narrow=narrow,
            limit=packed.limit,
        )
    raise NotShipped(name, str(signature), _COMPILE)
