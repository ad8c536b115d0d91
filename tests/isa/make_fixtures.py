"""Make the fixtures again: ``python tests/isa/make_fixtures.py PATH-OF-OCLOC``, once per generation of the compiler.

The kernels are ours: one that mixes everything, one that needs private memory, one that runs out of registers, one
for the matrix engine, one with block messages, one with a native atomic. The listings are as the compiler wrote them,
without the lines that declare variables.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from xebench.isa.compilation import Source, Target
from xebench.isa.ocloc import compile_source, find_compiler
from xebench.system import runtime

FIXTURES = Path(__file__).parent / "fixtures"
KERNELS = Path(__file__).parent / "kernels"
ENGINE = ("-DSG=16", "-DSHARE=short", "-DMATRIX_ENGINE")


def mixture() -> Source:
    """Shared local memory, a barrier, atomics, a loop, 64-bit integers, a logarithm."""
    import numpy as np

    from numba_sycl import compile_kernel, kernel, native
    from numba_sycl.tensor import tensor as dpt
    from xebench import kernel_api as kapi

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


def block_copy() -> Source:
    """Copy 16 elements a work-item as blocks of the sub-group."""
    from numba_sycl import compile_kernel, kernel, sub_group
    from numba_sycl.tensor import tensor as dpt
    from xebench import kernel_api as kapi

    @kernel(sub_group_size=16)
    def copy_blocks(item: kapi.NdItem, x: Any, y: Any) -> None:
        first = item.get_global_id(0) // 16 * 16 * 16
        for k in range(2):
            j = first + k * 16 * 8
            sub_group.block_write8(y, j, sub_group.block_read8(x, j))

    arrays = [dpt.empty(1, dtype="int32") for _ in range(2)]
    return Source(compile_kernel(copy_blocks, kapi.NdRange((256,), (256,)), arrays).spirv)


def atomic_sum() -> Source:
    """Every work-item adds to the same number."""
    from numba_sycl import compile_kernel, kernel
    from numba_sycl.tensor import tensor as dpt
    from xebench import kernel_api as kapi

    @kernel
    def add_to_one(item: kapi.NdItem, x: Any, total: Any) -> None:
        kapi.AtomicRef(total, 0).fetch_add(x[item.get_global_id(0)])

    arrays = [dpt.empty(1, dtype="float32") for _ in range(2)]
    return Source(compile_kernel(add_to_one, kapi.NdRange((256,), (256,)), arrays).spirv)


def opencl(name: str) -> Source:
    """A kernel of `kernels`."""
    return Source((KERNELS / f"{name}.cl").read_bytes(), "opencl")


def jobs() -> dict[str, tuple[Source, Target]]:
    """Name of a fixture, what is compiled, and for which GPU."""
    mixed, blocks, private = mixture(), block_copy(), opencl("histogram")
    found = {f"mixture.{gpu}": (mixed, Target(gpu)) for gpu in ("pvc", "dg2", "tgllp", "bmg")}
    found |= {f"blocks.{gpu}": (blocks, Target(gpu)) for gpu in ("pvc", "tgllp")}
    found |= {f"private.{gpu}": (private, Target(gpu)) for gpu in ("dg2", "tgllp")}
    found["atomic.pvc"] = (atomic_sum(), Target("pvc"))
    found["spills.pvc"] = (opencl("eighty_doubles"), Target("pvc", forced_simd=16))
    found["engine.pvc"] = (opencl("tile_product"), Target("pvc", ENGINE))
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
