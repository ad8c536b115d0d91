"""Kernels that were compiled beforehand and shipped: the project's own pack, and one beside a user's file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Final

from xebench.dpex.compiled_kernel import CompiledKernel
from xebench.dpex.decorators import options_of
from xebench.dpex.dpex_errors import NotShipped
from xebench.dpex.identity import UnknownIdentity, shipped_key
from xebench.dpex.packs import find_packed
from xebench.dpex.signature import Signature, not_a_kernel
from xebench.dpex.source_kernel import SourceFunction, SourceKernel
from xebench.system.kernel_pack import compiler_label

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
