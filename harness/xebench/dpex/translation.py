"""From numba-dpex's LLVM IR of one of our kernels to its SPIR-V: facts, options, the optimizer, 32-bit indices."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

from llvmlite import binding
from numba_dpex.kernel_api_impl.spirv import spirv_generator
from numba_dpex.kernel_api_impl.spirv.target import LLVM_SPIRV_ARGS

from numba_sycl.entry_point import entry_point_name, launch_facts
from numba_sycl.kernel_options import KernelOptions
from numba_sycl.narrow.module import bounded_module
from numba_sycl.signature import Signature
from xebench.dpex import llvm14_text
from xebench.dpex.optimizer import optimise

# Extensions that the translator may use; it declares one in the module only when an instruction needs it.
SPIRV_EXTENSIONS = (
    "SPV_EXT_shader_atomic_float_add",
    "SPV_EXT_shader_atomic_float_min_max",
    "SPV_INTEL_arbitrary_precision_integers",
    "SPV_INTEL_variable_length_array",
    "SPV_INTEL_subgroups",
    "SPV_KHR_expect_assume",
)


class KernelModule(NamedTuple):
    """A translated kernel; the first two fields are numba-dpex's own ``SPIRVKernelModule``."""

    kernel_name: str
    kernel_bitcode: bytes
    llvm_ir: str
    translate_ns: int
    options: KernelOptions
    narrow: bytes
    limit: int


def translate(
    text: str, mangled_name: str, python_name: str, options: KernelOptions, signature: Signature | None, debug: bool
) -> KernelModule:
    """The SPIR-V of a kernel.

    Args:
        text: numba-dpex's final LLVM IR.
        mangled_name: name of the kernel's function in it.
        python_name: name of the Python function.
        options: the kernel's options.
        signature: index space and argument types; None where numba-dpex compiles for a launch of its own.
        debug: True to keep symbol names and debug information.
    """
    started = time.perf_counter_ns()
    name = entry_point_name(python_name)
    facts = launch_facts(signature) if signature else {}
    module = finish_ir(text, mangled_name, name, options, facts, keep_debug=debug)
    spirv = to_spirv(module, fp_contract=options.fp_contract)
    narrow, limit, narrow_spirv = "", 0, b""
    if signature and not debug:
        narrow, limit = bounded_module(str(module), name, signature, lambda text: str(_clean(text)))
    if narrow:
        narrow_spirv = to_spirv(_clean(narrow), fp_contract=options.fp_contract)
    return KernelModule(name, spirv, str(module), time.perf_counter_ns() - started, options, narrow_spirv, limit)


def _without_names(module: Any) -> Any:
    """Drop names of locals and labels, which hold numba's counters, from ``module``."""
    passes = binding.create_module_pass_manager()
    passes.add_strip_symbols_pass()
    passes.run(module)
    return module


def finish_ir(
    text: str, mangled_name: str, kernel: str, options: KernelOptions, facts: Mapping[int, int | None], keep_debug: bool
) -> Any:
    """The module that goes to llvm-spirv.

    Args:
        text: numba-dpex's final LLVM IR.
        mangled_name: the kernel's function in it.
        kernel: the name that it gets.
        options: the kernel's options.
        facts: known facts about the kernel's parameters.
        keep_debug: keep symbol names and debug information.
    """
    text = llvm14_text.rename_function(llvm14_text.drop_environments(text), mangled_name, kernel)
    text = llvm14_text.without_freezes(llvm14_text.state_launch(text, kernel, facts))
    text = llvm14_text.apply_options(text, kernel, options)
    text = optimise(text, unroll=options.unroll not in (None, "disable"))
    module = binding.parse_assembly(llvm14_text.load_whole_builtins(text))
    module.verify()
    return module if keep_debug else _without_names(module)


def _clean(text: str) -> Any:
    """A module without what is no longer needed; more passes would widen its indices again."""
    module = binding.parse_assembly(text)
    module.verify()
    passes = binding.create_module_pass_manager()
    passes.add_gvn_pass()
    passes.add_dead_code_elimination_pass()
    passes.add_cfg_simplification_pass()
    passes.run(module)
    return _without_names(module)


def to_spirv(module: Any, *, fp_contract: bool = False) -> bytes:
    """Run llvm-spirv on an llvmlite module.

    Args:
        module: module of one kernel.
        fp_contract: True if products and sums may be contracted; else a kernel with any gets ``ContractionOff``.
    """
    told = [f"--spirv-ext=+{e}" for e in SPIRV_EXTENSIONS] + ["--spirv-fp-contract=fast"] * fp_contract
    context = SimpleNamespace(extra_compile_options={LLVM_SPIRV_ARGS: told})
    spirv: bytes = spirv_generator.llvm_to_spirv(context, str(module), module.as_bitcode())
    return spirv
