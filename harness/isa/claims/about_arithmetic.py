"""Claims about arithmetic and atomics: E39, E56, E75, E76."""

from __future__ import annotations

from collections.abc import Mapping

from harness.isa.claims.claim import CONFIRMED, NOT_REPRODUCIBLE, REFUTED, Build, Built, Claim, Finding, fewer, opencl

TRIPS = 10
# Sub-group size of the matrix engine, and what a lane holds of a row of A.
_ENGINES = {"pvc": (16, "short"), "bmg": (16, "short"), "dg2": (8, "int")}
# On Gen9 and Xe-LP float atomics are loops of compare and swap (guide); the later GPUs have them in hardware.
_EMULATED_FLOAT_ATOMICS = ("gen9", "tgllp")
_WITH_DOUBLE = ("gen9", "pvc", "bmg")


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


def _atomics_are_native(built: Mapping[str, Built], gpu: str) -> Finding:
    found = {name: _how(side) for name, side in built.items()}
    of_floats = "a loop" if gpu in _EMULATED_FLOAT_ATOMICS else "native"
    expected = {name: "native" if name == "int32" else of_floats for name in built}
    because = ", ".join(f"{name}: {how}" for name, how in found.items())
    return Finding(CONFIRMED if found == expected else REFUTED, because)


def _atomic_sides(gpu: str) -> dict[str, Build]:
    from harness.isa.claims.claim_kernels import atomic_sum

    dtypes = ("int32", "float32", "float64") if gpu in _WITH_DOUBLE else ("int32", "float32")
    return {dtype: Build(atomic_sum(dtype)) for dtype in dtypes}


def _engine_is_used(built: Mapping[str, Built], gpu: str) -> Finding:
    plain, engine = (_figures(built[name]) for name in ("plain", "matrix_engine"))
    because = f"dpas: {engine['dpas']} instead of {plain['float'] - engine['float']} float instructions"
    if engine["dpas"] and not plain["dpas"]:
        return Finding(CONFIRMED, because)
    return Finding(REFUTED, because)


def engine_options(gpu: str) -> tuple[str, ...]:
    """Build options of ``tile_product`` with the matrix engine of a GPU."""
    lanes, share = _ENGINES[gpu]
    return (f"-DSG={lanes}", f"-DSHARE={share}", "-DMATRIX_ENGINE")


def _engine_sides(gpu: str) -> dict[str, Build]:
    options = engine_options(gpu)
    sides = {"plain": options[:-1], "matrix_engine": options}
    return {name: Build(opencl("tile_product"), build_options=flags) for name, flags in sides.items()}


def _constants_unroll(built: Mapping[str, Built], gpu: str) -> Finding:
    runtime, constant = (_additions(built[name]) for name in ("trip count at run time", "constant 10"))
    because = f"floating-point additions: {runtime} against {constant}"
    if constant == runtime:
        return Finding(NOT_REPRODUCIBLE, because)
    return Finding(CONFIRMED if constant == TRIPS * runtime else REFUTED, because)


def _triad_sides(gpu: str) -> dict[str, Build]:
    from harness.isa.claims.claim_kernels import triad

    dtype = "float64" if gpu == "pvc" else "float32"
    return {"trip count at run time": Build(triad(dtype)), "constant 10": Build(triad(dtype, TRIPS))}


def _native_is_shorter(built: Mapping[str, Built], gpu: str) -> Finding:
    classes = [built[name].code.assembly.by_class for name in ("log", "native_log", "log, relaxed math")]
    precise, native, relaxed = (counts["float"] + counts["math"] for counts in classes)
    found = fewer(precise, native, "float and math instructions of log against native_log")
    because = f"{found.because}; log with relaxed math: {relaxed}"
    return Finding(found.verdict if relaxed <= native else REFUTED, because)


def _logarithm_sides(gpu: str) -> dict[str, Build]:
    from harness.isa.claims.claim_kernels import logarithms

    sides = logarithms()
    return {
        "log": Build(sides["log"]),
        "native_log": Build(sides["native_log"]),
        "log, relaxed math": Build(sides["log"], build_options=("-cl-fast-relaxed-math",)),
    }


_GPUS = ("pvc", "dg2", "tgllp", "bmg")
CLAIMS = (
    Claim(
        "E39",
        "Synchronization among Threads in a Kernel / Data Types in Atomic Operations",
        "Integer atomics are native; float and double atomics are loops of compare and swap on Gen9 and Xe-LP.",
        ("gen9", *_GPUS),
        _atomic_sides,
        _atomics_are_native,
        _figures,
    ),
    Claim(
        "E56",
        "Programming Intel XMX Using SYCL Joint Matrix Extension",
        "A product of bfloat16 tiles becomes dpas, the matrix engine's instruction.",
        ("pvc", "dg2", "bmg"),
        _engine_sides,
        _engine_is_used,
        _figures,
    ),
    Claim(
        "E75",
        "Just-In-Time Compilation / Specialization Constants, Modified STREAM Triad",
        "With a trip count of 10 known when it is compiled, the loop is unrolled: ten times the arithmetic.",
        _GPUS,
        _triad_sides,
        _constants_unroll,
        _figures,
    ),
    Claim(
        "E76",
        "Just-In-Time Compilation / Accuracy Versus Performance Tradeoffs",
        "native_log is shorter than the precise log, and relaxed math makes log as short.",
        _GPUS,
        _logarithm_sides,
        _native_is_shorter,
        _figures,
    ),
)
