"""A kernel in SPIR-V or OpenCL C: what its source hands on to everything that builds and launches."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property

from xebench.dpex.foreign_kernel import ForeignKernel
from xebench.dpex.kernel_options import KernelOptions
from xebench.dpex.signature import Signature


@dataclass(frozen=True, eq=False)
class CompiledKernel:
    """A kernel, for every device.

    Attributes:
        name: the kernel's name in its code.
        spirv: the module; empty for OpenCL C.
        options: what the kernel asked for.
        signature: index space and argument types that it was compiled for.
        stages: time of each stage in ns: "typing" (numba's typing and lowering) and "translate" (LLVM to SPIR-V);
            when ``cached``, "typing" alone, the time that finding it took; nothing for what is not Python.
        cached: no compiler ran: it came from disk or was compiled before in this process.
        compiler: that made it, with versions; empty for what is not Python.
        llvm_ir: the LLVM IR that was translated; None when it came from disk.
        foreign: the kernel itself where it is not Python.
        narrow: a module with index arithmetic in 32 bits; empty where there is none.
        limit: of the launches that may take it (`xebench.dpex.narrow.is_within`); 0: none may.
        bounded: this is that module.
    """

    name: str
    spirv: bytes = field(repr=False)
    options: KernelOptions
    signature: Signature
    stages: dict[str, int]
    cached: bool
    compiler: str = ""
    llvm_ir: str | None = field(default=None, repr=False)
    foreign: ForeignKernel | None = None
    narrow: bytes = field(default=b"", repr=False)
    limit: int = 0
    bounded: bool = False

    @property
    def narrowed(self) -> CompiledKernel:
        """The kernel with index arithmetic in 32 bits; itself where there is none."""
        return replace(self, spirv=self.narrow, narrow=b"", bounded=True) if self.narrow else self

    @classmethod
    def of_foreign(cls, kernel: ForeignKernel, signature: Signature) -> CompiledKernel:
        """A kernel in OpenCL C or SPIR-V, which nobody has to compile before its driver does."""
        return cls(kernel.name, kernel.spirv, kernel.options, signature, {}, cached=False, foreign=kernel)

    @property
    def language(self) -> str:
        """The language of its code: "spirv" or "opencl"."""
        return "opencl" if self.foreign and self.foreign.opencl_c else "spirv"

    @property
    def code(self) -> bytes:
        """The module, or the text in OpenCL C."""
        return self.foreign.opencl_c.encode() if self.foreign and self.foreign.opencl_c else self.spirv

    @cached_property
    def sha256(self) -> str:
        """The hash of ``code``, hexadecimal; the same source gives the same bytes."""
        return hashlib.sha256(self.code).hexdigest()
