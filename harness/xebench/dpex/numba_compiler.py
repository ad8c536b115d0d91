"""Kernels to SPIR-V by numba-dpex, each stage timed by itself, the identity of such a compilation, and our hooks in it.

A wrong match would run the wrong kernel, so this is conservative: to what the kernel is (:mod:`numba_sycl.identity`)
it adds the bytecode and constants of each function, the argument types and the versions of the compilers. Where a
kernel refers to something without an identity, there is no fingerprint and the kernel is compiled again.

`install` replaces numba-dpex's own step, so that kernels reach the device the same way through `compile_kernel` of this
package and through numba-dpex's `call_kernel`. numba-dpex gives the driver the build options of one environment
variable. Here a kernel's own options go before them, and a sub-group or work-group size that the device lacks is an
error, where some drivers report nothing.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, NamedTuple, NoReturn

import dpctl
import numpy as np
from llvmlite import binding
from numba.core import types
from numba.core.base import BaseContext
from numba.core.compiler import Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.np import numpy_support
from numba_dpex.core import config
from numba_dpex.core.exceptions import KernelHasReturnValueError
from numba_dpex.core.types import USMNdArray
from numba_dpex.core.types.dpctl_types import DpctlSyclQueue
from numba_dpex.core.types.kernel_api.index_space_ids import ItemType, NdItemType
from numba_dpex.core.types.kernel_api.local_accessor import LocalAccessorType
from numba_dpex.core.utils.call_kernel_builder import KernelLaunchIRBuilder
from numba_dpex.kernel_api_impl.spirv import spirv_generator
from numba_dpex.kernel_api_impl.spirv.dispatcher import CompilationMode, SPIRVKernelDispatcher, _SPIRVKernelCompiler
from numba_dpex.kernel_api_impl.spirv.target import LLVM_SPIRV_ARGS, SPIRVTargetContext

from numba_sycl.code_generation.integers import replacements
from numba_sycl.compiler_messages import compile_error, dimension_error, divergence_error, find_divergent_call
from numba_sycl.entry_point import entry_point_name, launch_facts
from numba_sycl.errors import KernelOnly
from numba_sycl.identity import Identity, UnknownIdentity, extensions_digest
from numba_sycl.kernel_options import NO_OPTIONS, KernelOptions, called_on_host, options_of_compiler
from numba_sycl.narrow.module import bounded_module
from numba_sycl.signature import (
    ArgumentType,
    ArrayType,
    CompiledKernel,
    LocalType,
    OtherParameter,
    ScalarType,
    Signature,
    not_a_kernel,
)
from numba_sycl.spirv_cache import SpirvCache, kept_or_compiled, this_compiler, toolchain
from xebench.dpex import llvm14_text
from xebench.dpex.repairs import cures, odd_widths

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
        facts: known facts about the kernel's parameters.
        keep_debug: keep symbol names and debug information.
    """
    text = llvm14_text.rename_function(llvm14_text.drop_environments(text), mangled_name, kernel)
    text = llvm14_text.without_freezes(llvm14_text.state_launch(text, kernel, facts))
    text = llvm14_text.apply_options(text, kernel, options)
    text = odd_widths.optimise(text, unroll=options.unroll not in (None, "disable"))
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
    name = entry_point_name(self.py_func.__name__)
    debug = bool(self.targetoptions.get("debug", False))
    signature = getattr(self, SIGNATURE, None)  # none where numba-dpex itself compiles for a launch
    facts = launch_facts(signature) if signature else {}
    module = finish_ir(str(kernel_library.final_module), mangled_name, name, options, facts, keep_debug=debug)
    spirv = to_spirv(module, fp_contract=options.fp_contract)
    narrow, limit, narrow_spirv = "", 0, b""
    if signature and not debug:
        narrow, limit = bounded_module(str(module), name, signature, lambda text: str(_clean(text)))
    if narrow:
        narrow_spirv = to_spirv(_clean(narrow), fp_contract=options.fp_contract)
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
    raise ValueError("no argument of this launch is an array on a device")


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


class _AnyQueue(DpctlSyclQueue):  # type: ignore[misc]
    """The queue of every array type that is compiled here: none in particular."""

    def __init__(self, atomic64: bool) -> None:
        self._device = "any:device"
        self._device_has_aspect_atomic64 = atomic64
        self._unique_id = f"any queue, 64-bit atomics {atomic64}"
        types.Type.__init__(self, name=self._unique_id)


def _numba_type(argument: ArgumentType | OtherParameter, queue: _AnyQueue) -> Any:
    assert isinstance(argument, ArrayType | LocalType | ScalarType)  # others are of kernels that numba never sees
    dtype = numpy_support.from_dtype(np.dtype(argument.dtype))
    if isinstance(argument, ScalarType):
        return dtype
    if isinstance(argument, LocalType):
        return LocalAccessorType(argument.ndim, dtype)
    return USMNdArray(ndim=argument.ndim, layout=argument.layout, dtype=dtype, queue=queue)


def numba_types(signature: Signature) -> tuple[Any, ...]:
    """The numba types of the item and the arguments."""
    items = {"Item": (ItemType(signature.ndim),), "NdItem": (NdItemType(signature.ndim),)}
    queue = _AnyQueue(signature.atomic64)
    return (*items.get(signature.item, ()), *(_numba_type(argument, queue) for argument in signature.arguments))


_PACKAGES = ("numba", "numba-dpex", "llvmlite", "dpcpp-llvm-spirv", "numpy", "dpnp", "dpctl")
# Settings of numba and numba-dpex, which environment variables change.
_SETTINGS = ("DPEX_OPT", "INLINE_THRESHOLD", "DEBUGINFO_DEFAULT", "BOUNDSCHECK", "OPT")


def fingerprint(kernel: Any, signature: Signature) -> str | None:
    """The identity of compiling ``kernel`` for ``signature``, or None if it cannot be determined."""
    identity = _OfCompilation()
    try:
        identity.add(toolchain(*_PACKAGES, adapter=Path(__file__).parent))
        identity.add([str(getattr(config, name)) for name in _SETTINGS])
        identity.add(repr(signature))
        identity.add(extensions_digest())
        identity.add(kernel)
    except UnknownIdentity:
        return None
    return identity.hexdigest()


class _OfCompilation(Identity):
    """Adds what only this Python and these compilers give a meaning to.

    Attributes:
        dispatchers: the kernel and the device functions.
    """

    def __init__(self) -> None:
        super().__init__()
        self.dispatchers: list[SPIRVKernelDispatcher] = []

    def add(self, value: Any, attributes: Any = ()) -> None:
        if isinstance(value, types.Type):
            self._token("type", str(value))
        else:
            super().add(value, attributes)

    def add_decorated(self, decorated: Any) -> None:
        self._token("dispatcher", type(decorated).__name__)
        if isinstance(decorated, SPIRVKernelDispatcher):
            self.dispatchers.append(decorated)
            self.add(decorated.targetoptions["_compilation_mode"])
            self.add(repr(decorated._compiler.locals))
        super().add_decorated(decorated)


def compile_by_numba(kernel: Any, signature: Signature, cache: SpirvCache | None) -> CompiledKernel:
    """Compile a kernel, or find an earlier compilation.

    Args:
        kernel: made by ``xebench.dpex.kernel`` or ``numba_dpex.kernel``.
        signature: index space and argument types to compile for.
        cache: cache to read and fill; None to compile always.

    Raises:
        KernelCompileError: the function cannot be compiled.
        ArgumentError: it is no kernel.
    """
    # a device function is made by the same class
    if not isinstance(kernel, SPIRVKernelDispatcher) or not _is_kernel(kernel):
        raise not_a_kernel(kernel)
    return kept_or_compiled(kernel, signature, cache, fingerprint, _compile)


def _refuse_call(self: Any, *_: Any, **__: Any) -> NoReturn:
    raise KernelOnly(called_on_host(self.py_func.__name__))


# numba-dpex raises NotImplementedError, without a word
SPIRVKernelDispatcher.__call__ = SPIRVKernelDispatcher.__getitem__ = _refuse_call


def _is_kernel(dispatcher: Any) -> bool:
    return bool(dispatcher.targetoptions["_compilation_mode"] == CompilationMode.KERNEL)


def _compile_with_facts(compiler: Any, signature: Signature) -> Any:
    """numba-dpex compiles a kernel; what is known of a launch holds for this signature alone."""
    setattr(compiler, SIGNATURE, signature)
    try:
        return compiler.compile(numba_types(signature), None)
    finally:
        delattr(compiler, SIGNATURE)


def _forget_device_functions(kernel: Any) -> None:
    """Have device functions compiled anew: what they refer to may have changed, and the kernel's identity with it."""
    identity = _OfCompilation()
    with contextlib.suppress(UnknownIdentity):  # then the kernel is not kept either
        identity.add(kernel)
    for dispatcher in identity.dispatchers:
        if dispatcher._can_compile:  # not one with signatures, which is compiled when it is made
            dispatcher.overloads.clear()


def _compile(kernel: Any, signature: Signature) -> CompiledKernel:
    cures.import_registries()  # once in a process: this is no time of the kernel's
    started = time.perf_counter_ns()
    divergent = find_divergent_call(kernel.py_func)
    if divergent is not None:
        raise divergence_error(kernel.py_func, divergent)
    if (lacking := dimension_error(kernel.py_func, signature.ndim)) is not None:  # the driver crashes, or gives 0
        raise lacking
    try:
        with global_compiler_lock:
            _forget_device_functions(kernel)
            result = _compile_with_facts(kernel._compiler, signature)
            if result.signature.return_type not in (None, types.none, types.void):
                raise KernelHasReturnValueError(kernel.py_func.__name__, result.signature.return_type)
    except Exception as error:
        raise compile_error(kernel.py_func, error) from None
    module = result.kernel_device_ir_module
    total = time.perf_counter_ns() - started
    stages = {"typing": total - module.translate_ns, "translate": module.translate_ns}
    name, spirv, options = module.kernel_name, module.kernel_bitcode, module.options
    return CompiledKernel(
        name,
        spirv,
        options,
        signature,
        stages,
        cached=False,
        compiler=this_compiler(),
        llvm_ir=module.llvm_ir,
        narrow=module.narrow,
        limit=module.limit,
    )
