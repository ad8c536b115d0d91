"""Kernels that were compiled elsewhere and shipped: the project's own pack, and one beside a user's pattern file."""

from __future__ import annotations

import functools
import time
from pathlib import Path
from typing import Any, Final

from harness.dpex.compiled_kernel import CompiledKernel
from harness.dpex.decorators import options_of
from harness.dpex.dpex_errors import NotShipped
from harness.dpex.identity import UnknownIdentity, shipped_key
from harness.dpex.kernel_pack import Pack, PackedKernel
from harness.dpex.signature import Signature, not_a_kernel
from harness.dpex.source_kernel import SourceKernel

#: The project's own.
PACK: Final = Path(__file__).with_name("shipped_kernels.zip")
#: What stands for ``.py`` in the name of a pattern file's own pack.
SUFFIX: Final = ".kernels.zip"


def find_shipped(kernel: Any, signature: Signature) -> CompiledKernel:
    """The shipped SPIR-V of a kernel.

    Raises:
        NotShipped: there is none for this source, these options and this signature.
        ArgumentError: it is no kernel.
    """
    started = time.perf_counter_ns()
    if not isinstance(kernel, SourceKernel):
        raise not_a_kernel(kernel)
    name, file = kernel.py_func.__name__, Path(kernel.py_func.__code__.co_filename)
    try:
        key = shipped_key(kernel, signature)
    except UnknownIdentity as error:
        raise NotShipped(name, str(signature), f"it refers to {error}, so that it cannot be shipped") from None
    for path in (PACK, own_pack(file)):
        if key in (kernels := _kernels(path)):
            pack, packed = kernels[key]
            spirv = pack.spirv(packed)
            stages = {"typing": time.perf_counter_ns() - started}
            return CompiledKernel(packed.kernel, spirv, options_of(kernel), signature, stages, cached=True)
    raise NotShipped(name, str(signature), f"run 'python -m harness.packing {file}' in the pinned environment")


def own_pack(file: Path) -> Path:
    """Where the pack of a pattern file is looked for: beside it."""
    return file.with_name(file.stem + SUFFIX)


@functools.cache
def _kernels(path: Path) -> dict[str, tuple[Pack, PackedKernel]]:
    """The kernels of a pack by their keys; none where there is no file."""
    try:
        pack = Pack.open(path)
    except FileNotFoundError:
        return {}
    return {kernel.key: (pack, kernel) for kernel in pack.index.kernels}
