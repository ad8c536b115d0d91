"""Compare a result with the reference, such that the comparison cannot pass vacuously, and measure the distance.

Outputs are poisoned before a variant runs; every declared output must have an expected value of the same shape, at
least one element is compared, and the expected values must differ from what stood in memory before.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from numba_sycl.sycl_types import Array

#: Bits of the exponent in a 64-bit number.
_EXPONENT: Final = 0x7FF << 52
#: Elements compared at once, so that intermediate results stay small compared with the arrays.
_IN_A_STEP: Final = 1 << 18


def same_bits(one: Array, other: Array) -> bool:
    """True if two arrays have the same bits, whatever their shapes and types."""
    if one.nbytes != other.nbytes:
        return False
    word = np.int64 if one.nbytes % 8 == 0 else np.int8
    words = [np.ascontiguousarray(array).reshape(-1).view(word) for array in (one, other)]
    return np.array_equal(words[0], words[1])


def exact_parts(reference: Mapping[str, Any], expected: Mapping[str, Array]) -> dict[str, Array]:
    """The reference's arrays with a higher precision than the outputs.

    Args:
        reference: results of the pattern's reference.
        expected: results in the outputs' types.
    """
    raw = {name: np.asarray(reference[name]) for name in expected}
    return {
        name: array
        for name, array in raw.items()
        if array.dtype.kind == expected[name].dtype.kind == "f" and array.itemsize > expected[name].itemsize
    }


def largest_error_ulp(results: Mapping[str, Array], exact: Mapping[str, Array]) -> float | None:
    """The largest distance of a result from the exact one, in units in the last place of its type at that value.

    Args:
        results: arrays that a variant wrote.
        exact: see `exact_parts`.

    Returns:
        None if it is unknown: no array has a reference of more digits, or a result is not finite.
    """
    errors = [_error_ulp(results[name].reshape(-1), array.reshape(-1)) for name, array in exact.items()]
    largest = max(errors, default=math.nan)
    return largest if all(map(math.isfinite, errors)) and errors else None


def _error_ulp(actual: Array, exact: Array) -> float:
    if actual.size != exact.size:
        return math.nan
    of_type = np.finfo(actual.dtype)
    largest = 0.0
    for begin in range(0, exact.size, _IN_A_STEP):
        part = exact[begin : begin + _IN_A_STEP]
        magnitude = np.maximum(np.abs(part), of_type.tiny)  # nearer to zero a type has fewer digits
        unit = _power_of_two(magnitude) * exact.dtype.type(2.0**-of_type.nmant)
        with np.errstate(invalid="ignore"):
            errors = np.abs(actual[begin : begin + _IN_A_STEP].astype(exact.dtype) - part) / unit
        largest = float(np.maximum(largest, errors.max()))  # keeps what is not a number
    return largest


def _power_of_two(magnitude: Array) -> Array:
    """The largest power of two that is not above each of these normal numbers."""
    if magnitude.dtype == np.float64:  # its exponent alone, which is several times as fast
        return (magnitude.view(np.int64) & _EXPONENT).view(np.float64)
    return np.ldexp(magnitude.dtype.type(1), np.frexp(magnitude)[1] - 1)


#: Number of random integers to try when looking for one that the reference lacks.
_TRIES: Final = 8
#: Arrays with fewer elements are poisoned completely.
_FEW: Final = 64

#: Elements that differ by so small a part of the largest may be one number to a fair tolerance, as of `log_precision`.
NEARLY_EQUAL: Final = 0.1

#: Elements that are looked at together, and room for what is computed of them: memory that the system takes back and
#: gives again for each part would cost more than the arithmetic.
_AT_ONCE: Final = 1 << 16

_ROOM: Final = np.empty((2, _AT_ONCE))


class UnusableReference(ValueError):
    """The reference itself cannot serve: a mistake of the pattern file, not of a variant."""


def poison_for(
    expected: Array,
    source: random.Random,
    rtol: float = 0.0,
    atol: float = 0.0,
    *,
    fill: Any = None,
    not_a_number: bool = False,
    extremes: tuple[Any, Any] | None = None,
) -> Array:
    """The poison for an output before a variant writes it, chosen to differ from ``expected``.

    The poison is a random number that ``expected`` does not contain. Booleans, and outputs that are written in part,
    differ at a random half of the elements: otherwise the poison would reveal the answer.

    Args:
        expected: array that the variant must write.
        source: source of random numbers.
        rtol: relative tolerance of the comparison.
        atol: absolute tolerance of the comparison.
        fill: value of elements that variants do not write; None if they write all.
        not_a_number: True for NaN as floating-point poison, which also spoils sums. A number is used if NaN is
            expected.
        extremes: result of `extremes_of`, if known.

    Returns:
        An array of the shape and type of ``expected``; where all elements are equal it is one number, broadcast.
    """
    if expected.dtype.kind == "b":
        poison = expected ^ _random_half(expected, source)
    elif expected.dtype.kind in "fc" and not_a_number and not np.isnan(expected).any():
        poison = _everywhere(np.nan, expected)
    elif expected.dtype.kind in "fc":
        poison = _everywhere(_beyond(*(extremes or extremes_of(expected)), source, rtol, atol), expected)
    else:
        poison = _other_integers(expected, *(extremes or extremes_of(expected)), source)
    if fill is not None:
        poison = poison.copy()
        # elsewhere too, so that the poison does not mark the elements to write
        poison[(expected == np.asarray(fill, expected.dtype)) | ~_random_half(expected, source)] = fill
    return poison


def _random_half(like: Array, source: random.Random) -> Array:
    """Mark half of the elements of an array, or all of a few: a poison at all places of some types is the answer."""
    if like.size < _FEW:
        return np.ones(like.shape, bool)
    bits = np.frombuffer(source.randbytes(-(-like.size // 8)), np.uint8)
    return np.unpackbits(bits, count=like.size).view(bool).reshape(like.shape)


def _everywhere(number: Any, like: Array) -> Array:
    """An array like another that costs no memory; numbers beyond its type are infinite."""
    with np.errstate(over="ignore"):
        return np.broadcast_to(like.dtype.type(number), like.shape)


def _parts(*arrays: Array) -> Iterator[tuple[Array, ...]]:
    """Parts of arrays of one size, one after another, so small that what is computed of them stays in a cache."""
    flat = [array.reshape(-1) for array in arrays]
    for begin in range(0, flat[0].size, _AT_ONCE):
        yield tuple(array[begin : begin + _AT_ONCE] for array in flat)


def extremes_of(expected: Array) -> tuple[Any, Any]:
    """The least and the largest finite element of an array of numbers; of complex ones, by their absolute value."""
    parts = (np.abs(part) if part.dtype.kind == "c" else part for (part,) in _parts(expected))
    finite = (part[np.isfinite(part)] if part.dtype.kind == "f" else part for part in parts)
    ends = [(part.min().item(), part.max().item()) for part in finite if part.size] or [(0.0, 0.0)]
    least, largest = zip(*ends, strict=True)
    return min(least), max(largest)


def _beyond(least: float, largest: float, source: random.Random, rtol: float, atol: float) -> float:
    """A number that is further from each of these than the tolerance."""
    most = max(abs(least), abs(largest))
    return source.choice((-1, 1)) * (2 + source.random()) * (most * (1 + rtol) + atol + 1)


def _other_integers(expected: Array, least: int, largest: int, source: random.Random) -> Array:
    limits = np.iinfo(expected.dtype)
    below = least - int(limits.min)
    outside = below + int(limits.max) - largest
    if 2 * outside > limits.max:  # a fourth of all numbers, or more: no element need be looked at
        number = source.randrange(outside)
        return _everywhere(number + (int(limits.min) if number < below else largest + 1 - below), expected)
    for _ in range(_TRIES):
        number = source.randint(limits.min, limits.max)
        if not any(bool((part == number).any()) for (part,) in _parts(expected)):
            return _everywhere(number, expected)
    # nearly every value of a small type is expected somewhere, so each element gets a value other than its own
    flips = np.frombuffer(source.randbytes(expected.nbytes), expected.dtype).reshape(expected.shape)
    flipped: Array = expected ^ np.where(flips == 0, flips.dtype.type(1), flips)
    return flipped


def usable_reference(
    expected: Any,
    declared: Mapping[str, tuple[tuple[int, ...], Any]],
    initial: Mapping[str, Any],
    tolerances: Mapping[str, tuple[float, float]] = {},
) -> dict[str, Array]:
    """The reference as arrays of the declared types.

    Args:
        expected: results of the pattern's reference.
        declared: shape and dtype of every output and in-out array.
        initial: initial contents of in-out arrays and of outputs that are written in part.
        tolerances: relative and absolute tolerance by name; 0 where there is none.

    Raises:
        UnusableReference: no dictionary, wrong names or shapes, nothing to compare, no numbers or numbers of another
        kind, values that are not finite, an in-out array that stays unchanged, or tolerances so wide that one number
        passes for all elements.
    """
    wanted = ", ".join(f"{name!r}: array" for name in sorted(declared))
    if not isinstance(expected, Mapping):
        raise UnusableReference(f"the reference returned {_described(expected)}: return {{{wanted}}}")
    if set(expected) != set(declared):
        missing, extra = sorted(set(declared) - set(expected)), sorted(map(str, set(expected) - set(declared)))
        raise UnusableReference(f"the reference must return {{{wanted}}}: missing {missing}, unknown {extra}")
    arrays = {}
    for name, (shape, dtype) in declared.items():
        raw = np.asarray(expected[name])
        if raw.dtype.kind not in "biufc" or isinstance(expected[name], np.ma.MaskedArray):
            described = _described(expected[name], raw)
            raise UnusableReference(f"{name}: the reference is {described}, not an array of numbers")
        if raw.shape != shape:
            raise UnusableReference(f"{name}: the reference has shape {raw.shape}, declared is {shape}")
        if raw.size == 0:
            raise UnusableReference(f"{name}: there is no element to compare")
        if raw.dtype.kind == "c" and np.dtype(dtype).kind != "c":
            raise UnusableReference(f"{name}: the reference is {raw.dtype}, declared is {np.dtype(dtype)}")
        with np.errstate(invalid="ignore", over="ignore"):  # numbers that do not fit are refused below
            value = raw.astype(dtype)
        if value.dtype.kind in "fc" and raw.dtype.kind in "fc" and not _same_finite(value, raw):
            raise UnusableReference(f"{name}: the reference is not finite in {value.dtype}")
        if value.dtype.kind in "biu" and not bool((value == raw).all()):
            raise UnusableReference(f"{name}: the reference does not fit {value.dtype}")
        rtol, atol = tolerances.get(name, (0.0, 0.0))
        before = np.broadcast_to(np.asarray(initial[name]), shape) if name in initial else None
        if before is not None and check_array(name, before.astype(dtype), value, rtol, atol).fault is None:
            raise UnusableReference(f"{name}: expected and initial contents are equal, so the check proves nothing")
        if _one_number_passes(value, rtol, atol):
            rules = f"rtol={rtol:g}, atol={atol:g}"
            raise UnusableReference(f"{name}: one number passes for all elements by {rules}: narrow them")
        arrays[name] = value
    if not arrays:
        raise UnusableReference("the pattern declares no output, so no variant can be checked")
    return arrays


def _same_finite(value: Array, raw: Array) -> bool:
    """True if no finite number became infinite in a narrower type."""
    return bool((np.isfinite(value) == np.isfinite(raw)).all())


def _one_number_passes(expected: Array, rtol: float, atol: float) -> bool:
    """True if different elements are all so near that an output of one number would pass, or any if zero would."""
    if expected.dtype.kind not in "iuf" or rtol == atol == 0.0 or not np.isfinite(expected).all():
        return False
    least, largest = float(expected.min()), float(expected.max())
    lowest, highest = -np.inf, np.inf
    for (part,) in _parts(expected):
        allowed = _allowed(part, rtol, atol, np.float64)
        lowest, highest = max(lowest, float((part - allowed).max())), min(highest, float((part + allowed).min()))
    if largest - least <= NEARLY_EQUAL * max(abs(least), abs(largest)):
        return bool(lowest <= 0.0 <= highest) and (least, largest) != (0.0, 0.0)
    return bool(lowest <= highest)


def _described(value: Any, array: Array | None = None) -> str:
    of = f" of {array.dtype}" if array is not None and array.ndim else ""
    return "None" if value is None else f"a {type(value).__name__}{of}"


class ArrayCheck(NamedTuple):
    """The comparison of one array with its reference.

    Attributes:
        fault: why it does not equal the reference, in one line; None if it does.
        tolerance_used: the largest error as a part of what the tolerances allow at its element; 0 where all are equal.
    """

    fault: str | None
    tolerance_used: float = 0.0


def check_array(
    name: str, actual: Array, expected: Array, rtol: float, atol: float, before: Array | None = None
) -> ArrayCheck:
    """Compare a result with its reference.

    An element passes when ``|actual - expected| <= atol + rtol * |expected|``, or when both are NaN or the same
    infinity, as in `numpy.testing.assert_allclose`. The line names both tolerances.

    Args:
        name: name of the result.
        actual: result of the variant.
        expected: result of the reference.
        rtol, atol: tolerances.
        before: the poison that the array held; None if it is unknown.
    """
    if actual.shape != expected.shape:
        return ArrayCheck(f"{name}: shape {actual.shape} instead of {expected.shape}")
    if actual.dtype != expected.dtype:
        return ArrayCheck(f"{name}: dtype {actual.dtype} instead of {expected.dtype}")
    counts, largest, first = 0, 0.0, None
    for number, (mine, right) in enumerate(_parts(actual, expected)):
        used = _used(mine, right, rtol, atol)
        largest = max(largest, float(used.max()))
        wrong = used > 1.0
        if count := int(np.count_nonzero(wrong)):
            counts += count
            first = number * _AT_ONCE + int(wrong.argmax()) if first is None else first
    if first is None:
        return ArrayCheck(None, largest)
    where = tuple(int(i) for i in np.unravel_index(first, expected.shape))
    return ArrayCheck(
        f"{name}: {counts} of {expected.size} elements differ; first at {where}: {_shown(actual, before, where)} "
        f"instead of {expected[where]} (rtol={rtol:g}, atol={atol:g})",
        largest,
    )


def _shown(actual: Array, before: Array | None, where: tuple[int, ...]) -> str:
    if before is not None and actual.dtype.kind in "fc" and before[where].tobytes() == actual[where].tobytes():
        return "it was not written, or added to,"
    return str(actual[where])


def _used(actual: Array, expected: Array, rtol: float, atol: float) -> Array:
    """The error of each element of a part as a part of what is allowed there; infinity where that is passed by NaN."""
    different: Array = np.asarray(actual != expected)
    if different.any() and expected.dtype.kind in "fc":
        different &= ~(np.isnan(actual) & np.isnan(expected))
    if not different.any():
        return np.zeros(1)
    if rtol == atol == 0.0:
        return np.where(different, np.inf, 0.0)
    wide = np.result_type(expected.dtype, np.float64)
    gap, allowed = _ROOM[:, : actual.size] if wide == _ROOM.dtype else (None, None)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        gap = np.abs(np.subtract(actual, expected, out=gap, dtype=wide), out=gap)
        used = gap / _allowed(expected, rtol, atol, wide, allowed)
    used[~different] = 0.0
    return np.asarray(np.nan_to_num(used, copy=False, nan=np.inf, posinf=np.inf))


def _allowed(expected: Array, rtol: float, atol: float, wide: Any, room: Array | None = None) -> Array:
    """The gap that passes at each element, of type ``wide``."""
    gap: Array = np.abs(np.multiply(expected, rtol, out=room, dtype=wide), out=room)
    return np.add(gap, atol, out=room)
