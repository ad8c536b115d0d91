"""One kernel on one GPU: its description, its assembly, the registers that it occupies, its differences from another.

On Intel's GPUs every hardware thread has the whole register file of 128 or 256 registers, whatever the kernel needs.
No compiler reports how many registers it used, so they are counted where the instructions name them. A compiler takes a
free register before it uses one again, so the count is an upper bound of the kernel's need.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, zip_longest
from typing import Any, Final

from xebench.isa.assembly import CLASSES, Assembly, Instruction, read_assembly
from xebench.isa.collect import KernelLaunch
from xebench.isa.compilation import CompileCache, Compiled, Compiler, Job, KernelInfo, Source, Target, read_zeinfo
from xebench.isa.ocloc import compile_source
from xebench.report.line_diff import aligned
from xebench.system.children.process import in_threads
from xebench.system.gpus import gpu_of_platform
from xebench.vocabulary import find_baseline

#: ``r12``, ``r12:4`` (four registers of a message), ``r12.3<1;1,0>:ud`` (lanes of a type, in a region).
_OPERAND: Final = re.compile(
    r"\br(?P<first>\d+)(?:\.(?P<part>\d+))?(?:<(?P<region>[\d;,]+)>)?(?::(?:(?P<count>\d+)|(?P<type>[a-z]\w*)))?"
)
#: Registers of a message's reply and of both parts of its payload, found only in the disassembler's comment.
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
        assembly: assembly of one kernel.
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
        lanes: execution size of the instruction.
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


#: Bytes of a register on a GPU that is not in the catalogue.
_REGISTER_BYTES: Final = 32


@dataclass(frozen=True)
class KernelCode:
    """The code of a kernel.

    Attributes:
        info: metadata of the binary.
        assembly: the instructions.
        simd_width: number of work-items per hardware thread.
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
        The result of each compilation, by the source's SHA-256 and the target.
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


_CLASS_NAMES = {"float": "floating-point", "int64": "64-bit integer", "int64_emulation": "64-bit emulation"}
# by column of the table ``isa``
_NAMES = {
    "simd_width": "SIMD width",
    "grf_count": "registers",
    "spill_bytes": "spilled bytes",
    "private_bytes": "private bytes",
    "slm_bytes": "SLM bytes",
    "barriers": "barriers",
    "instructions": "instructions",
    **{f"instructions_{name}": f"{_CLASS_NAMES.get(name, name)} instructions" for name in CLASSES},
}


@dataclass(frozen=True)
class KernelOnGpu:
    """A kernel of a variant, compiled for one GPU; ``code`` is None where the compiler did not get that far."""

    launch: KernelLaunch
    target: Target
    compiler: Compiler
    status: str
    reason: str = ""
    code: KernelCode | None = None
    asm: str | None = None
    binary: bytes = b""

    @property
    def figures(self) -> dict[str, Any]:
        """The figures of the code, by column of the table; empty without code."""
        if self.code is None:
            return {}
        info, assembly = self.code.info, self.code.assembly
        spaces = {
            f"{kind}s_{space}": assembly.count(kind, space)
            for kind in ("load", "store", "atomic")
            for space in ("global", "slm", "scratch")
            if (kind, space) != ("atomic", "scratch")
        }
        return {
            "simd_width": self.code.simd_width,
            "grf_count": info.grf_count,
            "registers_used": self.code.registers_used,
            "spill_bytes": self.code.spill_bytes,
            "private_bytes": self.code.private_bytes,
            "slm_bytes": info.slm_bytes + self.launch.local_bytes,
            "barriers": info.barriers,
            "instructions": len(assembly.instructions),
            **{f"instructions_{name}": count for name, count in assembly.by_class.items()},
            "additions": assembly.additions,
            **spaces,
            "address_registers": assembly.address_registers,
            "late_loads": assembly.late_loads,
            "spills": assembly.count("store", purpose="spill"),
            "fills": assembly.count("load", purpose="fill"),
            "fences": assembly.count("fence"),
            "messages": json.dumps(self.code.messages),
        }


@dataclass(frozen=True)
class Change:
    """A figure of a kernel on both sides."""

    name: str
    before: int
    after: int

    @property
    def text(self) -> str:
        """``SIMD width 32 -> 16``."""
        return f"{self.name} {self.before} -> {self.after}"


@dataclass(frozen=True)
class KernelPair:
    """Two kernels of a pattern on one GPU, under the same options; a side may lack its partner."""

    before: KernelOnGpu | None
    after: KernelOnGpu | None

    @property
    def either(self) -> KernelOnGpu:
        """The kernel of `after`, or that of `before` if there is no `after`."""
        kernel = self.after or self.before
        assert kernel is not None
        return kernel


@dataclass(frozen=True)
class ListingLine:
    """A line of two listings side by side; ``tag`` is same, changed, removed or added."""

    tag: str
    before: str
    after: str


def _figures(kernel: KernelOnGpu) -> dict[str, int]:
    """The figures that a reader compares, by name; none where there is no code."""
    if kernel.code is None:
        return {}
    figures = kernel.figures
    named = {name: figures[column] for column, name in _NAMES.items()}
    return named | {f"messages {label}": count for label, count in kernel.code.messages.items()}


def compare(before: KernelOnGpu, after: KernelOnGpu) -> list[Change]:
    """The figures that differ."""
    left, right = _figures(before), _figures(after)
    names = [*left, *(name for name in right if name not in left)]
    changes = [Change(name, left.get(name, 0), right.get(name, 0)) for name in names]
    return [change for change in changes if change.before != change.after]


def pairs(kernels: Sequence[KernelOnGpu]) -> list[KernelPair]:
    """Every variant's kernels against those of its pattern's baseline, GPU by GPU.

    Kernels that both variants launch are left out; the others meet by name, what is left in the order of launch.
    """
    result: list[KernelPair] = []
    for _, group in groupby(sorted(kernels, key=_pattern_key), key=_pattern_key):
        members = list(group)
        by_variant: dict[str, list[KernelOnGpu]] = {}
        for kernel in members:
            by_variant.setdefault(kernel.launch.variant, []).append(kernel)
        baseline = by_variant.pop(_baseline(members))
        for others in by_variant.values():
            result += _matched(baseline, others)
    return result


def _pattern_key(kernel: KernelOnGpu) -> tuple[str, str, str, int]:
    target = kernel.target
    return (kernel.launch.pattern, target.gpu, target.grf_mode, target.forced_simd or 0)


def _baseline(kernels: Sequence[KernelOnGpu]) -> str:
    baseline = find_baseline(kernels, role=lambda kernel: kernel.launch.role)
    return (baseline or kernels[0]).launch.variant


def _matched(before: Sequence[KernelOnGpu], after: Sequence[KernelOnGpu]) -> Iterator[KernelPair]:
    shared = {kernel.launch.identity for kernel in before} & {kernel.launch.identity for kernel in after}
    left = [kernel for kernel in before if kernel.launch.identity not in shared]
    right = [kernel for kernel in after if kernel.launch.identity not in shared]
    for kernel in list(right):
        namesake = next((other for other in left if other.launch.kernel == kernel.launch.kernel), None)
        if namesake:
            left.remove(namesake)
            right.remove(kernel)
            yield KernelPair(namesake, kernel)
    for left_over in zip_longest(left, right):
        yield KernelPair(*left_over)


def side_by_side(before: KernelCode, after: KernelCode) -> list[ListingLine]:
    """Two listings aligned by operation: registers and scoreboard numbers do not count as a difference."""
    left, right = _listing(before), _listing(after)
    shapes = [[shape for shape, _ in side] for side in (left, right)]
    return [
        ListingLine(tag, "" if one is None else left[one][1], "" if other is None else right[other][1])
        for tag, one, other in aligned(*shapes)
    ]


def _listing(code: KernelCode) -> list[tuple[str, str]]:
    """Each instruction's shape (operation, width, destination type, message), and its text without padding."""
    text = code.assembly.text.splitlines()
    listing = []
    for instruction in code.assembly.instructions:
        shape = f"{instruction.opcode} {instruction.lanes} {instruction.type}"
        listing.append((shape, _tidy(text[instruction.line - 1])))
    return listing


def _tidy(line: str) -> str:
    """The text with single spaces between words, and with its comment only if that describes a message."""
    code, _, comment = line.partition("//")
    words = [part.strip() for part in re.split(r";|//", comment)]
    told = [word for word in words if re.search(r"read|write|atomic|fence|scratch|thread|barrier", word)]
    return re.sub(r"\s+", " ", code).strip() + (f"  // {'; '.join(told)}" if told else "")
