"""LLVM's pipeline for our kernels, without integers of odd widths and without tables in the place of branches.

Drivers crash on both: on an integer of 2, 33 or 65 bits, which SPIR-V has not, and on a table outside of the kernel.
LLVM makes such integers where the data layout names no native widths, and of formulas in the place of loops. It takes
the option against formulas once in a process, so where there are any the pipeline runs again in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Final

from llvmlite import binding

#: Native widths of integers in the data layout, as DPC++ has them for spir64.
NATIVE_WIDTHS: Final = "-n8:16:32:64"
_TABLE: Final = "@switch.table"


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
    if ODD_WIDTH.search(optimised) or _TABLE in optimised:
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
