"""Make the fixtures again: ``python tests/isa/make_fixtures.py PATH-OF-OCLOC``, once per generation of the compiler.

The kernels are ours: one that mixes everything, one that needs private memory, one that runs out of registers, one
for the matrix engine, one with block messages, one with a native atomic. The listings are as the compiler wrote them,
without the lines that declare variables.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from xebench import runtime
from xebench.isa.claims import about_arithmetic, claim
from xebench.isa.compilation import Source, Target
from xebench.isa.ocloc import compile_source, find_compiler

FIXTURES = Path(__file__).parent / "fixtures"


def mixture() -> Source:
    """Shared local memory, a barrier, atomics, a loop, 64-bit integers, a logarithm."""
    import numpy as np

    from xebench import kernel_api as kapi
    from xebench.dpex import compile_kernel, kernel, native
    from xebench.runtime.tensor import tensor as dpt

    @kernel
    def mixture(item: kapi.NdItem, x: Any, big: Any, total: Any, steps: Any, tile: Any) -> None:
        i = item.get_global_id(0)
        lane = item.get_local_id(0)
        tile[lane] = x[i]
        kapi.group_barrier(item.get_group())
        value = tile[63 - lane]
        for _ in range(steps):
            value += native.log(value)
        big[i] = big[i] * big[i + 1] + steps
        kapi.AtomicRef(total, 0).fetch_add(value)

    arrays = [dpt.empty(1, dtype=name) for name in ("float32", "int64", "float32")]
    arguments = [*arrays, 8, kapi.LocalAccessor((64,), np.float32)]
    return Source(compile_kernel(mixture, kapi.NdRange((64,), (64,)), arguments).spirv)


def jobs() -> dict[str, tuple[Source, Target]]:
    """Name of a fixture, what is compiled, and for which GPU."""
    from xebench.isa.claims.claim_kernels import accesses, atomic_sum

    mixed = mixture()
    blocks = accesses()["copy_blocks"]
    private = claim.opencl("histogram")
    engine = claim.opencl("tile_product")
    found = {f"mixture.{gpu}": (mixed, Target(gpu)) for gpu in ("pvc", "dg2", "tgllp", "bmg")}
    found |= {f"blocks.{gpu}": (blocks, Target(gpu)) for gpu in ("pvc", "tgllp")}
    found |= {f"private.{gpu}": (private, Target(gpu)) for gpu in ("dg2", "tgllp")}
    found["atomic.pvc"] = (atomic_sum("float32"), Target("pvc"))
    found["spills.pvc"] = (claim.opencl("eighty_doubles"), Target("pvc", forced_simd=16))
    options = about_arithmetic.engine_options("pvc")
    found["engine.pvc"] = (engine, Target("pvc", options))
    return found


def write(name: str, text: str, folder: Path) -> None:
    """Keep a listing without declarations."""
    lines = [line.rstrip() for line in text.splitlines() if not line.startswith("//.declare")]
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(ocloc: str) -> None:
    runtime.load()
    compiler = find_compiler(ocloc)
    folder = FIXTURES / f"igc{compiler.igc.removeprefix('libigc.so.')[0]}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, (source, target) in jobs().items():
        compiled = compile_source(compiler, source, target)
        print(name, compiled.status, compiled.reason)
        if compiled.status == "ok":
            (text,) = compiled.assembly.values()
            write(f"{name}.asm", text, folder)
            write(f"{name}.zeinfo", compiled.zeinfo, folder)


if __name__ == "__main__":
    main(sys.argv[1])
