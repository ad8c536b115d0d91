"""Kernels that are not Python, and their code.

They are made by `xebench.dpex.opencl_source` and `xebench.dpex.sycl_source`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from numba_sycl.errors import ArgumentError, KernelError
from numba_sycl.kernel_options import KernelOptions
from numba_sycl.signature import CompiledKernel, OtherKernel, Signature, index_space_extents, needs_groups
from numba_sycl.spirv_cache import SpirvCache
from numba_sycl.sycl_types import Device
from xebench.dpex.foreign_parameters import LocalPointer, Parameter


@dataclass(frozen=True, eq=False)
class ForeignKernel(OtherKernel):
    """A kernel in OpenCL C, SYCL C++ or SPIR-V.

    Attributes:
        name: name of the kernel in its source.
        parameters: parameters of the kernel.
        options: options of the driver's compiler, and required sizes.
        file: Python file that made it.
        make: makes its code for a signature, with a cache.
        opencl_c: OpenCL C, or empty.
        spirv: SPIR-V module, or empty.
        sycl: SYCL C++, or empty.
        sycl_options: options of the compiler of SYCL C++.
    """

    name: str
    parameters: tuple[Parameter, ...]
    options: KernelOptions
    file: Path
    make: Callable[[ForeignKernel, Signature, SpirvCache | None], ForeignCode] = field(repr=False)
    opencl_c: str = field(default="", repr=False)
    spirv: bytes = field(default=b"", repr=False)
    sycl: str = field(default="", repr=False)
    sycl_options: tuple[str, ...] = ()

    def signature_of(self, index_space: Any, args: Sequence[Any]) -> Signature:
        """See `OtherKernel.signature_of`."""
        extents, local = index_space_extents(index_space)
        count = len(self.parameters)
        if len(args) != count:
            takes = ", ".join(map(str, self.parameters)) or "none"
            raise ArgumentError(f"kernel {self.name} takes {count} arguments ({takes}), {len(args)} given")
        for position, (parameter, value) in enumerate(zip(self.parameters, args, strict=True)):
            if error := parameter.mismatch(position, value):
                raise ArgumentError(f"kernel {self.name}: {error}")
        if local is None and any(isinstance(parameter, LocalPointer) for parameter in self.parameters):
            raise needs_groups(self.name)
        return Signature("Item" if local is None else "NdItem", len(extents), self.parameters)

    def compiled(self, signature: Signature, cache: SpirvCache | None) -> CompiledKernel:
        """See `OtherKernel.compiled`."""
        return self.make(self, signature, cache)


@dataclass(frozen=True, eq=False)
class ForeignCode(CompiledKernel):
    """The code of such a kernel.

    Attributes:
        foreign: kernel that it is of.
    """

    foreign: ForeignKernel | None = None

    doubt: ClassVar[str] = ": are the argument types that are stated those of its code?"

    @classmethod
    def of(cls, kernel: ForeignKernel, signature: Signature, cache: SpirvCache | None) -> ForeignCode:
        """The code that only a driver compiles."""
        return cls(kernel.name, kernel.spirv, kernel.options, signature, {}, cached=False, foreign=kernel)

    def code_for(self, device: Device, flags: tuple[str, ...]) -> tuple[bytes, str, tuple[str, ...]]:
        """See `CompiledKernel.code_for`."""
        return self.code, self.language, flags

    def miscounted(self, taken: int, stated: int) -> KernelError:
        """See `CompiledKernel.miscounted`."""
        return ArgumentError(
            f"kernel {self.name} has {taken} arguments in its code, {stated} are stated: correct arguments="
        )


def required_extents(extents: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """The extents without dimensions of 1 at the end: text and modules always have three."""
    if extents is None:
        return None
    used = max((dimension for dimension, extent in enumerate(extents, 1) if extent > 1), default=1)
    return extents[:used]


def caller(*files: str) -> Path:
    """The file that calls a function of these files."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename in (__file__, *files):
        frame = frame.f_back
    return Path(frame.f_code.co_filename if frame else __file__)
