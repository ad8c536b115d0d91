"""The SPIR-V of kernels in OpenCL C, by Intel's offline compiler: Level Zero takes nothing else.

The front end writes the version of its own into a module, so another version makes other bytes of the same text. What a
pack has already is therefore made again only by the version that made it.
"""

from __future__ import annotations

import functools
from pathlib import Path

from xebench.dpex.foreign_kernel import ForeignKernel, foreign_digest
from xebench.isa.compilation import Compiler, Source
from xebench.isa.ocloc import NoCompiler, find_compiler, to_spirv
from xebench.system.kernel_pack import OCLOC, Pack, PackedKernel


class OpenCLModules:
    """Makes modules, or keeps those of an earlier pack.

    Args:
        earlier: the pack's file, if there is one.

    Attributes:
        versions: of the compilers that made what was asked for.
    """

    def __init__(self, earlier: Path) -> None:
        self.versions: set[str] = set()
        self._earlier = Pack.open(earlier) if earlier.is_file() else None

    def module(self, kernel: ForeignKernel) -> bytes:
        """The SPIR-V of a kernel.

        Raises:
            NoCompiler: it was not packed before, and there is no ocloc or it does not take the text.
        """
        compiler = self._compiler
        kept = self._kept(foreign_digest(kernel))
        if kept and self._earlier and (compiler is None or self._made_by != compiler.version):
            self.versions.update(self._made_by.split(", "))
            return self._earlier.module(kept.spirv)
        if compiler is None:
            raise NoCompiler(f"kernel {kernel.name} is in OpenCL C: ocloc is needed (Debian: intel-opencl-icd)")
        self.versions.add(compiler.version)
        try:
            return to_spirv(compiler, Source(kernel.opencl_c.encode(), "opencl"), kernel.options.source_flags)
        except NoCompiler as error:
            raise NoCompiler(f"kernel {kernel.name}: {error}") from None

    @functools.cached_property
    def _compiler(self) -> Compiler | None:
        try:
            return find_compiler()
        except NoCompiler:
            return None

    @property
    def _made_by(self) -> str:
        return self._earlier.index.versions.get(OCLOC, "") if self._earlier else ""

    def _kept(self, key: str) -> PackedKernel | None:
        kernels = self._earlier.index.kernels if self._earlier else ()
        return next((kernel for kernel in kernels if kernel.key == key), None)
