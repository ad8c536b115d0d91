"""numba-dpex's target with integers of our own, beside numba-dpex's in the same process.

Kernels and device functions of ``xebench.kernel`` belong to this target, those of ``numba_dpex.kernel`` to
numba-dpex's. Each class inherits from numba-dpex's and overrides a step of it. A device function of either target may
be called by kernels of both: a twin of it is compiled for the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, Final, NoReturn
from weakref import WeakKeyDictionary

from llvmlite import binding, ir
from numba.core import cgutils, typeinfer
from numba.core.compiler import Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.target_extension import (
    current_target,
    dispatcher_registry,
    jit_registry,
    target_override,
    target_registry,
)
from numba_dpex.core import config
from numba_dpex.core.decorators import _parse_func_or_sig
from numba_dpex.core.descriptor import DpexKernelTarget, dpex_kernel_target
from numba_dpex.kernel_api_impl.spirv import codegen
from numba_dpex.kernel_api_impl.spirv.dispatcher import SPIRVKernelDispatcher, _SPIRVKernelCompiler
from numba_dpex.kernel_api_impl.spirv.target import (
    LLVM_SPIRV_ARGS,
    SPIRV_TARGET_NAME,
    CompilationMode,
    SPIRVDevice,
    SPIRVTargetContext,
    SPIRVTypingContext,
)

from numba_sycl.code_generation.integers import replacements
from numba_sycl.errors import KernelOnly
from numba_sycl.kernel_options import called_on_host, options_of_compiler
from numba_sycl.signature import Signature
from xebench.dpex import integer_math
from xebench.dpex.optimizer import NATIVE_WIDTHS, optimise
from xebench.dpex.translation import KernelModule, translate

NAME: Final = "xebench_spirv"


class IntegersDevice(SPIRVDevice):  # type: ignore[misc]
    """The target as numba's registries name it: what is declared for numba-dpex's target holds for this one."""


class _Library(codegen.SPIRVCodeLibrary):  # type: ignore[misc]
    _final_module: Any

    def _optimize_final_module(self) -> None:
        optimised = optimise(str(self._final_module), unroll=False, inlining=self.inline_threshold)
        self._final_module = binding.parse_assembly(optimised)


class _Codegen(codegen.JITSPIRVCodegen):  # type: ignore[misc]
    _library_class = _Library

    def _init(self, llvm_module: Any) -> None:
        super()._init(llvm_module)
        self._data_layout += NATIVE_WIDTHS
        self._target_data = binding.create_target_data(self._data_layout)


class _TypingContext(SPIRVTypingContext):  # type: ignore[misc]
    def resolve_value_type(self, val: Any) -> Any:
        if type(val) is SPIRVKernelDispatcher:
            val = _twin(val, KernelDispatcher)
        return super().resolve_value_type(val)


class _TargetContext(SPIRVTargetContext):  # type: ignore[misc]
    def init(self) -> None:
        super().init()
        self._internal_codegen = _Codegen("xebench.kernel")
        self._target_data = self._internal_codegen._target_data
        self.data_model_manager = dpex_kernel_target.target_context.data_model_manager

    def refresh(self) -> None:
        super().refresh()
        self.install_registry(replacements)
        self.install_registry(integer_math.registry)

    def prepare_spir_kernel(self, func: Any, argtypes: Any) -> Any:
        func.linkage = "linkonce_odr"
        func.module.data_layout = self._internal_codegen._data_layout
        return self._generate_spir_kernel_wrapper(func, argtypes)


class _Target(DpexKernelTarget):  # type: ignore[misc]
    @cached_property
    def _toplevel_target_context(self) -> Any:
        return _TargetContext(self.typing_context, self._target_name)

    @cached_property
    def _toplevel_typing_context(self) -> Any:
        return _TypingContext()


def _pointer_add(builder: Any, ptr: Any, offset: Any, return_type: Any = None) -> Any:
    """``ptr`` plus ``offset`` bytes, as ``return_type`` or the type of ``ptr``, by getelementptr.

    numba goes through an integer, which loses the pointer's provenance: CPU drivers before 2025.2 compute wrong numbers
    of strided arrays then.
    """
    byte_pointer = ir.PointerType(ir.IntType(8), addrspace=getattr(ptr.type, "addrspace", 0))
    if isinstance(offset, int):
        offset = ir.Constant(cgutils.intp_t, offset)
    moved = builder.gep(builder.bitcast(ptr, byte_pointer), [offset])
    return builder.bitcast(moved, return_type or ptr.type)


class KernelCompiler(_SPIRVKernelCompiler):  # type: ignore[misc]
    """The compiler object of a kernel.

    Attributes:
        launch_signature: index space and argument types that `compile` is for; None where numba-dpex itself compiles.
    """

    launch_signature: Signature | None = None

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        with global_compiler_lock, target_override(NAME):  # within numba-dpex's own
            numbas, cgutils.pointer_add = cgutils.pointer_add, _pointer_add
            try:
                return super()._compile_core(args, return_type)
            finally:
                cgutils.pointer_add = numbas

    def _compile_to_spirv(self, kernel_library: Any, kernel_fndesc: Any, kernel_targetctx: Any) -> KernelModule:
        function = kernel_library.get_function(kernel_fndesc.llvm_func_name)
        wrapper = kernel_targetctx.prepare_spir_kernel(function, kernel_fndesc.argtypes)
        mangled_name = wrapper.name
        flags = Flags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        kernel_library.inline_threshold = flags.inline_threshold
        kernel_library.finalize()
        if config.DUMP_KERNEL_LLVM:
            self._dump_kernel(kernel_fndesc, kernel_library)
        kernel_targetctx.extra_compile_options.pop(LLVM_SPIRV_ARGS, None)
        return translate(
            str(kernel_library.final_module),
            mangled_name,
            self.py_func.__name__,
            options_of_compiler(self),
            self.launch_signature,
            debug=bool(self.targetoptions.get("debug", False)),
        )


class KernelDispatcher(SPIRVKernelDispatcher):  # type: ignore[misc]
    """A kernel or a device function."""

    targetdescr = _Target(NAME)
    _compiler: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        theirs = self._compiler
        self._compiler = KernelCompiler(
            theirs.py_func, self.targetdescr, theirs.targetoptions, theirs.locals, theirs.pipeline_class
        )

    def _get_dispatcher_for_current_target(self) -> Any:
        """The function that a call is typed and lowered with (numba's protocol)."""
        return plain_twin(self) if current_target() == SPIRV_TARGET_NAME else self

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        """Raise: a kernel is launched."""
        raise KernelOnly(called_on_host(self.py_func.__name__))

    __getitem__ = __call__


_twins: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def plain_twin(dispatcher: KernelDispatcher) -> Any:
    """The same function as numba-dpex's own decorators make it."""
    return _twin(dispatcher, SPIRVKernelDispatcher)


def _twin(dispatcher: Any, twins_class: type) -> Any:
    if dispatcher not in _twins:
        signatures = [] if dispatcher._can_compile else list(dispatcher.overloads)
        _twins[dispatcher] = _decorated(twins_class, dispatcher.py_func, signatures, dispatcher.targetoptions)
    return _twins[dispatcher]


def forget_twin(dispatcher: Any) -> None:
    """Have a function's twin made anew, since what it refers to may have changed."""
    _twins.pop(dispatcher, None)


def _decorated(dispatcher_class: type, function: Any, signatures: Any, options: Mapping[str, Any]) -> Any:
    dispatcher: Any = dispatcher_class(function, targetoptions=dict(options))
    if signatures:
        with typeinfer.register_dispatcher(dispatcher):
            for signature in signatures:
                dispatcher.compile(signature)
        dispatcher.disable_compile()
    return dispatcher


def decorate(function: Callable[..., Any], signatures: Any, *, is_kernel: bool, options: Mapping[str, Any]) -> Any:
    """A kernel or device function of this target.

    Args:
        function: the Python function.
        signatures: types of arguments in a tuple, or several in a list, as numba-dpex has them; None for any.
        is_kernel: False for a device function.
        options: options of numba-dpex's decorators.
    """
    mode = CompilationMode.KERNEL if is_kernel else CompilationMode.DEVICE_FUNC
    _, parsed = _parse_func_or_sig(signatures)
    return _decorated(KernelDispatcher, function, parsed, {**options, "_compilation_mode": mode})


def _device_func(**options: Any) -> Callable[..., Any]:
    """The decorator by which numba compiles overloads for this target."""
    return partial(decorate, signatures=None, is_kernel=False, options=options)


target_registry[NAME] = IntegersDevice
dispatcher_registry[IntegersDevice] = KernelDispatcher
jit_registry[IntegersDevice] = _device_func
