"""Where shipped kernels are looked up: the project's own pack, and one beside a user's pattern file."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from xebench.dpex.dpex_errors import NotShipped
from xebench.dpex.foreign_kernel import ForeignKernel, foreign_digest
from xebench.system.kernel_pack import OWN_PACK, Pack, PackedKernel, pack_beside


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
