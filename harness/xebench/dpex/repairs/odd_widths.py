"""Integers of widths that SPIR-V has, in loops and chains of branches.

Symptom: a module is not valid, as it has integers of 33, 40 or 65 bits, or a table outside of the kernel; some drivers
end the process.
Cause: LLVM's pipeline puts formulas in the place of loops, and tables in the place of branches.
Cure: make no tables. Where there are odd widths still, run the pipeline again without formulas, in a process of its
own: LLVM takes an option once in a process.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from llvmlite import binding


def odd_widths() -> None:
    """Replace the pipeline that functions and linked kernels run through."""
    from numba_dpex.kernel_api_impl.spirv.codegen import SPIRVCodeLibrary

    from numba_sycl.code_generation.back_end import NO_TABLES

    binding.set_option("", NO_TABLES)

    def optimize_final_module(self: Any) -> None:
        optimised = optimise(str(self._final_module), unroll=False, inlining=self.inline_threshold)
        self._final_module = binding.parse_assembly(optimised)

    SPIRVCodeLibrary._optimize_final_module = optimize_final_module


def optimise(text: str, *, unroll: bool, inlining: int = 0) -> str:
    """Run LLVM's pipeline with numba-dpex's own settings.

    Args:
        text: text of the module.
        unroll: True if loops may be unrolled.
        inlining: numba-dpex's ``inline_threshold``.

    Returns:
        The text of the optimised module.
    """
    from numba_dpex.core import config

    from numba_sycl.code_generation.back_end import NO_FORMULAS, NO_TABLES, ODD_WIDTH

    settings = int(config.DPEX_OPT), int(unroll), inlining
    optimised = _run(text, *settings)
    if ODD_WIDTH.search(optimised):
        # -P: the modules beside this file do not stand for others of their names
        command = [sys.executable, "-P", __file__, *map(str, settings), NO_TABLES, NO_FORMULAS]
        optimised = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return optimised


def _run(text: str, level: int, unroll: int, inlining: int) -> str:
    module = binding.parse_assembly(text)
    builder = binding.create_pass_manager_builder()
    builder.opt_level = level
    builder.disable_unroll_loops = not unroll
    builder.loop_vectorize = builder.slp_vectorize = False
    if inlining:
        builder.inlining_threshold = inlining
    passes = binding.create_module_pass_manager()
    builder.populate(passes)
    passes.run(module)
    return str(module)


if __name__ == "__main__":
    for option in sys.argv[4:]:
        binding.set_option("", option)
    print(_run(sys.stdin.read(), *(int(setting) for setting in sys.argv[1:4])))
