"""The signature for which a kernel is compiled, which has no queue, and what a kernel compiled for it hands on.

numba-dpex compiles a kernel again for every queue and kind of USM, because both are part of its types. The
code does not depend on them (but for 64-bit atomics, which are checked), so a ``Signature`` leaves them out and
one compilation serves all queues.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from numba_sycl.errors import ArgumentError, IndexSpaceError, KernelError, SubmissionError
from numba_sycl.kernel_api import LocalAccessor, NdRange, Range
from numba_sycl.kernel_options import KernelOptions
from numba_sycl.spirv_module import without_assumptions
from numba_sycl.sycl_types import Device, UsmArray
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


class OtherParameter(ABC):
    """A parameter of a kernel that is not Python; such kernels are of a program that is built on this package.

    Attributes:
        dtype: dtype name of its elements, or None.
    """

    dtype: str | None

    @abstractmethod
    def lay_out(self, slots: Any) -> None:
        """Add what it is to the `numba_sycl.launch.Slots` of a kernel."""

    @abstractmethod
    def take(
        self, block: Any, values: list[Any], pointers: list[int], position: int, value: Any
    ) -> Sequence[tuple[int, ...]]:
        """Add an argument to the values and pointers of a launch; gives the shape of its local memory in bytes, if any.

        Raises:
            ArgumentError: it does not fit.
        """


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
    arguments: tuple[ArgumentType | OtherParameter, ...]
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


def name_of(kernel: Any) -> str:
    """A kernel's name, as its source has it."""
    name: str = kernel.name if isinstance(kernel, OtherKernel) else kernel.py_func.__name__
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
    if isinstance(kernel, OtherKernel):
        return kernel.signature_of(index_space, args)
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
        raise needs_groups(name)
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


def needs_groups(name: str) -> IndexSpaceError:
    """The error to raise for local memory without work-groups."""
    return IndexSpaceError(f"kernel {name} has a LocalAccessor, which needs an NdRange with a work-group size")


@dataclass(frozen=True, eq=False)
class CompiledKernel:
    """A kernel, for every device.

    Attributes:
        name: the kernel's name in its code.
        spirv: the module.
        options: the kernel's options.
        signature: index space and argument types that it was compiled for.
        stages: time of each stage in ns: "typing" (numba's typing and lowering) and "translate" (LLVM to SPIR-V);
            when ``cached``, "typing" alone, the time that finding it took; nothing for what is not Python.
        cached: True if no compiler ran: it came from disk or was compiled earlier in this process.
        compiler: compiler that made it, with versions; empty for kernels that are not Python.
        llvm_ir: the LLVM IR that was translated; None when it came from disk.
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
    narrow: bytes = field(default=b"", repr=False)
    limit: int = 0
    bounded: bool = False

    #: What may be wrong where the runtime refuses a launch.
    doubt: ClassVar[str] = ""

    @property
    def narrowed(self) -> CompiledKernel:
        """The kernel with index arithmetic in 32 bits; itself where there is none."""
        return replace(self, spirv=self.narrow, narrow=b"", bounded=True) if self.narrow else self

    @property
    def language(self) -> str:
        """The language of its code: "spirv" or "opencl"."""
        return "spirv"

    @property
    def code(self) -> bytes:
        """The module, or the text in OpenCL C."""
        return self.spirv

    def code_for(self, device: Device, flags: tuple[str, ...]) -> tuple[bytes, str, tuple[str, ...]]:
        """The parts of a kernel for a device's driver: the code, its language, and the flags that apply."""
        return self.code if "intel" in device.vendor.lower() else without_assumptions(self.code), "spirv", flags

    def miscounted(self, taken: int, stated: int) -> KernelError:
        """The error to raise for code that takes another number of flattened arguments than its signature has."""
        return SubmissionError(
            f"kernel {self.name} was built with {taken} flattened arguments, its signature has {stated}"
        )

    @cached_property
    def sha256(self) -> str:
        """The hash of ``code``, hexadecimal; the same source gives the same bytes."""
        return hashlib.sha256(self.code).hexdigest()


class OtherKernel(ABC):
    """A kernel that is not Python, of a program that is built on this package.

    Attributes:
        name: name of the kernel in its source.
    """

    name: str

    @abstractmethod
    def signature_of(self, index_space: Any, args: Sequence[Any]) -> Signature:
        """The signature of a launch.

        Raises:
            ArgumentError: wrong number of arguments, or one that does not fit.
            IndexSpaceError: not an index space, or local memory without work-groups.
        """

    @abstractmethod
    def compiled(self, signature: Signature, cache: Any) -> CompiledKernel:
        """Its code for a signature, found in a `numba_sycl.spirv_cache.SpirvCache` or kept there."""
