"""Rows of the table ``isa``, and the frame that they make."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.isa.collect import Launch
from harness.isa.columns import ISA
from harness.isa.compilation import Compiled, Compiler, Source, Target
from harness.isa.compile_cache import CompileCache
from harness.isa.kernel_code import KernelCode, compile_all, read_code

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Entry:
    """A kernel of a variant on one GPU; ``code`` is None where the compiler did not get that far."""

    launch: Launch
    target: Target
    compiler: Compiler
    status: str
    reason: str = ""
    code: KernelCode | None = None
    asm: str | None = None


def targets(
    gpus: Sequence[str],
    grf_modes: Sequence[str] = ("default",),
    simd_widths: Sequence[int | None] = (None,),
    build_options: Sequence[str] = (),
) -> list[Target]:
    """All combinations."""
    combinations = itertools.product(gpus, grf_modes, simd_widths)
    return [Target(gpu, tuple(build_options), grf, simd) for gpu, grf, simd in combinations]


def compile_launches(
    launches: Iterable[Launch],
    wanted: Sequence[Target],
    compiler: Compiler,
    cache: CompileCache | None = None,
    keep: Path | None = None,
) -> list[Entry]:
    """Compile kernels for GPUs, in the order of the launches.

    A kernel that a variant launches at several points of its axes counts once.

    Args:
        launches: the kernels.
        wanted: what to compile each for; options that a kernel asks for itself are added.
        compiler: the ocloc.
        cache: looked up first and filled after.
        keep: a folder for SPIR-V, assembly and metadata.
    """
    unique = {(launch.pattern, launch.variant, launch.identity): launch for launch in reversed(list(launches))}
    plan = [
        (launch, Source(launch.spirv), replace(target, build_options=_options(launch, target)))
        for launch in reversed(unique.values())
        for target in wanted
    ]
    results = compile_all(compiler, [(source, target) for _, source, target in plan], cache)
    return [_entry(launch, target, compiler, results[source.sha256, target], keep) for launch, source, target in plan]


def _options(launch: Launch, target: Target) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*launch.build_options, *target.build_options)))


def _entry(launch: Launch, target: Target, compiler: Compiler, compiled: Compiled, keep: Path | None) -> Entry:
    if compiled.status != "ok":
        return Entry(launch, target, compiler, compiled.status, compiled.reason)
    try:
        code = read_code(compiled, launch.kernel)
    except (ValueError, KeyError) as error:
        return Entry(launch, target, compiler, "unreadable", str(error).partition("\n")[0])
    asm = None if keep is None else _keep(keep, launch, target, compiled)
    return Entry(launch, target, compiler, "ok", code=code, asm=asm)


def _keep(folder: Path, launch: Launch, target: Target, compiled: Compiled) -> str:
    """Write what the compiler left; the assembly's path within the folder."""
    mode = "" if target.grf_mode == "default" else f".{target.grf_mode}-grf"
    width = "" if target.forced_simd is None else f".simd{target.forced_simd}"
    asked = "".join(re.sub(r"\W+", "-", f".{option.lstrip('-')}") for option in launch.build_options)
    name = f"{launch.pattern}.{launch.variant}.{launch.kernel}.{launch.spirv_sha256[:8]}"
    stem = f"{target.gpu}/{name}{asked}{mode}{width}"
    path = folder / f"{stem}.asm"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(compiled.assembly[launch.kernel], encoding="utf-8")
    (folder / f"{stem}.zeinfo").write_text(compiled.zeinfo, encoding="utf-8")
    (folder / f"{launch.spirv_sha256}.spv").write_bytes(launch.spirv)
    return f"{stem}.asm"


def row(entry: Entry) -> dict[str, Any]:
    """The row of an entry, a value for every column."""
    launch, target = entry.launch, entry.target
    empty: dict[str, Any] = dict.fromkeys(column.name for column in ISA)
    return empty | {
        "pattern": launch.pattern,
        "family": launch.family,
        "variant": launch.variant,
        "role": launch.role,
        "axes": launch.axes,
        "kernel": launch.kernel,
        "spirv_sha256": launch.spirv_sha256,
        "gpu": target.gpu,
        "ocloc_version": entry.compiler.version,
        "igc": entry.compiler.igc,
        "build_options": " ".join(target.options),
        "grf_mode": target.grf_mode,
        "forced_simd": target.forced_simd,
        "status": entry.status,
        "reason": entry.reason,
        "global_size": ",".join(map(str, launch.global_size)),
        "local_size": None if launch.local_size is None else ",".join(map(str, launch.local_size)),
        "asm": entry.asm,
        **({} if entry.code is None else _figures(entry.code, launch.local_bytes)),
    }


def _figures(code: KernelCode, local_bytes: int) -> dict[str, Any]:
    assembly = code.assembly
    spaces = {
        f"{kind}s_{space}": assembly.count(kind, space)
        for kind in ("load", "store", "atomic")
        for space in ("global", "slm", "scratch")
        if (kind, space) != ("atomic", "scratch")
    }
    return {
        "simd_width": code.simd_width,
        "grf_count": code.info.grf_count,
        "spill_bytes": code.spill_bytes,
        "private_bytes": code.private_bytes,
        "slm_bytes": code.info.slm_bytes + local_bytes,
        "barriers": code.info.barriers,
        "instructions": len(assembly.instructions),
        **{f"instructions_{name}": count for name, count in assembly.by_class.items()},
        **spaces,
        "spills": assembly.count("store", purpose="spill"),
        "fills": assembly.count("load", purpose="fill"),
        "fences": assembly.count("fence"),
        "messages": json.dumps(code.messages),
    }


def frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """The rows as a frame with the columns' types; no rows give an empty typed frame."""
    import pandas as pd

    content = list(rows)
    return pd.DataFrame(
        {column.name: pd.Series([each[column.name] for each in content], dtype=column.dtype) for column in ISA}
    )
