"""Claims about registers: E20, E22, E24, E25, E26a, E27, E29."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from xebench.gpu_model.gpus import find_gpu
from xebench.isa.claims.claim import GPUS, Built, Claim, Judgement, fewer, opencl
from xebench.isa.compilation import Job, Target
from xebench.vocabulary import Answer

PRIVATE_BYTES = 256 * 4 * 16  # counters, bytes of one, lanes
# What the guide prints for its kernel of 80 doubles, in the order of its table.
GUIDE_SPILLS = {"SIMD32": 396, "SIMD32, large GRF": 206, "SIMD16": 112, "SIMD16, large GRF": 0}


def _figures(built: Built) -> dict[str, int]:
    code = built.code
    return {
        "SIMD width": code.simd_width,
        "registers": code.info.grf_count,
        "spilled registers": code.spilled_registers,
        "private bytes": code.private_bytes,
        "scratch messages": sum(code.assembly.count(kind, "scratch") for kind in ("load", "store")),
        "instructions": len(code.assembly.instructions),
    }


def _reports_tell(built: Mapping[str, Built], gpu: str) -> Judgement:
    private = built["bins_of_item"].code.private_bytes
    spilled = built["eighty_doubles"]
    number = spilled.code.spilled_registers
    warned = any(f"spilled around {number}" in warning for warning in spilled.warnings)
    because = f"private memory {private} bytes; warning names {number} spilled registers: {'yes' if warned else 'no'}"
    return Judgement(Answer.HOLDS if private == PRIVATE_BYTES and warned and number else Answer.INVERTS, because)


def _unrolling_wants_registers(built: Mapping[str, Built], gpu: str) -> Judgement:
    spills = {name: side.code.spilled_registers for name, side in built.items()}
    because = ", ".join(f"{name}: {count} spilled" for name, count in spills.items())
    if spills["rolled"] == 0 and spills["unrolled"] > spills["unrolled, large GRF"]:
        return Judgement(Answer.HOLDS, because)
    return Judgement(Answer.NO_EFFECT if not any(spills.values()) else Answer.INVERTS, because)


def _small_type_fits(built: Mapping[str, Built], gpu: str) -> Judgement:
    wide, narrow = (built[name].code.private_bytes for name in ("ulong bins", "uint bins"))
    because = f"private memory: {wide} bytes against {narrow}"
    if narrow == 0 and wide > 0:
        return Judgement(Answer.HOLDS, because)
    return Judgement(Answer.NO_EFFECT, because + ", registers hold " + ("both" if wide == 0 else "neither"))


def _same_code(naive: str, optimized: str) -> Any:
    """The guide says that ``naive`` keeps the bins out of registers."""

    def judge(built: Mapping[str, Built], gpu: str) -> Judgement:
        worse, better = (_figures(built[name]) for name in (naive, optimized))
        memory = ("private bytes", "scratch messages")
        because = "; ".join(f"{name}: {worse[name]} against {better[name]}" for name in (*memory, "instructions"))
        less = better["private bytes"] < worse["private bytes"]
        return Judgement(Answer.HOLDS if less else Answer.NO_EFFECT, because)

    return judge


def _private_memory_goes(built: Mapping[str, Built], gpu: str) -> Judgement:
    alone, shared = (built[name].code.private_bytes for name in ("bins_of_item", "bins_of_sub_group"))
    less = fewer(alone, shared, "private memory of a thread in bytes")
    return Judgement(less.answer if shared == 0 else Answer.INVERTS, less.because)


def _spills_by_mode(built: Mapping[str, Built], gpu: str) -> Judgement:
    spills = [built[name].code.spilled_registers for name in GUIDE_SPILLS]
    text, printed = (" / ".join(map(str, numbers)) for numbers in (spills, GUIDE_SPILLS.values()))
    ordered = spills == sorted(spills, reverse=True) and len(set(spills)) == len(spills) and spills[-1] == 0
    return Judgement(Answer.HOLDS if ordered else Answer.INVERTS, f"spilled registers {text}; the guide's {printed}")


def _histograms(gpu: str) -> dict[str, Job]:
    from xebench.isa.claims.claim_kernels import histograms

    return {name: (source, Target(gpu)) for name, source in histograms().items()}


def _contractions(gpu: str) -> dict[str, Job]:
    from xebench.isa.claims.claim_kernels import contraction

    return {
        "rolled": (contraction(False), Target(gpu)),
        "unrolled": (contraction(True), Target(gpu)),
        "unrolled, large GRF": (contraction(True), Target(gpu, grf_mode="large")),
    }


def _spill_sides(gpu: str) -> dict[str, Job]:
    return {
        name: (opencl("eighty_doubles"), Target(gpu, (), "large" if "large" in name else "default", int(name[4:6])))
        for name in GUIDE_SPILLS
    }


def _bins(**sides: tuple[str, ...]) -> Any:
    names = {name.replace("_", " "): options for name, options in sides.items()}
    return lambda gpu: {name: (opencl("histogram"), Target(gpu, flags)) for name, flags in names.items()}


_CHAPTER = "Registerization and Avoiding Register Spills"
_FP64_GPUS = tuple(gpu for gpu in GPUS if find_gpu(gpu).fp64)
_claim = partial(Claim, figures=_figures)
CLAIMS = (
    _claim(
        "E20",
        f"{_CHAPTER} / Finding Kernels with Register Spills",
        "A private array outside registers shows as private memory (16384 bytes a thread for 256 counters of 32 "
        "bits), and the compiler warns of spills with their number.",
        lambda gpu: {
            "bins_of_item": _histograms(gpu)["bins_of_item"],
            "eighty_doubles": (opencl("eighty_doubles"), Target(gpu, forced_simd=32)),
        },
        _reports_tell,
        gpus=_FP64_GPUS,
    ),
    _claim(
        "E22",
        f"{_CHAPTER} / Performance Tuning Using GRF Mode Selection",
        "Without unrolling the small GRF mode is enough; the unrolled kernel needs the large one.",
        _contractions,
        _unrolling_wants_registers,
        gpus=("pvc",),
    ),
    _claim(
        "E24",
        f"{_CHAPTER} / Choosing Smaller Data Types",
        "32 private counters of 32 bits fit into registers where those of 64 bits do not.",
        _bins(ulong_bins=("-DBIN=ulong",), uint_bins=("-DBIN=uint",)),
        _small_type_fits,
        known_not_to_reproduce=True,
    ),
    _claim(
        "E25",
        f"{_CHAPTER} / Do Not Declare Private Variables as Volatile",
        "Volatile keeps the private counters out of registers.",
        _bins(volatile_bins=("-DVOLATILE",), uint_bins=()),
        _same_code("volatile bins", "uint bins"),
    ),
    _claim(
        "E26a",
        f"{_CHAPTER} / Do Not Take Address of a Private Variable",
        "A private variable whose address is taken stays out of registers.",
        _bins(by_address=("-DBY_ADDRESS",), by_value=()),
        _same_code("by address", "by value"),
        known_not_to_reproduce=True,
    ),
    _claim(
        "E27",
        f"{_CHAPTER} / Sharing Registers in a Sub-group",
        "256 counters shared by the 16 lanes of a sub-group are in registers; 256 of each work-item are in memory.",
        _histograms,
        _private_memory_goes,
    ),
    _claim(
        "E29",
        "Porting Code with High Register Pressure to Intel Max GPUs",
        "A kernel of 80 doubles spills less with large GRF than at SIMD32, less at SIMD16, and not at all with both.",
        _spill_sides,
        _spills_by_mode,
        gpus=("pvc",),
    ),
)
