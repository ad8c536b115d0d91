"""The signature for which a kernel is compiled, which has no queue, and what a kernel compiled for it hands on.

numba-dpex compiles a kernel again for every queue and kind of USM, because both are part of its types. The
code does not depend on them (but for 64-bit atomics, which are checked), so a ``Signature`` leaves them out and
one compilation serves all queues.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from numba_sycl.errors import ArgumentError, IndexSpaceError
from numba_sycl.foreign_kernel import ForeignKernel, GlobalPointer, LocalPointer, Parameter, StreamObject
from numba_sycl.kernel_api import LocalAccessor, NdRange, Range
from numba_sycl.kernel_options import KernelOptions
from numba_sycl.native_handles import Stream
from numba_sycl.sycl_types import UsmArray
from numba_sycl.tensor import usm_ndarray

_DTYPES = (
    *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("bool", "float16", "float32", "float64", "complex64", "complex128"),
)
# numpy computes a dtype's name again at each look, which would be half the cost of a launch.
_NAMES = {np.dtype(name): name for name in _DTYPES}
_SCALARS: dict[type, str] = {
    **{np.dtype(name).type: name for name in _DTYPES},
    bool: "bool",
    float: "float64",
    complex: "complex128",
}
#: What to do with a value that is no argument.
_INSTEAD: dict[type, str] = {
    tuple: "give its elements one by one",
    list: "make it an array (dpnp.asarray)",
    np.float16: "give an np.float32, or an array",
}


@dataclass(frozen=True)
class ArrayType:
    """A USM array: dtype name, number of dimensions, layout C, F or A (any strides)."""

    dtype: str
    ndim: int
    layout: str

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join([':'] * self.ndim)}]{self.layout}"


@dataclass(frozen=True)
class LocalType:
    """A LocalAccessor: dtype name, number of dimensions, and the extents of all but the first.

    By these an index becomes a place in memory, so they are constants of the code.
    """

    dtype: str
    ndim: int
    inner: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"local {self.dtype}[{','.join([':', *map(str, self.inner)])}]"


@dataclass(frozen=True)
class ScalarType:
    """A scalar passed by value: dtype name."""

    dtype: str

    def __str__(self) -> str:
        return self.dtype


ArgumentType = ArrayType | LocalType | ScalarType


@dataclass(frozen=True)
class Signature:
    """The index space and the arguments of one compilation.

    Attributes:
        item: "Item" for a ``Range``, "NdItem" for an ``NdRange``; "" for a kernel that takes none.
        ndim: dimensions of the index space, 1 to 3.
        arguments: the arguments after the item; the parameters of a kernel that is not Python.
        atomic64: whether the device of the arrays has 64-bit atomics.
    """

    item: str
    ndim: int
    arguments: tuple[ArgumentType | Parameter, ...]
    atomic64: bool = True

    def serves(self, launch: Signature) -> bool:
        """True if a kernel that names these types may be launched with those of a launch."""
        same_item = self.item == launch.item and (not launch.item or self.ndim == launch.ndim)
        return same_item and self.arguments == launch.arguments

    def __str__(self) -> str:
        item = [f"{self.item}<{self.ndim}>"] if self.item else []
        return f"({', '.join([*item, *map(str, self.arguments)])})"


def as_usm_array(value: Any) -> Any:
    """The ``usm_ndarray`` of a dpctl or dpnp array, or None for anything else."""
    if isinstance(value, usm_ndarray):
        return value
    get_array = getattr(value, "get_array", None)
    return None if get_array is None else get_array()


def _layout(array: UsmArray) -> str:
    flags = array.flags
    return "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"


def scalar_dtype(value: Any) -> str | None:
    """The dtype name of a scalar that a kernel can take, or None."""
    if type(value) is int:
        return "int64" if -(1 << 63) <= value < 1 << 63 else "uint64"
    name = _SCALARS.get(type(value))
    if name is None and isinstance(value, np.generic):
        return _NAMES.get(value.dtype)  # numpy has several types of one size, such as longlong
    return name


def argument_type(position: int, value: Any) -> ArgumentType:
    """The type of one kernel argument.

    Raises:
        ArgumentError: the value cannot be an argument; the message says what to do instead.
    """
    array = as_usm_array(value)
    if array is not None:
        return ArrayType(_NAMES[array.dtype], array.ndim, _layout(array))
    if isinstance(value, LocalAccessor):
        return LocalType(np.dtype(value._dtype).name, len(value._shape), tuple(map(int, value._shape[1:])))
    if isinstance(value, np.ndarray):
        raise ArgumentError(
            f"argument {position} is a numpy array in host memory: copy it to the device (dpnp.asarray)"
        )
    dtype = scalar_dtype(value)
    if dtype in (None, "float16"):
        takes = "a kernel takes USM arrays, numbers and LocalAccessors"
        instead = next((f": {do}" for kind, do in _INSTEAD.items() if isinstance(value, kind)), "")
        raise ArgumentError(f"argument {position} is a {type(value).__name__}: {takes}{instead}")
    return ScalarType(dtype)


def parameter_mismatch(position: int, parameter: Parameter, value: Any) -> ArgumentError | None:
    """The error to raise for a value that a kernel in OpenCL C or SPIR-V cannot take; None if it can."""
    fault = _misfit(parameter, value)
    return ArgumentError(f"argument {position} {fault}; the kernel takes {parameter}") if fault else None


def _misfit(parameter: Parameter, value: Any) -> str:
    """The reason why a value does not fit; "" if it does."""
    if isinstance(parameter, GlobalPointer):
        return _array_misfit(parameter, as_usm_array(value)) or ""
    if isinstance(parameter, StreamObject):
        return "" if isinstance(value, Stream) else f"is {_describe_value(value)}"
    if isinstance(parameter, LocalPointer):
        dtype = np.dtype(value._dtype).name if isinstance(value, LocalAccessor) else ""
        return "" if dtype and parameter.dtype in (None, dtype) else f"is {_describe_value(value)}"
    fits = type(value) is int or (type(value) is float and parameter.dtype.startswith("float"))
    return "" if fits or scalar_dtype(value) == parameter.dtype else f"is {_describe_value(value)}"


def _array_misfit(pointer: GlobalPointer, array: UsmArray | None) -> str | None:
    if array is None:
        return "is no USM array"
    if pointer.dtype not in (None, _NAMES[array.dtype]):
        return f"is an array of {_NAMES[array.dtype]}"
    return "is an array that is not contiguous" if _layout(array) == "A" else None


def _describe_value(value: Any) -> str:
    """Describe a value for the caller who passed it."""
    try:
        return str(argument_type(0, value))
    except ArgumentError:
        return f"a {type(value).__name__}"


def name_of(kernel: Any) -> str:
    """A kernel's name, as its source has it."""
    name: str = kernel.name if isinstance(kernel, ForeignKernel) else kernel.py_func.__name__
    return name


def index_space_extents(index_space: Any) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Global and local extents (None for a Range), dimension 0 first."""
    if isinstance(index_space, NdRange):
        return tuple(index_space.global_range), tuple(index_space.local_range)
    if isinstance(index_space, Range):
        return tuple(index_space), None
    raise IndexSpaceError(f"{type(index_space).__name__} is no index space: use kernel_api.Range or NdRange")


def not_a_kernel(value: Any) -> ArgumentError:
    """The error to raise for what is launched or compiled and is no kernel."""
    what = getattr(getattr(value, "py_func", value), "__name__", None) or repr(value)
    return ArgumentError(f"{what} is no kernel: give a function that is decorated with numba_dpex.kernel")


def signature_of(kernel: Any, index_space: Any, args: Sequence[Any]) -> Signature:
    """The signature of a launch.

    Raises:
        ArgumentError: no kernel, wrong number of arguments, or one of a kind that kernels do not take.
        IndexSpaceError: not an index space, or local memory without work-groups.
    """
    if isinstance(kernel, ForeignKernel):
        return _signature_of_foreign(kernel, index_space, args)
    function = getattr(kernel, "py_func", None)
    if function is None:
        raise not_a_kernel(kernel)
    name = function.__name__
    extents, local = index_space_extents(index_space)
    parameters = function.__code__.co_argcount
    if len(args) not in (parameters - 1, parameters) or (len(args) == parameters and _asks_for_item(function)):
        raise ArgumentError(f"kernel {name} takes {parameters - 1} arguments after its item, {len(args)} given")
    arguments = tuple(argument_type(position, value) for position, value in enumerate(args))
    if local is None and any(isinstance(argument, LocalType) for argument in arguments):
        raise _needs_groups(name)
    arrays = (as_usm_array(value) for value in args)
    first = next((array for array in arrays if array is not None), None)
    atomic64 = True if first is None else bool(first.sycl_device.has_aspect_atomic64)
    item = "" if len(args) == parameters else "Item" if local is None else "NdItem"
    return Signature(item, len(extents), arguments, atomic64)


def _asks_for_item(function: Any) -> bool:
    """True if its first parameter is annotated as an item; a kernel may have none."""
    first = function.__code__.co_varnames[: function.__code__.co_argcount][:1]
    annotation = function.__annotations__.get(*first) if first else None
    return str(getattr(annotation, "__name__", annotation)).rpartition(".")[2] in ("Item", "NdItem")


def _signature_of_foreign(kernel: ForeignKernel, index_space: Any, args: Sequence[Any]) -> Signature:
    extents, local = index_space_extents(index_space)
    if len(args) != len(kernel.parameters):
        takes = ", ".join(map(str, kernel.parameters)) or "none"
        raise ArgumentError(
            f"kernel {kernel.name} takes {len(kernel.parameters)} arguments ({takes}), {len(args)} given"
        )
    for position, (parameter, value) in enumerate(zip(kernel.parameters, args, strict=True)):
        error = parameter_mismatch(position, parameter, value)
        if error:
            raise ArgumentError(f"kernel {kernel.name}: {error}")
    if local is None and any(isinstance(parameter, LocalPointer) for parameter in kernel.parameters):
        raise _needs_groups(kernel.name)
    return Signature("Item" if local is None else "NdItem", len(extents), kernel.parameters)


def _needs_groups(name: str) -> IndexSpaceError:
    return IndexSpaceError(f"kernel {name} has a LocalAccessor, which needs an NdRange with a work-group size")


@dataclass(frozen=True, eq=False)
class CompiledKernel:
    """A kernel, for every device.

    Attributes:
        name: the kernel's name in its code.
        spirv: the module; empty for OpenCL C.
        options: the kernel's options.
        signature: index space and argument types that it was compiled for.
        stages: time of each stage in ns: "typing" (numba's typing and lowering) and "translate" (LLVM to SPIR-V);
            when ``cached``, "typing" alone, the time that finding it took; nothing for what is not Python.
        cached: True if no compiler ran: it came from disk or was compiled earlier in this process.
        compiler: compiler that made it, with versions; empty for kernels that are not Python.
        llvm_ir: the LLVM IR that was translated; None when it came from disk.
        foreign: kernel itself, if it is not Python.
        narrow: module with 32-bit index arithmetic; empty without one.
        limit: limit of launches that may use it (`numba_sycl.narrow.is_within`); 0 for none.
        bounded: True for that module itself.
    """

    name: str
    spirv: bytes = field(repr=False)
    options: KernelOptions
    signature: Signature
    stages: dict[str, int]
    cached: bool
    compiler: str = ""
    llvm_ir: str | None = field(default=None, repr=False)
    foreign: ForeignKernel | None = None
    narrow: bytes = field(default=b"", repr=False)
    limit: int = 0
    bounded: bool = False

    @property
    def narrowed(self) -> CompiledKernel:
        """The kernel with index arithmetic in 32 bits; itself where there is none."""
        return replace(self, spirv=self.narrow, narrow=b"", bounded=True) if self.narrow else self

    @classmethod
    def of_foreign(cls, kernel: ForeignKernel, signature: Signature) -> CompiledKernel:
        """A kernel in OpenCL C or SPIR-V, which only its driver compiles."""
        return cls(kernel.name, kernel.spirv, kernel.options, signature, {}, cached=False, foreign=kernel)

    @property
    def language(self) -> str:
        """The language of its code: "spirv" or "opencl"."""
        return "opencl" if self.foreign and self.foreign.opencl_c else "spirv"

    @property
    def code(self) -> bytes:
        """The module, or the text in OpenCL C."""
        return self.foreign.opencl_c.encode() if self.foreign and self.foreign.opencl_c else self.spirv

    @cached_property
    def sha256(self) -> str:
        """The hash of ``code``, hexadecimal; the same source gives the same bytes."""
        return hashlib.sha256(self.code).hexdigest()
