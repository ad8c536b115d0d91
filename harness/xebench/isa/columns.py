"""The columns of the table ``isa``: a row is a kernel of a variant on one Intel GPU, under one set of options."""

from __future__ import annotations

from typing import Final

from xebench.isa.assembly import CLASSES
from xebench.tables.columns import Column


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
    _text("reason", "Why the status is not ok, in one line."),
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
