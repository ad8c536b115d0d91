"""Checks of the code generators' arguments, their error (:class:`Misuse`), and the functions' types for numba."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeVar

from llvmlite import ir
from numba.core import cgutils, errors, types
from numba.core.datamodel import models
from numba.core.target_extension import dispatcher_registry, get_local_target

from numba_sycl.kernel_api import AddressSpace
from numba_sycl.stacks import is_current

# what numba calls the things of a kernel, by the compiler of this stack: numba-dpex, or our own target
if TYPE_CHECKING or not is_current():
    from numba_dpex.core.descriptor import dpex_kernel_target
    from numba_dpex.core.types import USMNdArray as DeviceArray
    from numba_dpex.kernel_api_impl.spirv.target import SPIRVTypingContext as TypingContext

    own_models = dpex_kernel_target.target_context.data_model_manager
else:
    from numba_sycl.code_generation.context import TypingContext
    from numba_sycl.code_generation.device_types import DeviceArray, own_models

BYTES = (types.int8, types.uint8)

SHORTS = (types.int16, types.uint16)

WORDS = (types.int32, types.uint32)

LONGS = (types.int64, types.uint64)

INTEGERS = BYTES + SHORTS + WORDS + LONGS

SINGLES = (types.float32,)

FLOATS = (*SINGLES, types.float64)

NUMBERS = (*INTEGERS, types.float16, *FLOATS)

WIDE_NUMBERS = WORDS + LONGS + FLOATS

_SPACE_NAMES = {AddressSpace.GLOBAL: "global", AddressSpace.LOCAL: "local", AddressSpace.PRIVATE: "private"}


E = TypeVar("E", bound=IntEnum)


class Misuse(Exception):
    """A call does not fit the function; the message lacks the function's name, which the caller adds."""


def one_of(what: str, given: Any, allowed: Iterable[Any]) -> Any:
    """The type of an argument without its literal value.

    Args:
        what: the argument's name.
        given: numba type of the argument.
        allowed: the types that the function takes.

    Raises:
        Misuse: *given* is none of them.
    """
    plain, choices = types.unliteral(given), list(allowed)
    if plain not in choices:
        raise Misuse(f"{what} is {plain}, but must be {alternatives([str(choice) for choice in choices])}")
    return plain


def integer(what: str, given: Any) -> Any:
    """The type of an integer argument (a lane, an index); booleans and floats are refused."""
    plain = types.unliteral(given)
    if not isinstance(plain, types.Integer):
        raise Misuse(f"{what} is {plain}, but must be an integer")
    return plain


def predicate(what: str, given: Any) -> Any:
    """The type of a condition: a boolean, or an integer that is compared with zero."""
    plain = types.unliteral(given)
    if not isinstance(plain, types.Boolean | types.Integer):
        raise Misuse(f"{what} is {plain}, but must be a boolean or an integer")
    return plain


def array(
    given: Any,
    dtypes: Iterable[Any],
    spaces: tuple[AddressSpace, ...] = (AddressSpace.GLOBAL, AddressSpace.LOCAL),
    *,
    contiguous: bool = False,
    writable: bool = False,
) -> Any:
    """Check an array argument.

    Args:
        given: numba type of the argument.
        dtypes: the element types that the function takes.
        spaces: the address spaces that it takes.
        contiguous: True if neighbouring indices must be neighbours in memory (layout C).
        writable: True if the function writes to it.

    Raises:
        Misuse: the array does not fit.
    """
    if not isinstance(given, DeviceArray):
        raise Misuse(f"array is {given}, but must be a dpnp array, a usm_ndarray or a LocalAccessor")
    one_of("the array's dtype", given.dtype, dtypes)
    if given.addrspace not in spaces:
        space = _SPACE_NAMES.get(given.addrspace, str(given.addrspace))
        allowed = alternatives([_SPACE_NAMES[allowed] for allowed in spaces])
        raise Misuse(f"array is in {space} memory, but must be in {allowed} memory")
    if contiguous and given.layout != "C":
        raise Misuse(f"array has layout {given.layout}, but its elements must be contiguous (layout C)")
    if writable and not given.mutable:
        raise Misuse("array is read-only")
    return given


def indices(array_type: Any, given: Any) -> tuple[Any, ...]:
    """The types of an index: one integer for a 1-D array, a tuple of as many integers as there are dimensions."""
    parts = tuple(given.types) if isinstance(given, types.BaseTuple) else (given,)
    if len(parts) != array_type.ndim:
        raise Misuse(f"index has {len(parts)} part(s), but the array has {array_type.ndim} dimension(s)")
    return tuple(integer("index", part) for part in parts)


def literal(what: str, given: Any, kind: type) -> Any:
    """The value of an argument that has to be a compile-time constant."""
    if not isinstance(given, types.Literal) or not isinstance(given.literal_value, kind):
        raise Misuse(f"{what} is {given}, but must be a literal: the instruction depends on it")
    return given.literal_value


def choice(what: str, given: Any, members: type[E], default: E) -> E:
    """The member of an enumeration that an argument names; numba passes it as an integer literal.

    Args:
        what: the argument's name.
        given: numba type of the argument.
        members: the enumeration; members that no instruction has end in UNSUPPORTED.
        default: member to use without an argument.

    Raises:
        Misuse: it is no literal, or names no member.
    """
    if isinstance(given, types.NoneType):
        return default
    value = given.value if isinstance(given, types.Omitted) else literal(what, given, int)
    allowed = [member for member in members if not member.name.endswith("UNSUPPORTED")]
    for member in allowed:
        if member.value == value:
            return member
    raise Misuse(f"{what} is {value}, but must be {alternatives([member.name for member in allowed])}")


def alternatives(names: list[str]) -> str:
    """The names as "a, b or c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


class DeviceFunctionType(types.Callable, types.Opaque):  # type: ignore[misc]
    """The type of one device function: what numba sees of it.

    numba's own ``@intrinsic`` would do, but wraps an error into a page of candidates, and tries every call twice.
    """

    def __init__(
        self, label: str, python_signature: inspect.Signature, typer: Callable[..., tuple[Any, Callable[..., Any]]]
    ) -> None:
        self._label = label
        self._python_signature = python_signature
        self._typer = typer
        self._lowerings: dict[tuple[Any, ...], Callable[..., Any]] = {}
        self._inserted: set[tuple[Any, tuple[Any, ...]]] = set()
        super().__init__(name=f"numba_sycl.{label}")

    def get_call_type(self, context: Any, args: Iterable[Any], kws: Mapping[str, Any]) -> Any:
        """Type one call (numba's protocol).

        Raises:
            numba.core.errors.TypingError: with one line that names the function, the offending type and what
                is allowed.
        """
        if not isinstance(context, TypingContext):
            raise errors.TypingError(f"{self._label} can only be called in a kernel or device function")
        try:
            signature, lowering = self._typer(*self._bind(context, args, kws))
        except Misuse as error:
            raise errors.TypingError(f"{self._label}: {error}") from None
        known = self._lowerings.setdefault(signature.args, lowering)
        target = get_local_target(context)  # two of them type calls beside numba-dpex
        if (target, signature.args) not in self._inserted:
            self._inserted.add((target, signature.args))
            target_context = dispatcher_registry[target].targetdescr.target_context
            target_context.insert_func_defn([(known, known, signature.args)])
        return signature.replace(pysig=self._python_signature)

    def get_call_signatures(self) -> tuple[list[Any], bool]:
        """No fixed signatures: the types decide (numba's protocol)."""
        return [], True

    def get_impl_key(self, sig: Any) -> Any:
        """The key under which the lowering of *sig* was registered (numba's protocol)."""
        return self._lowerings[sig.args]

    def _bind(self, context: Any, args: Iterable[Any], kws: Mapping[str, Any]) -> list[Any]:
        """The types of all parameters in order; a variable-length one becomes a tuple type."""
        try:
            bound = self._python_signature.bind(*args, **kws)
        except TypeError as error:
            raise Misuse(f"{error}; its signature is {self._python_signature}") from None
        return [self._parameter_type(context, bound, p) for p in self._python_signature.parameters.values()]

    @staticmethod
    def _parameter_type(context: Any, bound: inspect.BoundArguments, parameter: inspect.Parameter) -> Any:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            return types.Tuple(bound.arguments.get(parameter.name, ()))
        if parameter.name in bound.arguments:
            return bound.arguments[parameter.name]
        default = parameter.default
        return types.literal(default) if isinstance(default, bool) else context.resolve_value_type(default)


own_models.register(DeviceFunctionType, models.OpaqueModel)


def index_signature(array_type: Any, given: Any) -> tuple[Any, Any]:
    """The index types of an element: as parts, and as the one type that stands in a signature."""
    parts = indices(array_type, given)
    return parts, types.Tuple(parts) if isinstance(given, types.BaseTuple) else parts[0]


def constant_index(given: Any) -> int | None:
    """The last part of an index if it is a compile-time constant, else None.

    Raises:
        Misuse: it is negative, which numba would not wrap around here.
    """
    last = given.types[-1] if isinstance(given, types.BaseTuple) else given
    if not isinstance(last, types.IntegerLiteral):
        return None
    value: int = last.literal_value
    if value < 0:
        raise Misuse(f"index is {value}, but must not be negative")
    return value


class StoredValues:
    """The values of a store: one value, as many arguments as elements, or one tuple of as many.

    Args:
        array_type: the array that is written.
        given: the type of the ``value`` or ``*values`` parameter.
        width: number of stored elements.

    Attributes:
        signature: the parameter's type in the signature of the call, without literals.

    Raises:
        Misuse: another number of values, or something that is no number.
    """

    def __init__(self, array_type: Any, given: Any, width: int) -> None:
        self._dtype = array_type.dtype
        arguments = tuple(given.types) if isinstance(given, types.BaseTuple) else (given,)
        self._nested = len(arguments) == 1 and isinstance(arguments[0], types.BaseTuple)
        values = tuple(arguments[0].types) if self._nested else arguments
        if len(values) != width:
            raise Misuse(f"{len(values)} value(s) given, but {width} are stored")
        self._types = tuple(types.unliteral(value) for value in values)
        for value in self._types:
            if not isinstance(value, types.Integer | types.Float | types.Boolean):
                raise Misuse(f"a value is {value}, but must be a real number")
        plain = types.Tuple(self._types)
        if self._nested:
            self.signature = types.Tuple((plain,))
        else:
            self.signature = plain if isinstance(given, types.BaseTuple) else self._types[0]

    def unpack(self, context: Any, builder: Any, argument: Any) -> list[Any]:
        """The LLVM values, converted to the array's dtype as ``array[index] = value`` does."""
        values = cgutils.unpack_tuple(builder, argument) if is_aggregate(argument) else [argument]
        if self._nested:
            values = cgutils.unpack_tuple(builder, values[0])
        return [
            context.cast(builder, value, value_type, self._dtype)
            for value, value_type in zip(values, self._types, strict=True)
        ]


def is_aggregate(value: Any) -> bool:
    return isinstance(value.type, ir.ArrayType | ir.LiteralStructType)
