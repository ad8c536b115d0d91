"""A kernel in SPIR-V: what compilers hand on to everything that builds and launches."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

from harness.dpex.kernel_options import KernelOptions
from harness.dpex.signature import Signature


@dataclass(frozen=True, eq=False)
class CompiledKernel:
    """A kernel in SPIR-V, for every device.

    Attributes:
        name: the kernel's name in the SPIR-V.
        spirv: the module.
        options: what the kernel asked for.
        signature: index space and argument types that it was compiled for.
        stages: time of each stage in ns: "typing" (numba's typing and lowering) and "translate" (LLVM to SPIR-V);
            when ``cached``, "typing" alone, the time that finding it took.
        cached: no compiler ran: it came from disk or was compiled before in this process.
        llvm_ir: the LLVM IR that was translated; None when it came from disk.
    """

    name: str
    spirv: bytes = field(repr=False)
    options: KernelOptions
    signature: Signature
    stages: dict[str, int]
    cached: bool
    llvm_ir: str | None = field(default=None, repr=False)

    @cached_property
    def sha256(self) -> str:
        """Of ``spirv``, hexadecimal; the same source gives the same bytes."""
        return hashlib.sha256(self.spirv).hexdigest()
