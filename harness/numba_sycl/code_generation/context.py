"""The target: what numba may use in kernels, how functions call each other, and where their code is kept."""

from __future__ import annotations

import functools
import importlib
from typing import Any, Final

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import cgutils, codegen, errors, types, typing
from numba.core.base import BaseContext
from numba.core.callconv import MinimalCallConv
from numba.core.compiler import Flags
from numba.core.descriptors import TargetDescriptor
from numba.core.target_extension import GPU, target_registry
from numba.core.targetconfig import ConfigStack

from numba_sycl import kernel_names
from numba_sycl.code_generation import SPIR_FUNC
from numba_sycl.code_generation.device_types import (
    declarations,
    device_models,
    implementations,
    value_types,
)
from numba_sycl.code_generation.integers import LOOPS, replacements

NAME: Final = "numba_sycl"
#: SPIR-V 1.3, the first with shuffles.
TRIPLE: Final = "spirv64v1.3-unknown-unknown"
#: LLVM's for this triple.
LAYOUT: Final = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64"

# numba's own declarations and implementations that make sense on a device.
_TYPING: Final = ("cmathdecl", "enumdecl", "mathdecl", "npydecl")
_LOWERING: Final = (
    *("numba.core.optional", "numba.misc.literal", "numba.np.arraymath", "numba.np.arrayobj", "numba.np.npyimpl"),
    *(
        f"numba.cpython.{name}"
        for name in (
            "builtins",
            "cmathimpl",
            "enumimpl",
            "iterators",
            "mathimpl",
            "numbers",
            "rangeobj",
            "slicing",
            "tupleobj",
        )
    ),
)
# A function that ends with an exception returns this to its caller.
_FAILED: Final = 1


class SpirvTarget(GPU):  # type: ignore[misc]
    """SYCL devices, by SPIR-V."""


target_registry[NAME] = SpirvTarget


class _Codegen(codegen.Codegen):  # type: ignore[misc]
    """Makes empty modules; numba does not process them further."""

    def __init__(self) -> None:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        self._data_layout = LAYOUT
        self._target_data = llvm.create_target_data(LAYOUT)
        self._library_class = Library

    @property
    def target_data(self) -> Any:
        """Sizes of LLVM's types."""
        return self._target_data

    def _create_empty_module(self, name: str) -> Any:
        module = ir.Module(cgutils.normalize_ir_text(name))
        module.triple, module.data_layout = TRIPLE, LAYOUT
        return module

    def _add_module(self, module: Any) -> None:
        pass

    def magic_tuple(self) -> tuple[str, ...]:
        """The values that a cache of numba's would depend on."""
        return (TRIPLE,)


class Library(codegen.CodeLibrary):  # type: ignore[misc]
    """The modules of a function, and the libraries of those that it calls."""

    def __init__(self, of: Any, name: str) -> None:
        super().__init__(of, name)
        self._modules: list[Any] = []
        self._linked: list[Library] = []

    def add_ir_module(self, module: Any) -> None:
        """Add a module."""
        self._modules.append(module)

    def add_linking_library(self, library: Any) -> None:
        """Add the library of a function that is called."""
        if library is not self and library not in self._linked:
            self._linked.append(library)

    def finalize(self) -> None:
        """Do nothing: modules are linked when the kernel is whole."""
        self._finalized = True

    def get_function(self, name: str) -> Any:
        """A function by its name in LLVM."""
        return next(module.globals[name] for module in self._modules if name in module.globals)

    def all_modules(self) -> list[Any]:
        """Its own and those of all that is called, each once."""
        found: dict[int, Library] = {}
        waiting = [self]
        while waiting:
            library = waiting.pop()
            if id(library) not in found:
                found[id(library)] = library
                waiting += reversed(library._linked)
        return [module for library in found.values() for module in library._modules]

    def get_llvm_str(self) -> str:
        """The modules as text."""
        return "\n".join(map(str, self._modules))

    def get_asm_str(self) -> str:
        """Return nothing: there is no assembly."""
        return ""


class _CallHelper:
    """numba's, for exceptions: a device has none."""

    def _add_exception(self, *_: Any) -> int:
        return _FAILED


class _CallConvention(MinimalCallConv):  # type: ignore[misc]
    """A function returns a status; all are inlined, so that those that cannot fail cost nothing.

    A kernel ignores the status: a work-item that raises ends, as with numba-dpex.
    """

    def return_user_exc(self, builder: Any, *_: Any, **__: Any) -> None:
        self._return_errcode_raw(builder, _FAILED)

    def return_dynamic_user_exc(self, builder: Any, *_: Any, **__: Any) -> None:
        self._return_errcode_raw(builder, _FAILED)

    def return_exc(self, builder: Any) -> None:
        self._return_errcode_raw(builder, _FAILED)

    def set_static_user_exc(self, builder: Any, *_: Any, **__: Any) -> None:
        pass

    def _make_call_helper(self, builder: Any) -> _CallHelper:
        return _CallHelper()


class TypingContext(typing.BaseContext):  # type: ignore[misc]
    """The functions that kernels may call, and the types of their results."""

    def load_additional_registries(self) -> None:
        """Declare these functions (numba's protocol)."""
        self.install_registry(declarations)
        for name in _TYPING:
            self.install_registry(importlib.import_module(f"numba.core.typing.{name}").registry)

    def resolve_value_type(self, val: Any) -> Any:
        """The type of a global, or of what the function captures."""
        known = next(filter(None, (type_of(val) for type_of in value_types)), None)
        return super().resolve_value_type(val) if known is None else known

    def resolve_getattr(self, typ: Any, attr: str) -> Any:
        """The type of an attribute; members of kernel_api's enumerations are constants."""
        if isinstance(typ, types.IntEnumClass) and typ.instance_class.__module__ == kernel_names.__name__:
            return types.IntegerLiteral(int(typ.instance_class[attr]))
        if isinstance(typ, types.Module):
            try:
                getattr(typ.pymod, attr)
            except AttributeError as error:
                plain = str(error).startswith("module ")  # Python's own words
                raise errors.TypingError(f"{typ.pymod.__name__} has no {attr}" if plain else str(error)) from None
        return super().resolve_getattr(typ, attr)


class TargetContext(BaseContext):  # type: ignore[misc]
    """The lowering of typed kernels to LLVM IR."""

    implement_powi_as_math_call = True
    strict_alignment = True
    allow_dynamic_globals = False
    error_model = None
    enable_boundscheck = False

    def __init__(self, typing_context: TypingContext, target: str = NAME) -> None:
        super().__init__(typing_context, target)
        self.data_model_manager = device_models

    def init(self) -> None:
        """Make what is needed before anything is compiled (numba's protocol)."""
        self.address_size = 64
        self._codegen = _Codegen()

    def codegen(self) -> _Codegen:
        """Makes modules (numba's protocol)."""
        return self._codegen

    @property
    def target_data(self) -> Any:
        """Sizes of LLVM's types."""
        return self._codegen.target_data

    def create_module(self, name: str) -> Any:
        """An empty module."""
        return self._codegen._create_empty_module(name)

    @functools.cached_property
    def call_conv(self) -> _CallConvention:
        """The calling convention of functions."""
        return _CallConvention(self)

    def load_additional_registries(self) -> None:
        """Take numba's implementations, and ours (numba's protocol)."""
        for name in _LOWERING:
            module = importlib.import_module(name)
            if hasattr(module, "registry"):  # others register with numba itself
                self.install_registry(module.registry)
        self.install_registry(implementations)

    def refresh(self) -> None:
        """Take what was declared since, and what stands in for numba's own after it (numba's protocol)."""
        super().refresh()
        self.install_registry(replacements)

    def get_ufunc_info(self, key: Any) -> Any:
        """Numba's loops of a numpy function."""
        from numba.np import ufunc_db

        return {types_: LOOPS.get(loop.__name__, loop) for types_, loop in ufunc_db.get_ufunc_info(key).items()}

    def declare_env_global(self, module: Any, envname: str) -> Any:
        """Numba's environment of a function, which no device code reads: a null in global memory."""
        if envname not in module.globals:
            variable = ir.GlobalVariable(module, cgutils.voidptr_t, name=envname, addrspace=1)
            variable.linkage, variable.initializer = "internal", ir.Constant(cgutils.voidptr_t, None)
        return module.globals[envname]

    def declare_function(self, module: Any, fndesc: Any) -> Any:
        """Declare a function that is inlined wherever it is called."""
        function = super().declare_function(module, fndesc)
        function.calling_convention = SPIR_FUNC
        function.attributes.add("alwaysinline")
        function.attributes.add("nounwind")
        return function

    def _compile_subroutine_no_cache(
        self, builder: Any, impl: Any, sig: Any, locals: Any = None, flags: Any = None
    ) -> Any:
        """Compile a part of a function by the function's own error model (numba's has the one of Python)."""
        if flags is None:
            flags = Flags()
            flags.error_model = ConfigStack().top().error_model
        return super()._compile_subroutine_no_cache(builder, impl, sig, locals, flags)

    def build_list(self, *_: Any) -> Any:
        """Refuse it (numba's protocol)."""
        raise errors.LoweringError("it makes a list")

    def build_set(self, *_: Any) -> Any:
        """Refuse it (numba's protocol)."""
        raise errors.LoweringError("it makes a set")

    def build_map(self, *_: Any) -> Any:
        """Refuse it (numba's protocol)."""
        raise errors.LoweringError("it makes a dict")

    def call_function_hook(self) -> None:
        """Do nothing (numba's protocol)."""

    def create_cpython_wrapper(self, *_: Any, **__: Any) -> None:
        """Do nothing: the host does not call kernels."""

    def create_cfunc_wrapper(self, *_: Any, **__: Any) -> None:
        """Do nothing: the host does not call kernels."""

    def get_executable(self, library: Any, fndesc: Any, env: Any) -> None:
        """Do nothing: the host does not call kernels."""

    def make_constant_array(self, builder: Any, typ: Any, ary: Any) -> Any:
        """An array that a kernel captures: its values, in the module."""
        values = np.ascontiguousarray(ary)
        element = self.get_data_type(typ.dtype)
        constants = [self.get_constant_generic(builder, typ.dtype, value.item()) for value in values.ravel()]
        if isinstance(typ.dtype, types.Boolean):
            constants = [ir.Constant(element, int(value)) for value in values.ravel()]
        data = ir.Constant(ir.ArrayType(element, values.size), constants)
        variable = cgutils.add_global_variable(builder.module, data.type, ".const.array", addrspace=typ.addrspace)
        variable.linkage, variable.global_constant, variable.initializer = "internal", True, data
        array = self.make_array(typ)(self, builder)
        self.populate_array(
            array,
            data=builder.bitcast(variable, array.data.type),
            shape=[self.get_constant(types.intp, extent) for extent in values.shape],
            strides=[self.get_constant(types.intp, stride) for stride in values.strides],
            itemsize=self.get_constant(types.intp, values.itemsize),
            meminfo=None,
            parent=ir.Constant(array.parent.type, None),
        )
        return array._getvalue()


class _Descriptor(TargetDescriptor):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(NAME)

    @functools.cached_property
    def typing_context(self) -> TypingContext:
        """The one typing context."""
        return TypingContext()

    @functools.cached_property
    def target_context(self) -> TargetContext:
        """The one lowering context."""
        return TargetContext(self.typing_context)


target = _Descriptor()
