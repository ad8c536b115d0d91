"""What the code generators accept, and the one way in which they refuse: :class:`Misuse`."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any, TypeVar

from numba.core import types

from xebench.dpex.kernel_api import AddressSpace
from xebench.dpex.target_base.of_stack import DeviceArray

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
