"""Vector access: several neighbouring elements of an array with one wide memory instruction.

``a, b, c, d = vector.load4(x, i)`` reads ``x[i]`` to ``x[i + 3]``; ``vector.store4(y, i, a, b, c, d)`` writes them, and
takes one tuple of four as well. numba-dpex 0.23 has nothing of the kind. A load becomes ``OpLoad`` of a SPIR-V vector,
a store ``OpStore``, each with an ``Aligned`` operand; the GPU's compiler makes one message of as much as the hardware
allows (float32: 4 elements on Xe-HPG, 8 on Xe-HPC). None of these functions is collective.

Arrays: contiguous (layout C), in global memory or a LocalAccessor, of int8 to int64, uint8 to uint64, float32, and
float16 or float64 where the device has them. The index is that of the first element, counted in elements: an integer,
or for an array of more dimensions a tuple, whose last part runs along the row. It must not be negative, and the last
element must exist.

**Alignment.** In global memory ``loadN`` and ``storeN`` promise the compiler that the first element's address is a
multiple of ``min(N * itemsize, 64)`` bytes. Breaking the promise is undefined behaviour, anything between nothing and a
crash. It holds if the array starts at such an address and the (last) index is a multiple of N; in more dimensions, rows
must be a multiple of N long, too. dpnp and dpctl allocate at multiples of 64 bytes, but a view such as ``x[1:]`` starts
elsewhere. What is checked: a constant index, when the kernel is compiled; an array before a launch, by
:func:`check_alignment`; every index in simulation. ``loadN_unaligned`` and ``storeN_unaligned`` promise no more than
any element has and take any index; on Intel GPUs they are as wide for elements of 4 and 8 bytes, but may be several
messages for narrower ones. In a LocalAccessor the multiple is ``min(N * itemsize, 16)`` bytes. It starts at one, since
launches round the sizes of accessors up to 16 bytes; ``numba_dpex.call_kernel`` does not round.

Misuse (another type or layout, a wrong number of values) is one line at compile time
(:class:`numba_sycl.KernelCompileError`). In numba-dpex's pure-Python simulation all functions work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate

from numba_sycl.code_generation import device_function
from numba_sycl.code_generation.device_function import DeviceFunction, P, R, Typer, alignment, generators
from numba_sycl.errors import ArgumentError
from numba_sycl.signature import as_usm_array

__all__ = [
    "WIDTHS",
    "alignment",
    "check_alignment",
    "load2",
    "load2_unaligned",
    "load4",
    "load4_unaligned",
    "load8",
    "load8_unaligned",
    "load16",
    "load16_unaligned",
    "store2",
    "store2_unaligned",
    "store4",
    "store4_unaligned",
    "store8",
    "store8_unaligned",
    "store16",
    "store16_unaligned",
]

#: The numbers of elements that a vector may have.
WIDTHS = (2, 4, 8, 16)


def check_alignment(array: Any, width: int) -> None:
    """Check before a launch that aligned access of *width* elements is allowed to an array (called on the host).

    Args:
        array: a dpnp array, ``dpctl.tensor.usm_ndarray`` or numpy array.
        width: 2, 4, 8 or 16.

    Raises:
        numba_sycl.errors.ArgumentError: the array's first element or one of its rows does not start at a
            multiple of ``min(width * itemsize, 64)`` bytes, or it is not contiguous.
    """
    if width not in WIDTHS:
        raise ArgumentError(f"width is {width}, but a vector has 2, 4, 8 or 16 elements")
    if not array.flags.c_contiguous:
        raise ArgumentError("vector access needs a contiguous array: copy the view first")
    step = alignment(array.itemsize, width)
    address = _address(array)
    if address % step:
        raise ArgumentError(
            f"vector access of {width} elements needs an array that starts at a multiple of {step} bytes, and this one "
            f"is {address % step} bytes beyond one: copy the view, or use the unaligned form"
        )
    if array.ndim > 1 and array.shape[-1] % width:
        raise ArgumentError(
            f"vector access of {width} elements needs rows of a multiple of {width} elements, and these have "
            f"{array.shape[-1]}: pad them, or use the unaligned form"
        )


def _address(array: Any) -> int:
    usm_array = as_usm_array(array)
    return int(array.ctypes.data if usm_array is None else usm_array._pointer)


def _load(width_and_multiple: tuple[int, int], array: Any, index: int | tuple[int, ...]) -> tuple[Any, ...]:
    """A tuple of the {width} elements from ``array[index]`` on; *index* {rule} (``OpLoad``)."""
    return device_function.load(array, index, *width_and_multiple)


def _store(width_and_multiple: tuple[int, int], array: Any, index: int | tuple[int, ...], *values: Any) -> None:
    """Store {width} values or one tuple from ``array[index]`` on; *index* {rule} (``OpStore``)."""
    device_function.store(array, index, values, *width_and_multiple)


def _of_width(
    template: Callable[Concatenate[Any, P], R], typer: Callable[..., Typer], width: int, *, aligned: bool
) -> DeviceFunction[P, R]:
    multiple, rule, suffix = (width, f"is a multiple of {width}", "") if aligned else (1, "may be any", "_unaligned")
    name = f"{template.__name__[1:]}{width}{suffix}"
    return DeviceFunction.variant(
        template, (width, multiple), typer(width, aligned=aligned), name, width=width, rule=rule
    )


load2, load4, load8, load16 = (_of_width(_load, generators.load, width, aligned=True) for width in WIDTHS)
store2, store4, store8, store16 = (_of_width(_store, generators.store, width, aligned=True) for width in WIDTHS)
load2_unaligned, load4_unaligned, load8_unaligned, load16_unaligned = (
    _of_width(_load, generators.load, width, aligned=False) for width in WIDTHS
)
store2_unaligned, store4_unaligned, store8_unaligned, store16_unaligned = (
    _of_width(_store, generators.store, width, aligned=False) for width in WIDTHS
)
