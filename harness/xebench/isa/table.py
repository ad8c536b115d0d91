"""The table ``isa``: a row is a kernel of a variant on one Intel GPU, under one set of options.

Its binaries as files.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xebench.errors import XebenchError
from xebench.isa.assembly import CLASSES
from xebench.isa.collect import Collected, KernelLaunch
from xebench.isa.compilation import CompileCache, Compiled, Compiler, Source, Target
from xebench.isa.kernel_code import KernelOnGpu, compile_all, read_code
from xebench.patterns.conditions import mark_not_asked
from xebench.patterns.plan import Family
from xebench.records.claim import Claim, to_json
from xebench.results.columns import Column
from xebench.system.gpus import GpuParameters
from xebench.vocabulary import Answer, CodeClaim, DeviceClass

if TYPE_CHECKING:
    import pandas as pd


def _text(name: str, meaning: str, *, required: bool = False) -> Column:
    return Column(name, "string", meaning, required=required)


def _count(name: str, meaning: str, unit: str = "") -> Column:
    return Column(name, "Int64", meaning, unit)


ISA: Final = (
    _text("pattern", "Name of the pattern.", required=True),
    _text("chapter", "Chapter of the guide: the folder of the benchmark."),
    _text("variant", "Name of the variant.", required=True),
    _text("role", "naive, intermediate, optimized, baseline or antipattern.", required=True),
    _text("axes", "Axis values at which the kernel was first launched, as a JSON object.", required=True),
    _text("kernel", "Name of the kernel.", required=True),
    _text("spirv_sha256", "SHA-256 of the SPIR-V module: the same as in the table of cases.", required=True),
    _text("gpu", "GPU for which it was compiled: pvc, dg2, tgllp, bmg, ...", required=True),
    _text("ocloc_version", "Version of the offline compiler.", required=True),
    _text("igc", "File name of its code generator's library.", required=True),
    _text("build_options", "Options of the driver's compiler.", required=True),
    _text("grf_mode", "default, large or auto.", required=True),
    _count("forced_simd", "SIMD width that was forced; null when the compiler chose.", "work-items"),
    _text("status", "ok, skipped (by what it requires), refused, crashed, timeout or unreadable.", required=True),
    _text("reason", "Reason why the status is not ok, in one line."),
    _count("simd_width", "Work-items of a hardware thread.", "work-items"),
    _count("grf_count", "Registers of a hardware thread."),
    _count("registers_used", "Registers that an instruction reads or writes, and those that were spilled."),
    _count("spill_bytes", "Memory of a hardware thread for registers that ran out.", "bytes"),
    _count("private_bytes", "Private memory of a hardware thread, for arrays that are not in registers.", "bytes"),
    _count("slm_bytes", "Shared local memory of a work-group: the kernel's own and LocalAccessor arguments.", "bytes"),
    _count("barriers", "Barriers that a work-group needs."),
    _text("global_size", "Index space of the first launch, dimension 0 (the fastest) first, commas between."),
    _text("local_size", "Work-group of the first launch; null when the driver chose."),
    _count("instructions", "Instructions in the program text, arguments' prolog included."),
    _count("additions", "Floating-point additions, those that are fused with a product too."),
    *(_count(f"instructions_{name}", f"Of these: {meaning}.") for name, meaning in CLASSES.items()),
    _count(
        "loads_global",
        "Messages that load from global memory; on dg2 and tgllp also from private arrays, by the same ones.",
    ),
    _count("stores_global", "Messages that store to global memory; on dg2 and tgllp also to private arrays."),
    _count("atomics_global", "Atomic messages to global memory."),
    _count("address_registers", "Most registers that hold the addresses of one load, store or atomic of these."),
    _count("late_loads", "Loads from global memory that follow a store to it in the program text."),
    _count("loads_slm", "Messages that load from shared local memory."),
    _count("stores_slm", "Messages that store to shared local memory."),
    _count("atomics_slm", "Atomic messages to shared local memory."),
    _count(
        "loads_scratch",
        "Messages that load from the thread's own memory, spill fills included; 0 where `loads_global` has them.",
    ),
    _count("stores_scratch", "Messages that store to the thread's own memory, spills included."),
    _count("spills", "Messages with which the register allocator stores registers."),
    _count("fills", "Messages with which it loads them again."),
    _count("fences", "Memory fences."),
    _text("messages", "JSON object: messages by kind, space and width, such as load.global.d32x4."),
    _text("asm", "File of the assembly, in the folder given by --keep; null without."),
)

#: Most characters of build options in the name of a kept file: file systems allow 255 in all.
_LONGEST_OPTIONS: Final = 60


def targets(
    gpus: Sequence[str | GpuParameters],
    grf_modes: Sequence[str] = ("default",),
    simd_widths: Sequence[int | None] = (None,),
    build_options: Sequence[str] = (),
) -> list[Target]:
    """All combinations."""
    return [
        Target(gpu, tuple(build_options), grf, simd)
        if isinstance(gpu, str)
        else Target(gpu.code, tuple(build_options), grf, simd, gpu)
        for gpu, grf, simd in itertools.product(gpus, grf_modes, simd_widths)
    ]


def compile_launches(
    launches: Iterable[KernelLaunch],
    wanted: Sequence[Target],
    compiler: Compiler,
    cache: CompileCache | None = None,
    keep: Path | None = None,
    begins: Callable[[int, str], None] = lambda total, name: None,
) -> list[KernelOnGpu]:
    """Compile kernels for GPUs, in the order of the launches.

    A kernel that a variant launches at several points of its axes counts once. A kernel that needs double precision, or
    a matrix engine with other lanes, is skipped for GPUs without it: some compilers accept it and emit calls that do
    not exist.

    Args:
        launches: the kernels.
        wanted: targets to compile each kernel for, plus the kernel's own options.
        compiler: the ocloc.
        cache: cache of compilations, read and filled.
        keep: directory for SPIR-V, assembly and metadata; None to keep none.
        begins: callback of `xebench.isa.kernel_code.compile_all`.
    """
    unique = {(launch.pattern, launch.variant, launch.identity): launch for launch in reversed(list(launches))}
    plan = [
        (launch, Source(launch.spirv, launch.language), replace(target, build_options=_options(launch, target)))
        for launch in reversed(unique.values())
        for target in wanted
    ]
    fit = [(source, target) for launch, source, target in plan if not _lacking(launch, target)]
    results = compile_all(compiler, fit, cache, begins)
    return [
        KernelOnGpu(launch, target, compiler, "skipped", lacking)
        if (lacking := _lacking(launch, target))
        else _kernel(launch, target, compiler, results[source.sha256, target], keep)
        for launch, source, target in plan
    ]


def _lacking(launch: KernelLaunch, target: Target) -> str:
    """The known requirements of a kernel that a GPU lacks; or ""."""
    gpu = target.parameters
    if gpu is None:
        return ""
    lanes = [int(what.partition("=")[2]) for what in launch.requires if what.startswith("matrix_lanes=")]
    if any(gpu.matrix_lanes != wanted for wanted in lanes):
        engine = f"has one of {gpu.matrix_lanes}" if gpu.matrix_lanes else "has none"
        return f"needs a matrix engine (XMX) of {lanes[0]} lanes, {target.gpu} {engine}"
    return f"needs fp64, which {target.gpu} lacks" if "fp64" in launch.requires and not gpu.fp64 else ""


def _options(launch: KernelLaunch, target: Target) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*launch.build_options, *target.build_options)))


def _kernel(
    launch: KernelLaunch, target: Target, compiler: Compiler, compiled: Compiled, keep: Path | None
) -> KernelOnGpu:
    if compiled.status != "ok":
        return KernelOnGpu(launch, target, compiler, compiled.status, compiled.reason)
    try:
        code = read_code(compiled, launch.kernel)
    except (ValueError, KeyError) as error:
        return KernelOnGpu(launch, target, compiler, "unreadable", str(error).partition("\n")[0])
    asm = None if keep is None else _keep(keep, launch, target, compiled)
    return KernelOnGpu(launch, target, compiler, "ok", code=code, asm=asm, binary=compiled.binary)


def _keep(folder: Path, launch: KernelLaunch, target: Target, compiled: Compiled) -> str:
    """Write what the compiler left; the assembly's path within the folder."""
    mode = "" if target.grf_mode == "default" else f".{target.grf_mode}-grf"
    width = "" if target.forced_simd is None else f".simd{target.forced_simd}"
    asked = "".join(re.sub(r"\W+", "-", f".{option.lstrip('-')}") for option in launch.build_options)
    name = f"{launch.pattern}.{launch.variant}.{launch.kernel}.{launch.spirv_sha256[:8]}"
    if len(asked) > _LONGEST_OPTIONS:
        asked = f"{asked[:_LONGEST_OPTIONS]}-{hashlib.sha256(asked.encode()).hexdigest()[:8]}"
    stem = f"{target.gpu}/{name}{asked}{mode}{width}"
    path = folder / f"{stem}.asm"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(compiled.assembly[launch.kernel], encoding="utf-8")
    (folder / f"{stem}.zeinfo").write_text(compiled.zeinfo, encoding="utf-8")
    suffix = "cl" if launch.language == "opencl" else "spv"
    (folder / f"{launch.spirv_sha256}.{suffix}").write_bytes(launch.spirv)
    return f"{stem}.asm"


def row(kernel: KernelOnGpu) -> dict[str, Any]:
    """The row of a kernel, a value for every column."""
    launch, target = kernel.launch, kernel.target
    empty: dict[str, Any] = dict.fromkeys(column.name for column in ISA)
    own = ("pattern", "chapter", "variant", "role", "axes", "kernel", "spirv_sha256")
    return empty | {
        **{name: getattr(launch, name) for name in own},
        **{name: getattr(target, name) for name in ("gpu", "grf_mode", "forced_simd")},
        **{name: getattr(kernel, name) for name in ("status", "reason", "asm")},
        "ocloc_version": kernel.compiler.version,
        "igc": kernel.compiler.igc,
        "build_options": " ".join(target.options),
        "global_size": ",".join(map(str, launch.global_size)),
        "local_size": None if launch.local_size is None else ",".join(map(str, launch.local_size)),
        **kernel.figures,
    }


def frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """The rows as a frame with the columns' types; no rows give an empty typed frame."""
    import pandas as pd

    content = list(rows)
    return pd.DataFrame(
        {column.name: pd.Series([row[column.name] for row in content], dtype=column.dtype) for column in ISA}
    )


#: Most characters of a kernel's name in its file's name.
_LONGEST: Final = 60


def write_binaries(kernels: Iterable[KernelOnGpu], folder: Path) -> list[Path]:
    """Write the binaries of the kernels that were compiled, each once, and return their paths in order.

    A file is named after kernel and GPU, with a hash of the code and of the options of the GPU's compiler between.

    Args:
        kernels: compiled kernels.
        folder: destination, created if missing.

    Raises:
        XebenchError: it cannot be written.
    """
    binaries = {_file_name(kernel): kernel.binary for kernel in kernels if kernel.status == "ok"}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, binary in binaries.items():
            (folder / name).write_bytes(binary)
    except OSError as error:
        raise XebenchError(f"{folder} cannot be written ({error.strerror}): name another with --output") from None
    return [folder / name for name in binaries]


def _file_name(kernel: KernelOnGpu) -> str:
    launch, target = kernel.launch, kernel.target
    told = hashlib.sha256(" ".join((launch.spirv_sha256, *target.options)).encode()).hexdigest()
    return f"{launch.kernel[:_LONGEST]}.{told[:8]}.{target.gpu}.bin"


#: Rules that combine the counts of a variant's kernels, by the word of a claim.
_TOGETHER: Final[Mapping[str, Callable[[Sequence[int]], int]]] = {
    "largest": max,
    "smallest": min,
    "sum": sum,
    "count": lambda numbers: sum(map(bool, numbers)),
}


@dataclass(frozen=True)
class CodeAnswer:
    """The answer to a claim on generated code.

    Attributes:
        pattern, variant: subject of the claim.
        claim: the claim.
        axes: the point on the axes, as JSON.
        target: target of both sides, without the kernels' own options.
        number, against_number: compared counts; None for a side without code.
        answer: holds, inverts, no effect, undecided, or not asked where the claim is about other GPUs.
        reason: one line.
        both_sides: figures of the variant and of the other one that belong beside any count: lanes, messages to memory,
            bytes outside registers and instructions; empty if a side has no code, or nothing is asked.
    """

    pattern: str
    variant: str
    claim: Claim
    axes: str
    target: Target
    number: int | None
    against_number: int | None
    answer: Answer
    reason: str
    both_sides: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)


def describe_sides(both_sides: Mapping[str, Sequence[Any]]) -> str:
    """Both sides in words: ``lanes 16 against 16, messages 68 against 260, ...``; "" for none."""
    return ", ".join(f"{name} {own} against {other}" for name, (own, other) in both_sides.items())


def code_answers(families: Iterable[Family], collected: Collected, kernels: Sequence[KernelOnGpu]) -> list[CodeAnswer]:
    """The answers, in the order of the patterns.

    Args:
        families: families whose kernels were collected.
        collected: kernels that each variant launches at each point of its axes.
        kernels: the same kernels, compiled.
    """
    code = _Code(collected, kernels)
    answers: dict[tuple[Any, ...], CodeAnswer] = {}
    for family in families:
        for variant in family.pattern.variants:
            claims = [claim for claim in family.claims(variant, DeviceClass.GPU) if claim.of_code]
            asked = (
                (one, target)
                for claim, target in itertools.product(claims, code.targets)
                for one in mark_not_asked([claim], target.parameters or {})
            )
            for claim, target in asked:
                own = code.side(family, variant.name, target)
                other = code.side(family, claim.against, target)
                # the same kernels at another point of the axes would repeat the answer
                key = (family.pattern.name, variant.name, to_json([claim]), target, own, other)
                if key not in answers:
                    answers[key] = _answer(family, variant.name, claim, target, own, other)
    return [*answers.values()]


@dataclass(frozen=True)
class _CodeSide:
    """A variant's kernels at one point of the axes and their figures, or why there are none."""

    name: str
    identities: tuple[Any, ...] = ()
    figures: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)
    fault: str = ""

    def number(self, word: CodeClaim) -> int | None:
        if self.fault:
            return None
        return _TOGETHER[word.together]([sum(one[name] or 0 for name in word.columns) for one in self.figures])

    @property
    def scratch_messages(self) -> int:
        """Loads and stores of what is outside of registers."""
        return sum((one["loads_scratch"] or 0) + (one["stores_scratch"] or 0) for one in self.figures)

    @property
    def lanes(self) -> str:
        """Work-items of a hardware thread in its kernels: ``16``, ``8 and 32``."""
        return " and ".join(map(str, sorted({one["simd_width"] for one in self.figures})))

    @property
    def shown(self) -> dict[str, Any]:
        """The figures that belong beside any count."""
        return {
            "lanes": self.lanes,
            "messages": self.number(CodeClaim.MESSAGES),
            "bytes": self.number(CodeClaim.SPILLS),
            "instructions": self.number(CodeClaim.INSTRUCTIONS),
        }


class _Code:
    """The compiled code, by launch and target."""

    def __init__(self, collected: Collected, kernels: Sequence[KernelOnGpu]) -> None:
        self.targets = tuple(dict.fromkeys(_plain(kernel.target) for kernel in kernels))
        self._compiled = {
            (kernel.launch.pattern, kernel.launch.variant, kernel.launch.identity, _plain(kernel.target)): kernel
            for kernel in kernels
        }
        self._launched: dict[tuple[str, str, str], list[Any]] = {}
        for launch in collected.launches:
            self._launched.setdefault((launch.pattern, launch.variant, launch.axes), []).append(launch.identity)
        self._missing = {(missing.pattern, missing.variant): missing.reason for missing in collected.missing}

    def side(self, family: Family, variant: str, target: Target) -> _CodeSide:
        pattern = family.pattern.name
        launched = self._launched.get((pattern, variant, family.axes_json()), ())
        if not launched:
            return _CodeSide(variant, fault=self._missing.get((pattern, variant), "it launches no kernel"))
        kernels = [self._compiled[pattern, variant, identity, target] for identity in launched]
        fault = next((f"{kernel.status}: {kernel.reason}" for kernel in kernels if kernel.status != "ok"), "")
        return _CodeSide(variant, tuple(launched), tuple(kernel.figures for kernel in kernels), fault)


def _plain(target: Target) -> Target:
    """A target without the options that a kernel itself requires."""
    return replace(target, build_options=())


def _answer(family: Family, variant: str, claim: Claim, target: Target, own: _CodeSide, other: _CodeSide) -> CodeAnswer:
    word = next(each for each in CodeClaim if each == claim.word)
    number, against = own.number(word), other.number(word)
    sides: Mapping[str, tuple[Any, Any]] = {}
    if claim.not_asked:
        answer, reason, number, against = Answer.NOT_ASKED, claim.not_asked, None, None
    elif number is None or against is None:
        faulty = own if number is None else other
        answer, reason = Answer.UNDECIDED, f"no code of {faulty.name}: {faulty.fault}"
    else:
        answer, reason = judge_counts(number, against, claim.at_least), f"{number} against {against} {word.unit}"
        if word in (CodeClaim.SPILLS, CodeClaim.SPILLING_KERNELS) and own.scratch_messages > other.scratch_messages:
            # less memory that is used more often: registers do not hold more
            answer = Answer.NO_EFFECT if answer == Answer.HOLDS else answer
            reason += f", but {own.scratch_messages} against {other.scratch_messages} messages to that memory"
        sides = {name: (figure, other.shown[name]) for name, figure in own.shown.items()}
        if own.lanes != other.lanes and word != CodeClaim.LANES:
            reason += f" ({own.lanes} lanes against {other.lanes})"
    subject = family.pattern.name, variant, claim, family.axes_json(), target
    return CodeAnswer(*subject, number, against, answer, reason, sides)


def judge_counts(number: int, against: int, at_least: float = 1.0) -> Answer:
    """The answer of two numbers, of which the first is claimed to be smaller.

    Args:
        number: count of the variant that the claim is about.
        against: count of the other variant.
        at_least: claimed ratio of ``against`` to ``number``.
    """
    if number > against:
        return Answer.INVERTS
    return Answer.HOLDS if number < against and against >= at_least * number else Answer.NO_EFFECT
