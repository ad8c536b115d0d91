"""numba's types of kernel arguments and items, and how LLVM represents them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

from llvmlite import ir
from numba.core import datamodel, types
from numba.core.datamodel import models
from numba.core.imputils import Registry
from numba.core.typeconv import Conversion
from numba.core.typing import Signature as NumbaSignature
from numba.core.typing.templates import Registry as Declarations
from numba.np import numpy_support

from numba_sycl.compiler_messages import beginning
from numba_sycl.errors import KernelCompileError, OptionError, TextSignature
from numba_sycl.kernel_names import AddressSpace
from numba_sycl.signature import ArgumentType, ArrayType, LocalType, ScalarType, Signature

#: Types of attributes and methods.
declarations: Final = Declarations()
#: How calls become LLVM IR.
implementations: Final = Registry("numba_sycl")
#: Give the type of a global or captured value that numba has no type for; None for others.
value_types: Final[list[Callable[[Any], Any]]] = []
#: The number of bits of a float, as LLVM has it.
_FLOATS: Final = {16: ir.HalfType(), 32: ir.FloatType(), 64: ir.DoubleType()}


class DevicePointer(types.CPointer):  # type: ignore[misc]
    """A pointer in an address space."""

    def __init__(self, dtype: Any, space: int) -> None:
        self.space = int(space)
        super().__init__(dtype)
        self.name = f"{dtype}* in {AddressSpace(space).name.lower()} memory"

    @property
    def key(self) -> Any:
        """Key by which types are compared."""
        return self.dtype, self.space


class DeviceArray(types.Array):  # type: ignore[misc]
    """An array in an address space.

    Args:
        dtype: numba type of its elements.
        ndim: its dimensions.
        layout: C, F or A.
        space: `AddressSpace`.
        readonly: True if it cannot be written.
        atomic64: True if the device of global memory has 64-bit atomics.
    """

    def __init__(
        self,
        dtype: Any,
        ndim: int,
        layout: str,
        space: int = AddressSpace.GLOBAL,
        *,
        readonly: bool = False,
        atomic64: bool = True,
    ) -> None:
        self.addrspace, self.atomic64 = int(space), atomic64
        words = f"{'read-only ' if readonly else ''}array({dtype}, {ndim}d, {layout}) in "
        super().__init__(dtype, ndim, layout, readonly=readonly, name=words + AddressSpace(space).name.lower())

    @property
    def queue(self) -> SimpleNamespace:
        """Facts about the device, in the form of numba-dpex's array types."""
        return SimpleNamespace(device_has_aspect_atomic64=self.atomic64)

    @property
    def key(self) -> Any:
        """Key by which types are compared."""
        return self.dtype, self.ndim, self.layout, self.mutable, self.addrspace, self.atomic64

    @property
    def mangling_args(self) -> tuple[str, list[Any]]:
        """The parts of the type that appear in the names of functions."""
        return "DeviceArray", [self.dtype, self.ndim, self.layout, self.addrspace]

    def copy(
        self, dtype: Any = None, ndim: int | None = None, layout: str | None = None, readonly: bool | None = None
    ) -> DeviceArray:
        """The type with some of these values changed: a view, in the same memory."""
        return DeviceArray(
            self.dtype if dtype is None else dtype,
            self.ndim if ndim is None else ndim,
            self.layout if layout is None else layout,
            self.addrspace,
            readonly=not self.mutable if readonly is None else readonly,
            atomic64=self.atomic64,
        )

    def unify(self, typingctx: Any, other: Any) -> DeviceArray | None:
        """The type of what is one or the other; None: there is none, as for two address spaces."""
        if not self._is_like(other):
            return None
        layout = self.layout if self.layout == other.layout else "A"
        return self.copy(layout=layout, readonly=not (self.mutable and other.mutable))

    def can_convert_to(self, typingctx: Any, other: Any) -> Conversion | None:
        """Allow a conversion to an array of any layout, or one that cannot be written (numba's protocol)."""
        fits = self._is_like(other) and other.layout in ("A", self.layout) and (self.mutable or not other.mutable)
        return Conversion.safe if fits else None

    def _is_like(self, other: Any) -> bool:
        return isinstance(other, DeviceArray) and all(
            getattr(self, name) == getattr(other, name) for name in ("ndim", "dtype", "addrspace")
        )


class IndexSpaceType(types.Type):  # type: ignore[misc]
    """The type of a kernel's first argument, the item, and of its work-group: a kind and the number of dimensions.

    Args:
        ndim: dimensions of the index space.
    """

    def __init__(self, ndim: int) -> None:
        self.ndim = ndim
        super().__init__(f"{type(self).__name__.removesuffix('Type')}<{ndim}>")


class ItemType(IndexSpaceType):
    """``Item``: a work-item of a ``Range``."""


class NdItemType(IndexSpaceType):
    """``NdItem``: a work-item of an ``NdRange``."""


class GroupType(IndexSpaceType):
    """``Group``: a work-group."""


class AtomicRefType(types.Type):  # type: ignore[misc]
    """``AtomicRef``: an element with an order and a scope."""

    def __init__(self, dtype: Any, space: int, order: int, scope: int) -> None:
        self.dtype, self.space, self.order, self.scope = dtype, int(space), order, scope
        super().__init__(f"AtomicRef({dtype}, {AddressSpace(space).name.lower()}, {order}, {scope})")


class _PointerModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, of: DevicePointer) -> None:
        element = manager.lookup(of.dtype).get_data_type()
        super().__init__(manager, of, ir.PointerType(element, addrspace=of.space))


class _ArrayModel(models.StructModel):  # type: ignore[misc]
    """numba's own, but for the pointer's address space."""

    def __init__(self, manager: Any, of: DeviceArray) -> None:
        extents = types.UniTuple(types.intp, of.ndim)
        members = [
            ("meminfo", types.MemInfoPointer(of.dtype)),
            ("parent", types.pyobject),
            ("nitems", types.intp),
            ("itemsize", types.intp),
            ("data", DevicePointer(of.dtype, of.addrspace)),
            ("shape", extents),
            ("strides", extents),
        ]
        super().__init__(manager, of, members)


class _AtomicRefModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, of: AtomicRefType) -> None:
        super().__init__(manager, of, [("ref", DevicePointer(of.dtype, of.space))])


class _FloatModel(models.PrimitiveModel):  # type: ignore[misc]
    """Half precision is a number here; numba's own holds it as an integer."""

    def __init__(self, manager: Any, of: Any) -> None:
        super().__init__(manager, of, _FLOATS[of.bitwidth])


class NothingModel(models.PrimitiveModel):  # type: ignore[misc]
    """A value that holds nothing: a byte, which the optimizer drops."""

    def __init__(self, manager: Any, of: Any) -> None:
        super().__init__(manager, of, ir.IntType(8))


own_models = datamodel.DataModelManager()
own_models.register(DevicePointer, _PointerModel)
own_models.register(DeviceArray, _ArrayModel)
own_models.register(AtomicRefType, _AtomicRefModel)
own_models.register(types.Float, _FloatModel)
for _type in (ItemType, NdItemType, GroupType):
    own_models.register(_type, NothingModel)
#: How every type is represented on a device.
device_models = own_models.chain(datamodel.default_manager)
#: The value of what holds nothing.
NOTHING: Final = ir.Constant(ir.IntType(8), 0)


def parsed(given: Any) -> tuple[NumbaSignature, ...]:
    """Numba's signatures; a result's type that was not given is None.

    Args:
        given: a tuple of numba types, numba's signature, or a list of these.

    Raises:
        OptionError: it is something else.
    """
    several = given if isinstance(given, list) else [given]
    if any(isinstance(one, str) for one in several):
        raise TextSignature("signatures as text are not supported: give tuples of types")
    if not all(isinstance(one, tuple | NumbaSignature) for one in several):
        raise OptionError(f"{given}: a signature is a tuple of types, so one argument is written (type,)")
    return tuple(one if isinstance(one, NumbaSignature) else NumbaSignature(None, one, None) for one in several)


def kernel_signature(function: Callable[..., None], given: NumbaSignature) -> Signature:
    """The signature that a kernel is compiled for.

    Raises:
        KernelCompileError: it has a result.
        OptionError: a type that no argument of a kernel has.
    """
    if given.return_type not in (None, types.none):
        raise KernelCompileError(function.__name__, beginning(function), f"{given}: a kernel returns nothing")
    item, *rest = given.args if given.args and isinstance(given.args[0], IndexSpaceType) else (None, *given.args)
    arguments = tuple(map(_argument, rest))
    if item is None:
        return Signature("", 1, arguments)
    return Signature("Item" if isinstance(item, ItemType) else "NdItem", item.ndim, arguments)


def _argument(given: Any) -> ArgumentType:
    if isinstance(given, DeviceArray):
        dtype = str(numpy_support.as_dtype(given.dtype))
        local = given.addrspace == AddressSpace.LOCAL
        return LocalType(dtype, given.ndim) if local else ArrayType(dtype, given.ndim, given.layout)
    if isinstance(given, types.Number | types.Boolean):
        return ScalarType(str(numpy_support.as_dtype(given)))
    raise OptionError(f"{given} is no type of a kernel's argument: use usm_ndarray, numbers and bool")
