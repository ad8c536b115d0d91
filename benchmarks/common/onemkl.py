"""Functions of oneMKL that dpnp does not hand on, called by the names that its library has for C++.

They submit to the queue of their arrays. Those of BLAS return at once, as oneMKL's own do: arrays must live until it is
over. ``session.call`` times them. Real numbers in single precision, which every device has. An exception of C++ would
end the process here, so a device is first tried by a product of dpnp, whose exceptions are Python's.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import dpnp
import numpy as np
from dpctl.memory import MemoryUSMHost

from numba_sycl import libraries
from numba_sycl.errors import Unsupported
from numba_sycl.native_handles import event_delete, event_wait, new_object
from numba_sycl.signature import as_usm_array

__all__ = ["axpy", "gemm", "grouped_gemm", "uniform"]

_BLAS: Final = "_ZN6oneapi3mkl4blas"
_EVENTS: Final = "RKSt6vectorINS4_5eventESaIS{}_EE"
_AXPY: Final = f"{_BLAS}12column_major4axpyERN4sycl3_V15queueElNS0_16value_or_pointerIfEEPKflPfl{_EVENTS.format('D')}"
_GEMM: Final = (
    f"{_BLAS}9row_major4gemmERN4sycl3_V15queueENS0_9transposeES7_lllNS0_16value_or_pointerIfEEPKflSB_lS9_Pfl"
    f"NS1_12compute_modeE{_EVENTS.format('F')}"
)
_GROUPED_GEMM: Final = (
    f"{_BLAS}9row_major10gemm_batchERN4sycl3_V15queueEPKNS0_9transposeES9_PKlSB_SB_PKfPSD_SB_SE_SB_SD_PPfSB_lSB_"
    f"{_EVENTS.format('I')}"
)
_RNG: Final = "_ZN6oneapi3mkl3rng"
_GENERATE: Final = (
    f"{_RNG}8generateINS1_7uniformIfNS1_14uniform_method8standardEEENS1_7mcg31m1EEEN4sycl3_V15eventERKT_RT0_l"
    "PNSB_11result_typeERKSt6vectorISA_SaISA_EE"
)
_NEW_ENGINE: Final = f"{_RNG}7mcg31m1C1EN4sycl3_V15queueEj"
_DELETE_ENGINE: Final = f"{_RNG}7mcg31m1D1Ev"
#: Bytes for an ``mcg31m1``, which has 24: a queue and a pointer.
_ENGINE: Final = 64
#: Bytes of a ``sycl::event``, which C++ returns through an address.
_EVENT: Final = 16
_NOT_TRANSPOSED: Final = 0

#: ``compute_mode``: in what a product of single precision may be computed; oneMKL decides whether it is.
_MODES: Final = {"standard": 1 << 61, "bf16": 0x1, "bf16x2": 0x2, "bf16x3": 0x4, "tf32": 0x10}
_STANDARD: Final = "standard"


class _Value(ctypes.Structure):
    """``value_or_pointer<float>``."""

    _fields_ = [("value", ctypes.c_float), ("pointer", ctypes.c_void_p)]


#: An empty ``std::vector``.
_NO_EVENTS: Final = (ctypes.c_void_p * 3)()

#: Devices, shapes and modes that oneMKL was seen to use.
_tried_modes: set[tuple[Any, ...]] = set()


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


def gemm(a: Any, b: Any, c: Any, alpha: float = 1, beta: float = 0, compute_mode: str = _STANDARD) -> None:
    """Set c (m x n) to ``alpha`` times the product of a (m x k) and b (k x n), plus ``beta`` times c itself.

    All are of float32 on one queue; rows may lie further apart than long.

    Args:
        a, b: the factors.
        c: the result.
        alpha, beta: see above.
        compute_mode: ``bf16``: each factor as one bfloat16, ``bf16x2`` as the sum of two, ``bf16x3`` of three;
            ``tf32``; ``standard``: single precision. Before the first product of a shape oneMKL is tried.

    Raises:
        ValueError: shapes do not fit, or elements of a row are not side by side, or there is no such mode.
        RuntimeError: oneMKL does not run on this device.
        Unsupported: this environment's oneMKL has no such function, or it does not use the mode for this shape here.
    """
    a, b, c = (_checked(array, 2) for array in (a, b, c))
    (m, k), n = a.shape, c.shape[1]
    if b.shape != (k, n) or c.shape[0] != m:
        raise ValueError(f"gemm: shapes {a.shape}, {b.shape} and {c.shape} do not fit")
    if compute_mode not in _MODES:
        raise ValueError(f"gemm: compute mode {compute_mode!r}: give one of {', '.join(_MODES)}")
    key = c.sycl_device, m, k, n, compute_mode
    if compute_mode != _STANDARD and key not in _tried_modes:
        _try_mode(c.sycl_queue, *key[1:])
        _tried_modes.add(key)
    _multiply(a, b, c, alpha, beta, compute_mode)


def _multiply(a: Any, b: Any, c: Any, alpha: float, beta: float, compute_mode: str) -> None:
    sizes = [ctypes.c_int64(size) for size in (*c.shape, a.shape[1])]
    of_a, of_b, of_c = ((ctypes.c_void_p(each._pointer), ctypes.c_int64(each.strides[0])) for each in (a, b, c))
    transposed = [ctypes.c_int(_NOT_TRANSPOSED)] * 2
    numbers = *transposed, *sizes, _Value(alpha, None), *of_a, *of_b, _Value(beta, None), *of_c
    _submit(_GEMM, c.sycl_queue, *numbers, ctypes.c_uint64(_MODES[compute_mode]))


def grouped_gemm(groups: Sequence[tuple[Any, Any, Any]]) -> Callable[[], None]:
    """A function that sets each c to the products of a and b, of groups that differ in their shapes, in one call.

    It holds the tables of sizes and addresses that oneMKL reads, in host USM: keep it until the products are computed.

    Args:
        groups: for each group a (count x m x k), b (count x k x n) and c (count x m x n), contiguous arrays of float32
            on one queue.

    Raises:
        ValueError: shapes of a group do not fit.
        RuntimeError: oneMKL does not run on this device.
        Unsupported: this environment's oneMKL has no such function.
    """
    checked = [tuple(_checked(array, 3) for array in group) for group in groups]
    for a, b, c in checked:
        if a.shape[:2] != c.shape[:2] or b.shape != (a.shape[0], a.shape[2], c.shape[2]):
            raise ValueError(f"grouped_gemm: shapes {a.shape}, {b.shape} and {c.shape} do not fit")
    queue = checked[0][2].sycl_queue
    shapes = np.array([(*c.shape, a.shape[2]) for a, _, c in checked])
    counts, m, n, k = shapes.T
    addresses = [
        [array._pointer + i * array[0].size * array.itemsize for array in arrays for i in range(array.shape[0])]
        for arrays in zip(*checked, strict=True)
    ]
    ones, zeros = np.ones(len(checked), np.float32), np.zeros(len(checked), np.float32)
    tables = [np.ascontiguousarray(each) for each in (zeros, m, n, k, ones, *addresses, k, n, n, zeros, counts)]
    kept = [MemoryUSMHost(max(table.nbytes, 8), queue=queue) for table in tables]
    for memory, table in zip(kept, tables, strict=True):
        np.ndarray(table.shape, table.dtype, buffer=memory)[:] = table
    no_transpose, *table = (ctypes.c_void_p(memory._pointer) for memory in kept)
    m, n, k, alpha, a, b, c, of_a, of_b, of_c, beta, sizes = table
    factors = no_transpose, no_transpose, m, n, k, alpha, a, of_a, b, of_b, beta, c, of_c
    count = ctypes.c_int64(len(checked))

    def multiply(_alive: Any = kept) -> None:
        _submit(_GROUPED_GEMM, queue, *factors, count, sizes)

    return multiply


def _try_mode(queue: Any, m: int, k: int, n: int, compute_mode: str) -> None:
    """Raise if a product is the same by a mode and by none: only a trace of oneMKL says what it used (MKL_VERBOSE)."""
    rng = np.random.default_rng(1)
    a, b = (dpnp.asarray(rng.random(shape, np.float32), sycl_queue=queue).get_array() for shape in ((m, k), (k, n)))
    products = []
    for mode in (_STANDARD, compute_mode):
        product = dpnp.empty((m, n), dtype=np.float32, sycl_queue=queue)
        _multiply(a, b, product.get_array(), 1, 0, mode)
        queue.wait()
        products.append(dpnp.asnumpy(product).tobytes())
    if products[0] == products[1]:
        raise Unsupported(
            f"needs a device on which oneMKL uses {compute_mode} for {m} x {k} times {k} x {n}: the result has the "
            "very bits of single precision"
        )


def uniform(seed: int, y: Any) -> None:
    """Fill a contiguous vector of n float32 with numbers between 0 and 1 by oneMKL's generator mcg31m1, and wait.

    The states are the seed and what follows when each is multiplied by 1132489760, modulo 2**31 - 1; a number is a
    state divided by this modulus.

    Args:
        seed: seed from 1 to 2**31 - 2.
        y: vector to fill.

    Raises:
        ValueError: it is none, or the seed is no such number.
        RuntimeError: oneMKL does not run on this device.
        Unsupported: this environment's oneMKL has no such function.
    """
    y = _checked(y, 1)
    if not 0 < seed < (1 << 31) - 1:
        raise ValueError(f"uniform: seed {seed}: give one from 1 to 2**31 - 2")
    _try_device(y.sycl_device)
    engine, from_0_to_1 = ctypes.create_string_buffer(_ENGINE), (ctypes.c_float * 2)(0, 1)
    _function(_NEW_ENGINE, "rng")(engine, ctypes.c_void_p(y.sycl_queue.addressof_ref()), ctypes.c_uint32(seed))
    try:
        event = new_object(_EVENT)
        arguments = from_0_to_1, engine, ctypes.c_int64(y.size), ctypes.c_void_p(y._pointer), _NO_EVENTS
        _function(_GENERATE, "rng")(ctypes.c_void_p(event), *arguments)
        event_wait(event)  # the engine must live so long
        event_delete(event)
    finally:
        _function(_DELETE_ENGINE, "rng")(engine)


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
    _function(name, "blas")(ctypes.c_void_p(event), ctypes.c_void_p(queue.addressof_ref()), *arguments, _NO_EVENTS)
    event_delete(event)


@functools.cache
def _try_device(device: Any) -> None:
    """Raise what oneMKL has against a device, which it says at its first function; of a part, against the whole one."""
    while device.parent_device is not None:  # dpnp takes no part without a queue
        device = device.parent_device
    square = dpnp.ones((2, 2), dtype=dpnp.float32, device=device)
    dpnp.matmul(square, square).sycl_queue.wait()


@functools.cache
def _function(name: str, domain: str) -> Any:
    folders = libraries.library_folders()
    found = next((path for folder in folders for path in sorted(folder.glob(f"libmkl_sycl_{domain}.so.[0-9]*"))), None)
    try:
        function = getattr(ctypes.CDLL(str(found)), name)
    except (OSError, AttributeError) as error:
        raise Unsupported(f"needs oneMKL's {domain.upper()} for SYCL: {error}") from error
    function.restype = None
    return function
