"""Every kernel that this process requests: compiled once, and kept for the pack."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from xebench.dpex.compiled_kernel import CompiledKernel
from xebench.dpex.decorators import options_of
from xebench.dpex.dpex_errors import KernelCompileError, NotShipped
from xebench.dpex.foreign_kernel import ForeignKernel, foreign_digest
from xebench.dpex.identity import UnknownIdentity, shipped_key, source_digest
from xebench.dpex.signature import Signature
from xebench.dpex.spirv_cache import SpirvCache
from xebench.isa.ocloc import NoCompiler
from xebench.patterns.registry import portable_source
from xebench.system import PACKAGE
from xebench.system.kernel_pack import PackedKernel

#: The folder that the package ``xebench`` is in, and that of a checkout.
_ROOTS: Final = PACKAGE.resolve().parents[:2]


class KernelRecorder:
    """A source of kernels (`xebench.dpex.compiler.use_source`) that remembers what it gave.

    Args:
        source: where they come from.
        opencl: gives the SPIR-V of those in OpenCL C.
        only: the file whose kernels are remembered; None: of all files.

    Attributes:
        kernels: each with its module, and that with narrowed indices, by key.
        unknown: kernels that cannot be shipped, with what they refer to.
        missing: why the source did not have others, each once.
    """

    def __init__(
        self,
        source: Callable[[Any, Signature, SpirvCache | None], CompiledKernel],
        opencl: Callable[[ForeignKernel], bytes],
        only: Path | None = None,
    ) -> None:
        self.kernels: dict[str, tuple[PackedKernel, bytes, bytes]] = {}
        self.unknown: dict[str, str] = {}
        self.missing: dict[str, None] = {}
        self._source = source
        self._only = only
        self._given: dict[str, CompiledKernel] = {}
        self._opencl = opencl

    def __call__(self, kernel: Any, signature: Signature, cache: SpirvCache | None) -> CompiledKernel:
        """The kernel for a signature; it is remembered for devices without 64-bit atomics too, where it needs none."""
        if isinstance(kernel, ForeignKernel):
            if kernel.opencl_c and self._only in (None, kernel.file):
                self._keep_module(kernel)
            return CompiledKernel.of_foreign(kernel, signature)
        name, file = kernel.py_func.__name__, Path(kernel.py_func.__code__.co_filename)
        try:
            key = shipped_key(kernel, signature)
        except UnknownIdentity as error:
            compiled = self._source(kernel, signature, None)  # what does not compile is not lacking
            self.unknown[f"{file.name}: {name}"] = str(error)
            return compiled
        if key not in self._given:
            self._given[key] = self._from_source(kernel, signature)
            if self._only in (None, file):
                self._keep(kernel, key, self._given[key])
                with suppress(KernelCompileError, NotShipped):
                    without = replace(signature, atomic64=not signature.atomic64)
                    self._keep(kernel, shipped_key(kernel, without), self._source(kernel, without, None))
        return self._given[key]

    def _from_source(self, kernel: Any, signature: Signature) -> CompiledKernel:
        try:
            return self._source(kernel, signature, None)
        except NotShipped as error:
            self.missing[str(error)] = None
            raise

    def _keep_module(self, kernel: ForeignKernel) -> None:
        key = foreign_digest(kernel)
        if key in self.kernels:
            return
        try:
            module = self._opencl(kernel)
        except (NoCompiler, NotShipped) as error:
            self.missing[str(error)] = None
            return
        packed = PackedKernel(
            kernel=kernel.name,
            origin=_origin(kernel.file),
            signature=f"({', '.join(map(str, kernel.parameters))})",
            atomic64=True,
            options=kernel.options.text(),
            source=key,
            key=key,
            spirv=hashlib.sha256(module).hexdigest(),
        )
        self.kernels[key] = packed, module, b""

    def _keep(self, kernel: Any, key: str, compiled: CompiledKernel) -> None:
        packed = PackedKernel(
            kernel=compiled.name,
            origin=_origin(Path(kernel.py_func.__code__.co_filename)),
            signature=str(compiled.signature),
            atomic64=compiled.signature.atomic64,
            options=options_of(kernel).text(),
            source=source_digest(kernel),
            key=key,
            spirv=compiled.sha256,
            narrow=compiled.narrowed.sha256 if compiled.narrow else "",
            limit=compiled.limit,
        )
        self.kernels[key] = packed, compiled.spirv, compiled.narrow


def _origin(file: Path) -> str:
    """A file as any checkout has it."""
    if (source := Path(portable_source(str(file)))) != file:
        return source.as_posix()
    return next((file.relative_to(root).as_posix() for root in _ROOTS if file.is_relative_to(root)), file.name)
