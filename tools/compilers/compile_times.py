"""How long kernels take to compile, and from the cache: ``python -m tools.compilers.compile_times``, on each stack.

A process compiles every kernel of some patterns, each once and none at the same time as another, with a cache that is
empty; then another process finds them there. It prints a row of docs/compiler.md's table: the first kernel of a
process, which imports the compiler, is listed separately. Leave the machine alone meanwhile.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tools.compilers.modules import source_key

#: Local memory, group functions, atomics, private arrays, mathematics, index arithmetic.
PATTERNS: Final = (
    *("tiled_matmul", "slm_histogram", "reduction_blocked", "atomics_dtype", "subgroup_shuffle_transpose"),
    *("split_private_array", "log_precision", "vector_add_groups", "explicit_simd_nbody"),
)
#: So many of each kind; a kernel's time is the least of theirs, since whatever else runs only adds to it.
PROCESSES: Final = 2


def main() -> None:
    """Print the row, or, for a process of its own, the times of a cache's folder."""
    if len(sys.argv) > 1:
        print(json.dumps(times(Path(sys.argv[1]))))
        return
    compiled, kept = [], []
    for _ in range(PROCESSES):
        with TemporaryDirectory() as folder:
            compiled.append(in_child(folder))
            kept.append(in_child(folder))
    compiler, count = compiled[0]["compiler"], len(compiled[0]["ms"])
    cells = [f"{figure:.1f} ms" for told in (compiled, kept) for figure in summary([one["ms"] for one in told])]
    print("|", " | ".join([compiler, str(count), *cells]), "|")


def in_child(folder: str) -> dict[str, Any]:
    """The answer of a process: the last line of its output, since kernels print, too."""
    command = [sys.executable, "-m", "tools.compilers.compile_times", folder]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def summary(processes: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """The first kernel's time, and of the others the median and the one that nine of ten are below."""
    first, *others = map(min, zip(*processes, strict=True))
    return first, statistics.median(others), statistics.quantiles(others, n=10)[-1]


def times(folder: Path) -> dict[str, Any]:
    """The time of each kernel, in the order in which the patterns request them."""
    from xebench.system import runtime

    runtime.load()
    from numba_sycl import SpirvCache
    from numba_sycl.compiler import of_this_stack
    from numba_sycl.signature import signature_of
    from numba_sycl.stacks import this_compiler
    from tools.compilers.suite_kernels import CompilingSession, NotingStore, collect_preset
    from xebench.dpex import direct_calls
    from xebench.patterns.registry import builtin_files, read
    from xebench.session.session import Session
    from xebench.vocabulary import DeviceClass

    cache = SpirvCache(folder)
    ms: dict[str, float] = {}

    def time_it(kernel: Any, index_space: Any, arguments: Sequence[Any]) -> None:
        if hasattr(kernel, "py_func"):
            signature = signature_of(kernel, index_space, arguments)
            if (key := source_key(kernel, signature)) not in ms:
                started = time.perf_counter()
                of_this_stack(kernel, signature, cache)
                ms[key] = 1e3 * (time.perf_counter() - started)

    direct_calls.install()
    session = CompilingSession(Session.on("cpu").queue, NotingStore(time_it))
    for info in read(builtin_files()):
        if info.name in PATTERNS:
            for failure in collect_preset(session, info, next(iter(info.presets)), (DeviceClass.CPU,)):
                print(failure, file=sys.stderr)
    return {"compiler": this_compiler(), "ms": list(ms.values())}


if __name__ == "__main__":
    main()
