"""How long kernels of the suite take to compile in this environment, for the page on both compilers (docs/stacks.md).

``python tools/compile_times.py`` starts some processes, one after the other, so that each has a first kernel, which
loads the compiler. Each compiles every kernel that a sample of patterns asks for, once. In each of two environments:

    python tools/compile_times.py --json > pinned.json
    python tools/compile_times.py --table pinned.json current.json
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

#: Local memory, work-group and sub-group functions, atomics, private arrays, vectors, mathematics, long bodies.
PATTERNS = (
    *("tiled_matmul", "slm_convolution_cache", "slm_histogram", "reduction_sum", "small_sum_barrier_vs_atomics"),
    *("atomics_dtype", "subgroup_coalesced_copy", "subgroup_block_io", "subgroup_shuffle_transpose"),
    *("subgroup_vector_payload", "split_private_array", "private_histogram", "explicit_simd_nbody", "log_precision"),
    *("kernel_fusion", "vector_add_groups", "scalars_by_value", "random_numbers", "stencil_row_reuse"),
)


def compile_sample() -> dict[str, Any]:
    """In one process: its first kernel in ms, imports included, and each later one's time in ms."""
    from xebench import runtime

    runtime.load()
    from xebench.dpex import compiler, direct_calls
    from xebench.dpex.toolchain import this_compiler
    from xebench.packing.pattern_kernels import collect_kernels
    from xebench.patterns.registry import discover

    times: dict[Any, float] = {}

    def timed(kernel: Any, signature: Any, cache: Any) -> Any:
        if not hasattr(kernel, "py_func"):
            return compiler.of_this_stack(kernel, signature, cache)
        started = time.perf_counter()
        compiled = compiler.compile_anew(kernel, signature)
        times[kernel, signature] = 1e3 * (time.perf_counter() - started)
        return compiled

    compiler.use_source(timed)
    direct_calls.install()
    chosen = [info for info in discover() if info.name in PATTERNS]
    failures = list(collect_kernels(runtime.select_device("cpu").device.device, chosen, lambda: len(times)))
    first, *others = times.values()
    return {"compiler": this_compiler(), "first_ms": first, "warm_ms": others, "failures": failures}


def measured(processes: int) -> list[dict[str, Any]]:
    """What so many processes tell."""
    command = [sys.executable, __file__, "--one"]
    told = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(processes)]
    return [json.loads(text.splitlines()[-1]) for text in told]


def table(files: list[Path]) -> str:
    """A row an environment, in Markdown."""
    lines = [
        "| compiler | kernels | first kernel of a process | warm, median | warm, 90 % below |",
        "|---|--:|--:|--:|--:|",
    ]
    for file in files:
        processes = json.loads(file.read_text())
        # a kernel's time is the least of the processes': what else runs on the machine only adds to it
        warm = sorted(map(min, zip(*(one["warm_ms"] for one in processes), strict=True)))
        first = min(one["first_ms"] for one in processes)
        figures = (first, statistics.median(warm), warm[int(0.9 * len(warm))])
        shown = " | ".join(f"{figure:.0f} ms" for figure in figures)
        lines.append(f"| {processes[0]['compiler']} | {len(warm) + 1} | {shown} |")
    return "\n".join(lines)


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="print the times of this environment")
    parser.add_argument("--table", nargs="+", type=Path, metavar="FILE", help="print a table of such files")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.table:
        print(table(given.table))
    elif given.one:
        print(json.dumps(compile_sample()))
    else:
        print(json.dumps(measured(given.processes)))


if __name__ == "__main__":
    main()
