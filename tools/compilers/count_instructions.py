"""Instructions of every kernel of the suite, by numba-dpex and by our compiler, on GPUs that need not be there.

    .venv/bin/xebench pack --output ours.zip    # on the current stack
    .venv/bin/python tools/compilers/count_instructions.py ours.zip

numba-dpex's modules are those of the shipped pack; ``ocloc`` compiles both. The outcome is written to
results/studies/compilers/instructions.json, which ``page.py`` reads.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from xebench.dpex.kernel_options import KernelOptions
from xebench.isa.compilation import CompileCache, Compiled, Source, Target
from xebench.isa.kernel_code import compile_all, read_code
from xebench.isa.ocloc import find_compiler
from xebench.system.kernel_pack import OWN_PACK, Pack, PackedKernel

ROOT: Final = Path(__file__).parents[2]
DATA: Final = ROOT / "results/studies/compilers/instructions.json"
GPUS: Final = ("pvc", "dg2")
#: Sub-groups of 8 are dg2's only, and no Intel GPU has 64.
SUB_GROUPS: Final = (None, 16, 32)


def main() -> None:
    """Count in both packs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours", type=Path, help="the pack that our compiler made")
    packs = {"numba-dpex": Pack.open(OWN_PACK), "ours": Pack.open(parser.parse_args().ours)}
    compiler = find_compiler()
    pairs = list(both(packs["numba-dpex"], packs["ours"]))
    sources = {
        kernel: [Source(pack.module(one.spirv)) for pack, one in zip(packs.values(), pair, strict=True)]
        for kernel, pair in ((pair[0], pair) for pair in pairs)
    }
    jobs = [(source, target_of(kernel, gpu)) for kernel, two in sources.items() for source in two for gpu in GPUS]
    made = compile_all(compiler, jobs, CompileCache())
    lines = []
    for kernel, two in sources.items():
        line: dict[str, Any] = {name: getattr(kernel, name) for name in ("kernel", "origin", "signature", "options")}
        for gpu in GPUS:
            target = target_of(kernel, gpu)
            line[gpu] = {
                side: counted(made[source.sha256, target], kernel.kernel)
                for side, source in zip(packs, two, strict=True)
            }
        lines.append(line)
    versions = {side: pack.index.versions for side, pack in packs.items()}
    DATA.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"ocloc": compiler.label, "versions": versions, "kernels": lines}, indent=1)
    DATA.write_text(text + "\n", encoding="utf-8")
    print(f"{len(lines)} kernels in {DATA}")


def both(first: Pack, second: Pack) -> Iterator[tuple[PackedKernel, PackedKernel]]:
    """Kernels of Python that are in both packs, each with its options and types once."""
    others = {kernel.key: kernel for kernel in second.index.kernels}
    seen = set()
    for kernel in first.index.kernels:
        other = others.get(kernel.key)
        of_python = kernel.source != kernel.key
        size = json.loads(kernel.options).get("sub_group_size") if of_python else None
        if of_python and other and size in SUB_GROUPS and (kernel.spirv, other.spirv) not in seen:
            seen.add((kernel.spirv, other.spirv))
            yield kernel, other


def target_of(kernel: PackedKernel, gpu: str) -> Target:
    """A GPU, with what the kernel's options say to its driver."""
    flags, _ = msgspec.json.decode(kernel.options, type=KernelOptions).flags("opencl", "Intel", "gpu")
    return Target(gpu, flags)


def counted(compiled: Compiled, kernel: str) -> dict[str, Any]:
    """What a kernel became, or why it did not."""
    if compiled.status != "ok":
        return {"status": compiled.status, "reason": compiled.reason}
    code = read_code(compiled, kernel)
    return {
        "instructions": len(code.assembly.instructions),
        "simd": code.simd_width,
        "messages": sum(code.messages.values()),
        "spilled": code.spilled_registers,
        "registers": code.registers_used,
    }


if __name__ == "__main__":
    main()
