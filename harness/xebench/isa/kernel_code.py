"""One kernel on one GPU: the binary's description and the assembly put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from xebench.isa.assembly import Assembly, read_assembly
from xebench.isa.compilation import Compiled, Compiler, Job, Source, Target
from xebench.isa.compile_cache import CompileCache
from xebench.isa.ocloc import compile_source
from xebench.isa.registers import registers_named
from xebench.isa.zeinfo import KernelInfo, read_zeinfo
from xebench.system.children.process import in_threads
from xebench.system.gpu_model.gpus import gpu_of_platform

#: Of a GPU that the catalogue does not know.
_REGISTER_BYTES: Final = 32


@dataclass(frozen=True)
class KernelCode:
    """The code of a kernel.

    Attributes:
        info: from the binary's metadata.
        assembly: the instructions.
        simd_width: work-items of a hardware thread.
    """

    info: KernelInfo
    assembly: Assembly
    simd_width: int

    @property
    def spill_bytes(self) -> int:
        """Memory of a hardware thread for spilled registers; old binaries leave it to the assembly's header."""
        return self.assembly.spill_bytes if self.info.spill_bytes is None else self.info.spill_bytes

    @property
    def private_bytes(self) -> int:
        """Private memory of a hardware thread; old binaries have it in other places."""
        if self.info.private_bytes is not None:
            return self.info.private_bytes
        return max(self.assembly.private_bytes, self.info.buffer_bytes)

    @property
    def register_bytes(self) -> int:
        """Size of one register."""
        gpu = gpu_of_platform(self.assembly.platform)
        return _REGISTER_BYTES if gpu is None else gpu.register_bytes

    @property
    def spilled_registers(self) -> int:
        """Registers' worth of spilled memory, the number in the compiler's own warning."""
        return self.spill_bytes // self.register_bytes

    @cached_property
    def registers_used(self) -> int:
        """Registers that an instruction reads or writes, and those that were spilled."""
        return registers_named(self.assembly, self.register_bytes) + self.spilled_registers

    @cached_property
    def messages(self) -> dict[str, int]:
        """The number of messages of each label (``load.global.d32x4``), without the kernel's arguments."""
        labels = Counter(m.label for m in self.assembly.messages if m.space != "argument")
        return dict(sorted(labels.items()))


def read_code(compiled: Compiled, kernel: str | None = None) -> KernelCode:
    """A kernel of a compilation that succeeded; the only one where no name is given.

    Raises:
        ValueError: what the compiler left cannot be read, or the kernel is not in it.
    """
    infos = read_zeinfo(compiled.zeinfo)
    name = kernel or next(iter(infos), "")
    if name not in infos or name not in compiled.assembly:
        names = ", ".join(sorted(set(infos) & set(compiled.assembly))) or "none"
        raise ValueError(f"the binary has no kernel {name!r} with its assembly: it has {names}")
    return KernelCode(infos[name], read_assembly(compiled.assembly[name]), compiled.simd_widths[name])


def compile_all(
    compiler: Compiler,
    jobs: Sequence[Job],
    cache: CompileCache | None = None,
    begins: Callable[[int, str], None] = lambda total, name: None,
) -> dict[tuple[str, Target], Compiled]:
    """Compile many sources, each once per target, two at a time.

    Args:
        compiler: the ocloc.
        jobs: sources and targets.
        cache: looked up first and filled after.
        begins: called with the number of compilations, and the GPU of each that is begun, from several threads.

    Returns:
        What became of each, by the source's SHA-256 and the target.
    """
    unique = {(source.sha256, target): source for source, target in jobs}

    def compile_job(job: tuple[tuple[str, Target], Source]) -> Compiled:
        (_, target), source = job
        begins(len(unique), f"for {target.gpu}")
        compiled = cache.load(compiler, source, target) if cache else None
        if compiled is None:
            compiled = compile_source(compiler, source, target)
            if cache:
                cache.store(compiler, source, target, compiled)
        return compiled

    return dict(zip(unique, in_threads(compile_job, unique.items(), 2), strict=True))
