"""Claims about arithmetic and atomics: E39, E56, E75, E76."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from xebench.gpu_model.gpus import find_gpu
from xebench.isa.claims.claim import GPUS, Built, Claim, Judgement, fewer, opencl
from xebench.isa.compilation import Job, Target
from xebench.vocabulary import Answer

TRIPS = 10
# What a lane of the matrix engine holds of a row of A, by its sub-group size.
_SHARES = {16: "short", 8: "int"}


def _figures(built: Built) -> dict[str, int]:
    assembly = built.code.assembly
    return {
        "float": assembly.by_class["float"],
        "float additions": _additions(built),
        "math": assembly.by_class["math"],
        "dpas": assembly.by_class["dpas"],
        "control": assembly.by_class["control"],
        "atomics": assembly.count("atomic"),
        "instructions": len(assembly.instructions),
    }


def _additions(built: Built) -> int:
    """Floating-point additions, fused with a product or not."""
    instructions = built.code.assembly.instructions
    return sum(i.kind == "float" and i.opcode in {"add", "mad"} for i in instructions)


def _how(built: Built) -> str:
    """How the kernel adds: it has no reason to branch but a loop of compare and swap."""
    assembly = built.code.assembly
    if not assembly.count("atomic"):
        return "no atomic message"
    return "a loop" if assembly.opcodes("while", "goto", "jmpi", "brc", "brd") else "native"


def _atomics_are_native(built: Mapping[str, Built], gpu: str) -> Judgement:
    seen = {name: _how(side) for name, side in built.items()}
    of_floats = "native" if find_gpu(gpu).native_float_atomics else "a loop"
    expected = {name: "native" if name == "int32" else of_floats for name in built}
    because = ", ".join(f"{name}: {how}" for name, how in seen.items())
    return Judgement(Answer.HOLDS if seen == expected else Answer.INVERTS, because)


def _atomic_sides(gpu: str) -> dict[str, Job]:
    from xebench.isa.claims.claim_kernels import atomic_sum

    dtypes = ("int32", "float32", "float64") if find_gpu(gpu).fp64 else ("int32", "float32")
    return {dtype: (atomic_sum(dtype), Target(gpu)) for dtype in dtypes}


def _engine_is_used(built: Mapping[str, Built], gpu: str) -> Judgement:
    plain, engine = (_figures(built[name]) for name in ("plain", "matrix_engine"))
    because = f"dpas: {engine['dpas']} instead of {plain['float'] - engine['float']} float instructions"
    return Judgement(Answer.HOLDS if engine["dpas"] and not plain["dpas"] else Answer.INVERTS, because)


def engine_options(gpu: str) -> tuple[str, ...]:
    """Build options of ``tile_product`` with the matrix engine of a GPU."""
    lanes = find_gpu(gpu).matrix_lanes
    assert lanes is not None
    return (f"-DSG={lanes}", f"-DSHARE={_SHARES[lanes]}", "-DMATRIX_ENGINE")


def _engine_sides(gpu: str) -> dict[str, Job]:
    options = engine_options(gpu)
    sides = {"plain": options[:-1], "matrix_engine": options}
    return {name: (opencl("tile_product"), Target(gpu, flags)) for name, flags in sides.items()}


def _constants_unroll(built: Mapping[str, Built], gpu: str) -> Judgement:
    runtime, constant = (_additions(built[name]) for name in ("trip count at run time", "constant 10"))
    because = f"floating-point additions: {runtime} against {constant}"
    if constant == runtime:
        return Judgement(Answer.NO_EFFECT, because)
    return Judgement(Answer.HOLDS if constant == TRIPS * runtime else Answer.INVERTS, because)


def _triad_sides(gpu: str) -> dict[str, Job]:
    from xebench.isa.claims.claim_kernels import triad

    dtype = "float64" if gpu == "pvc" else "float32"
    return {"trip count at run time": (triad(dtype), Target(gpu)), "constant 10": (triad(dtype, TRIPS), Target(gpu))}


def _native_is_shorter(built: Mapping[str, Built], gpu: str) -> Judgement:
    classes = [built[name].code.assembly.by_class for name in ("log", "native_log", "log, relaxed math")]
    precise, native, relaxed = (counts["float"] + counts["math"] for counts in classes)
    shorter = fewer(precise, native, "float and math instructions of log against native_log")
    because = f"{shorter.because}; log with relaxed math: {relaxed}"
    return Judgement(shorter.answer if relaxed <= native else Answer.INVERTS, because)


def _logarithm_sides(gpu: str) -> dict[str, Job]:
    from xebench.isa.claims.claim_kernels import logarithms

    sides = {name: (source, Target(gpu)) for name, source in logarithms().items()}
    return {**sides, "log, relaxed math": (sides["log"][0], Target(gpu, ("-cl-fast-relaxed-math",)))}


_claim = partial(Claim, figures=_figures)
CLAIMS = (
    _claim(
        "E39",
        "Synchronization among Threads in a Kernel / Data Types in Atomic Operations",
        "Integer atomics are native; float and double atomics are loops of compare and swap on Gen9 and Xe-LP.",
        _atomic_sides,
        _atomics_are_native,
        gpus=("gen9", *GPUS),
    ),
    _claim(
        "E56",
        "Programming Intel XMX Using SYCL Joint Matrix Extension",
        "A product of bfloat16 tiles becomes dpas, the matrix engine's instruction.",
        _engine_sides,
        _engine_is_used,
        gpus=tuple(gpu for gpu in GPUS if find_gpu(gpu).matrix_lanes),
    ),
    _claim(
        "E75",
        "Just-In-Time Compilation / Specialization Constants, Modified STREAM Triad",
        "With a trip count of 10 known when it is compiled, the loop is unrolled: ten times the arithmetic.",
        _triad_sides,
        _constants_unroll,
    ),
    _claim(
        "E76",
        "Just-In-Time Compilation / Accuracy Versus Performance Tradeoffs",
        "native_log is shorter than the precise log, and relaxed math makes log as short.",
        _logarithm_sides,
        _native_is_shorter,
    ),
)
