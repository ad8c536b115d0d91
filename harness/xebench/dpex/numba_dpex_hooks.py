"""What is changed in numba-dpex: how it makes SPIR-V of a finished module, and options in its own launches.

``install()`` replaces numba-dpex's step, so that kernels reach the device the same way through
``compile_kernel`` of this package and through ``call_kernel`` of numba-dpex.

numba-dpex gives the driver the build options of one environment variable. Here a kernel's own options go before
them, and a sub-group or work-group size that the device lacks is an error, where some drivers say nothing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import dpctl
from llvmlite import binding
from numba.core.base import BaseContext
from numba.core.compiler import Flags
from numba_dpex.core import config
from numba_dpex.core.types import USMNdArray
from numba_dpex.core.types.kernel_api.local_accessor import LocalAccessorType
from numba_dpex.core.utils.call_kernel_builder import KernelLaunchIRBuilder
from numba_dpex.kernel_api_impl.spirv import spirv_generator
from numba_dpex.kernel_api_impl.spirv.dispatcher import _SPIRVKernelCompiler
from numba_dpex.kernel_api_impl.spirv.target import LLVM_SPIRV_ARGS, SPIRVTargetContext

from xebench.dpex import llvm_text
from xebench.dpex.decorators import options_of_compiler
from xebench.dpex.kernel_options import NO_OPTIONS, KernelOptions
from xebench.dpex.llvm_text import launch_facts
from xebench.dpex.narrow.module import narrow_module, settled_module
from xebench.dpex.repairs import odd_widths
from xebench.dpex.target_base import integers  # noqa: F401  (they register themselves)
from xebench.dpex.target_base.integers import replacements

# Extensions that the translator may use; it declares one in the module only when an instruction needs it.
SPIRV_EXTENSIONS = (
    "SPV_EXT_shader_atomic_float_add",
    "SPV_EXT_shader_atomic_float_min_max",
    "SPV_INTEL_arbitrary_precision_integers",
    "SPV_INTEL_variable_length_array",
    "SPV_INTEL_subgroups",
    "SPV_KHR_expect_assume",
)
#: Attribute of numba-dpex's compiler object: what it compiles a kernel for.
SIGNATURE: Final = "_xebench_signature"


class KernelModule(NamedTuple):
    """A translated kernel; the first two fields are numba-dpex's own ``SPIRVKernelModule``."""

    kernel_name: str
    kernel_bitcode: bytes
    llvm_ir: str
    translate_ns: int
    options: KernelOptions
    narrow: bytes
    limit: int


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
        facts: what is known of the kernel's parameters.
        keep_debug: keep symbol names and debug information.
    """
    text = llvm_text.rename_function(llvm_text.drop_environments(text), mangled_name, kernel)
    text = llvm_text.without_freezes(llvm_text.state_launch(text, kernel, facts))
    text = llvm_text.apply_options(text, kernel, options)
    text = odd_widths.optimise(text, unroll=options.unroll not in (None, "disable"))
    module = binding.parse_assembly(llvm_text.load_whole_builtins(text))
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
        module: of one kernel.
        fp_contract: whether products and sums may be contracted; else where there is any, ``ContractionOff`` is said.
    """
    told = [f"--spirv-ext=+{e}" for e in SPIRV_EXTENSIONS] + ["--spirv-fp-contract=fast"] * fp_contract
    context = SimpleNamespace(extra_compile_options={LLVM_SPIRV_ARGS: told})
    spirv: bytes = spirv_generator.llvm_to_spirv(context, str(module), module.as_bitcode())
    return spirv


def _compile_to_spirv(self: Any, kernel_library: Any, kernel_fndesc: Any, kernel_targetctx: Any) -> KernelModule:
    function = kernel_library.get_function(kernel_fndesc.llvm_func_name)
    wrapper = kernel_targetctx.prepare_spir_kernel(function, kernel_fndesc.argtypes)
    mangled_name = wrapper.name
    flags = Flags()
    self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
    kernel_library.inline_threshold = flags.inline_threshold
    kernel_library.finalize()
    if config.DUMP_KERNEL_LLVM:
        self._dump_kernel(kernel_fndesc, kernel_library)

    started = time.perf_counter_ns()
    options = options_of_compiler(self)
    name = llvm_text.entry_point_name(self.py_func.__name__)
    debug = bool(self.targetoptions.get("debug", False))
    signature = getattr(self, SIGNATURE, None)  # none where numba-dpex itself compiles for a launch
    facts = launch_facts(signature) if signature else {}
    module = finish_ir(str(kernel_library.final_module), mangled_name, name, options, facts, keep_debug=debug)
    if signature and not debug and (settled := settled_module(str(module), name, signature)):
        module = _clean(settled)
    spirv = to_spirv(module, fp_contract=options.fp_contract)
    narrow, limit = narrow_module(str(module), name, signature) if signature and not debug else ("", 0)
    narrow_spirv = to_spirv(_clean(narrow), fp_contract=options.fp_contract) if narrow else b""
    kernel_targetctx.extra_compile_options.pop(LLVM_SPIRV_ARGS, None)
    return KernelModule(name, spirv, str(module), time.perf_counter_ns() - started, options, narrow_spirv, limit)


def _refresh(self: Any) -> None:
    BaseContext.refresh(self)
    self.install_registry(replacements)


def install_translation() -> None:
    """Replace numba-dpex's translation of a kernel, and numba's ``range`` and integer divisions in kernels."""
    _SPIRVKernelCompiler._compile_to_spirv = _compile_to_spirv
    SPIRVTargetContext.refresh = _refresh


class _SpirvWithOptions(bytes):
    """SPIR-V that hashes differently with other options: numba-dpex keeps built kernels by this hash alone."""

    options: str

    def __new__(cls, spirv: bytes, options: str) -> _SpirvWithOptions:
        new = super().__new__(cls, spirv)
        new.options = options
        return new

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and self.options == getattr(other, "options", "")

    def __hash__(self) -> int:
        return hash((bytes(self), self.options))


def _device_of(launcher: Any) -> Any:
    for argument in launcher.cached_arguments.arg_ty_list:
        if isinstance(argument, USMNdArray) and not isinstance(argument, LocalAccessorType):
            return dpctl.SyclDevice(argument.device)
    raise ValueError("no array tells the device of this launch")


def install_launches() -> None:
    """Wrap the step of numba-dpex's launcher that builds the kernel."""
    set_kernel_from_spirv = KernelLaunchIRBuilder.set_kernel_from_spirv

    def with_build_options(self: Any, kernel_module: Any, debug: bool = False) -> None:
        options = getattr(kernel_module, "options", NO_OPTIONS)
        flags: tuple[str, ...] = ()
        if options != NO_OPTIONS:
            device = _device_of(self)
            options.check_device(kernel_module.kernel_name, device)
            flags, _ = options.flags_for(device)
        if not flags:
            set_kernel_from_spirv(self, kernel_module, debug)
            return
        users = config.BUILD_KERNEL_OPTIONS
        config.BUILD_KERNEL_OPTIONS = text = " ".join([*flags, users]).strip()
        try:
            spirv = _SpirvWithOptions(kernel_module.kernel_bitcode, text)
            set_kernel_from_spirv(self, kernel_module._replace(kernel_bitcode=spirv), debug)
        finally:
            config.BUILD_KERNEL_OPTIONS = users

    KernelLaunchIRBuilder.set_kernel_from_spirv = with_build_options
