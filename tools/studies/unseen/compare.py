"""Instructions of the kernels over those of their twins, by ocloc: ``python -m tools.studies.unseen.compare``."""

from __future__ import annotations

from math import exp, log
from statistics import fmean
from typing import Any, Final

import numpy as np

from numba_sycl import compile_kernel
from numba_sycl.tensor import tensor as dpt
from tools.studies.unseen.cases import BUILD_OPTIONS, TWINS, cases
from xebench.isa.assembly import read_assembly
from xebench.isa.compilation import Compiled, Source, Target
from xebench.isa.ocloc import compile_source, find_compiler
from xebench.report.table_forms import table

GPUS: Final = ("pvc", "dg2", "tgllp")
TWIN_OPTIONS: Final = (BUILD_OPTIONS, "-cl-std=CL2.0")


def instructions(compiled: Compiled, kernel: str) -> float:
    """Instructions of a kernel for one lane."""
    if compiled.status != "ok":
        raise SystemExit(f"{kernel}: {compiled.status}: {compiled.reason}")
    return len(read_assembly(compiled.assembly[kernel]).instructions) / compiled.simd_widths[kernel]


def on_device(argument: Any) -> Any:
    """An array on the device; anything else as it is."""
    return dpt.asarray(argument) if isinstance(argument, np.ndarray) else argument


def ratios() -> dict[str, list[float]]:
    """The ratios of each kernel, one for each GPU."""
    compiler = find_compiler()
    text = Source(TWINS.read_bytes(), "opencl")
    twins = {gpu: compile_source(compiler, text, Target(gpu, TWIN_OPTIONS)) for gpu in GPUS}
    found = {}
    for case in cases():
        compiled = compile_kernel(case.kernel, case.space, [on_device(argument) for argument in case.arguments])
        source, name = Source((compiled.narrowed if compiled.narrow else compiled).spirv), case.name
        own = {gpu: compile_source(compiler, source, Target(gpu)) for gpu in GPUS}
        found[name] = [instructions(own[gpu], name) / instructions(twins[gpu], name) for gpu in GPUS]
    return found


def main() -> None:
    """Print the table."""
    found = ratios()
    means = [exp(fmean(map(log, column))) for column in zip(*found.values(), strict=True)]
    lines = [(name, *(f"{ratio:.2f}" for ratio in row)) for name, row in {**found, "geometric mean": means}.items()]
    print("\n".join(table(("kernel", *GPUS), lines, right=range(1, len(GPUS) + 1))))


if __name__ == "__main__":
    main()
