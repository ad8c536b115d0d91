"""What the code generators accept, how they refuse it (:class:`Misuse`), and what numba sees of their functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeVar

from numba.core import errors, types
from numba.core.datamodel import models

from xebench.dpex.kernel_api import AddressSpace
from xebench.system.runtime.packages import is_current

# what numba calls the things of a kernel, by the compiler of this stack: numba-dpex, or our own target
if TYPE_CHECKING or not is_current():
    from numba_dpex.core.descriptor import dpex_kernel_target as target
    from numba_dpex.core.types import USMNdArray as DeviceArray
    from numba_dpex.kernel_api_impl.spirv.target import SPIRVTypingContext as TypingContext

    own_models = target.target_context.data_model_manager
else:
    from xebench.dpex.code_generation.context import TypingContext, target
    from xebench.dpex.code_generation.device_types import DeviceArray, own_models

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
        given: its numba type.
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
        given: its numba type.
        dtypes: the element types that the function takes.
        spaces: the address spaces that it takes.
        contiguous: whether neighbouring indices must be neighbours in memory (layout C).
        writable: whether the function writes to it.

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
        given: its numba type.
        members: the enumeration; members that no instruction has end in UNSUPPORTED.
        default: where nothing is given.

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
        super().__init__(name=f"xebench.dpex.{label}")

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
        if signature.args not in self._lowerings:
            self._lowerings[signature.args] = lowering
            target.target_context.insert_func_defn([(lowering, lowering, signature.args)])
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
