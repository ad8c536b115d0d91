"""One kernel on one GPU: its binary's description, its assembly, and the registers that the code occupies.

On Intel's GPUs every hardware thread has the whole register file, 128 registers or 256, whatever the kernel needs of
it: no compiler says how many it used, so they are counted where the instructions name them. A compiler hands out a free
register before it uses one again, so the count is an upper bound of what the kernel needs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from xebench.isa.assembly import Assembly, Instruction, read_assembly
from xebench.isa.compilation import CompileCache, Compiled, Compiler, Job, KernelInfo, Source, Target, read_zeinfo
from xebench.isa.ocloc import compile_source
from xebench.system.children.process import in_threads
from xebench.system.gpu_model.gpus import gpu_of_platform

#: ``r12``, ``r12:4`` (four registers of a message), ``r12.3<1;1,0>:ud`` (lanes of a type, in a region).
_OPERAND: Final = re.compile(
    r"\br(?P<first>\d+)(?:\.(?P<part>\d+))?(?:<(?P<region>[\d;,]+)>)?(?::(?:(?P<count>\d+)|(?P<type>[a-z]\w*)))?"
)
#: Registers of a message's answer and of both parts of what it sends, where only the disassembler's comment tells them.
_SENT: Final = tuple(re.compile(pattern) for pattern in (r"\brd:(\d+)", r"\bwr:(\d+)", r"\bwr:\d+h?\+(\d+)"))

_BYTES: Final = {
    **dict.fromkeys(("b", "ub"), 1),
    **dict.fromkeys(("w", "uw", "hf", "bf"), 2),
    **dict.fromkeys(("d", "ud", "f", "tf32"), 4),
    **dict.fromkeys(("q", "uq", "df"), 8),
}


def registers_named(assembly: Assembly, register_bytes: int) -> int:
    """The number of different registers that the instructions read or write, with the arguments' prolog.

    Args:
        assembly: of one kernel.
        register_bytes: size of one register.
    """
    lines = assembly.text.splitlines()
    return len(
        {
            register
            for instruction in assembly.instructions
            for register in _registers(lines[instruction.line - 1], instruction, register_bytes)
        }
    )


def _registers(line: str, instruction: Instruction, register_bytes: int) -> Iterator[int]:
    code, _, comment = line.partition("//")
    for operand in _OPERAND.finditer(code):
        first = int(operand["first"])
        if operand["count"]:
            yield from range(first, first + int(operand["count"]))
        elif operand["type"] in _BYTES:
            size = _BYTES[operand["type"]]
            start = size * int(operand["part"] or 0)
            end = start + size * (_reach(operand["region"], max(instruction.lanes, 1)) + 1)
            yield from range(first + start // register_bytes, first + -(-end // register_bytes))
        else:
            yield first
    if instruction.opcode.startswith("send"):
        yield from _of_send(code, comment)


def _reach(region: str | None, lanes: int) -> int:
    """Elements from an operand's first to its last one.

    Args:
        region: ``stride``, ``row;stride`` or ``row;width,stride``; lanes side by side without one.
        lanes: of the instruction.
    """
    numbers = [int(number) for number in re.split("[;,]", region or "1")]
    row, stride = numbers[0], numbers[-1]
    width = numbers[1] if len(numbers) == 3 else row // stride if stride else 1
    width = max(1, width)
    return max(lane // width * row + lane % width * stride for lane in range(lanes))


def _of_send(code: str, comment: str) -> Iterator[int]:
    """``send.dc0 (16|M0)  r1  r0 ...  // wr:1h+0, rd:4``: what is received and what is sent."""
    operands = code.partition("|")[2].partition(")")[2].split()
    for operand, counted in zip(operands, _SENT, strict=False):
        register, count = re.fullmatch(r"r(\d+)", operand), counted.search(comment)
        if register and count:
            yield from range(int(register[1]), int(register[1]) + int(count[1]))


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
