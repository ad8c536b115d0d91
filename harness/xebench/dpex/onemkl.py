"""Functions of oneMKL that dpnp does not hand on, called by the names that its library has for C++.

They submit to the queue of their arrays and return at once, as oneMKL's own do: arrays must live until it is over.
``session.call`` times them. Real numbers in single precision, which every device has. An exception of C++ would end
the process here, so a device is first tried by a product of dpnp, whose exceptions are Python's.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any, Final

import dpnp

from xebench.dpex.dpctl_library import event_delete
from xebench.dpex.native_handles import new_object
from xebench.dpex.signature import as_usm_array
from xebench.errors import Unsupported
from xebench.runtime import libraries

__all__ = ["axpy", "gemm"]

_BLAS: Final = "_ZN6oneapi3mkl4blas"
_EVENTS: Final = "RKSt6vectorINS4_5eventESaIS{}_EE"
_AXPY: Final = f"{_BLAS}12column_major4axpyERN4sycl3_V15queueElNS0_16value_or_pointerIfEEPKflPfl{_EVENTS.format('D')}"
_GEMM: Final = (
    f"{_BLAS}9row_major4gemmERN4sycl3_V15queueENS0_9transposeES7_lllNS0_16value_or_pointerIfEEPKflSB_lS9_Pfl"
    f"{_EVENTS.format('E')}"
)
#: Bytes of a ``sycl::event``, which C++ returns through an address.
_EVENT: Final = 16
_NOT_TRANSPOSED: Final = 0


class _Value(ctypes.Structure):
    """``value_or_pointer<float>``."""

    _fields_ = [("value", ctypes.c_float), ("pointer", ctypes.c_void_p)]


_AS_IS: Final = _Value(1.0, None)
_NOTHING: Final = _Value(0.0, None)


def axpy(alpha: float, x: Any, y: Any) -> None:
    """Add ``alpha * x`` to y, both contiguous vectors of n float32 on one queue.

    Raises:
        ValueError: they are not.
        RuntimeError: oneMKL does not run on this device.
        Unsupported: this environment's oneMKL has no such function.
    """
    x, y = (_checked(array, 1) for array in (x, y))
    if x.shape != y.shape:
        raise ValueError(f"axpy: x has {x.size} elements, y {y.size}")
    pointers = [argument for array in (x, y) for argument in (ctypes.c_void_p(array._pointer), ctypes.c_int64(1))]
    _submit(_AXPY, y.sycl_queue, ctypes.c_int64(x.size), _Value(alpha, None), *pointers)


def gemm(a: Any, b: Any, c: Any) -> None:
    """Multiply a (m x k) by b (k x n) into c (m x n), of float32 on one queue; rows may lie further apart than long.

    Raises:
        ValueError: shapes do not fit, or elements of a row are not side by side.
        RuntimeError: oneMKL does not run on this device.
        Unsupported: this environment's oneMKL has no such function.
    """
    a, b, c = (_checked(array, 2) for array in (a, b, c))
    (m, k), n = a.shape, c.shape[1]
    if b.shape != (k, n) or c.shape[0] != m:
        raise ValueError(f"gemm: shapes {a.shape}, {b.shape} and {c.shape} do not fit")
    sizes = [ctypes.c_int64(size) for size in (m, n, k)]
    of_a, of_b, of_c = ((ctypes.c_void_p(each._pointer), ctypes.c_int64(each.strides[0])) for each in (a, b, c))
    transposed = [ctypes.c_int(_NOT_TRANSPOSED)] * 2
    _submit(_GEMM, c.sycl_queue, *transposed, *sizes, _AS_IS, *of_a, *of_b, _NOTHING, *of_c)


def _checked(array: Any, dimensions: int) -> Any:
    usm_array = as_usm_array(array)
    if usm_array is None or str(usm_array.dtype) != "float32" or usm_array.ndim != dimensions:
        raise ValueError(f"oneMKL: give arrays of float32 in USM with {dimensions} dimensions")
    if usm_array.strides[-1] != 1:
        raise ValueError("oneMKL: elements of a row must lie side by side")
    return usm_array


def _submit(name: str, queue: Any, *arguments: Any) -> None:
    """Call a function of oneMKL, which waits for nothing and returns an event."""
    _try_device(queue.sycl_device)
    event = new_object(_EVENT)
    no_events = (ctypes.c_void_p * 3)()
    _function(name)(ctypes.c_void_p(event), ctypes.c_void_p(queue.addressof_ref()), *arguments, no_events)
    event_delete(event)


@functools.cache
def _try_device(device: Any) -> None:
    """Raise what oneMKL has against a device, which it says at its first function."""
    square = dpnp.ones((2, 2), dtype=dpnp.float32, device=device)
    dpnp.matmul(square, square).sycl_queue.wait()


@functools.cache
def _function(name: str) -> Any:
    folders = libraries.library_folders()
    found = next((path for folder in folders for path in sorted(folder.glob("libmkl_sycl_blas.so.[0-9]*"))), None)
    try:
        function = getattr(ctypes.CDLL(str(found)), name)
    except (OSError, AttributeError) as error:
        raise Unsupported(f"needs oneMKL's BLAS for SYCL: {error}") from error
    function.restype = None
    return function
