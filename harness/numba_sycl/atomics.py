"""Atomic read-modify-write of array elements, unsigned types included.

numba-dpex's ``kernel_api.AtomicRef`` refuses ``fetch_*`` on uint32 and uint64. These functions take them, too, without
an object in between, and return the old value::

    from numba_sycl import atomics
    from numba_sycl.kernel_api import MemoryOrder, MemoryScope

    atomics.fetch_add(histogram, bin, 1)
    atomics.fetch_max(best, 0, score, order=MemoryOrder.RELAXED, scope=MemoryScope.WORK_GROUP)

Each becomes the SPIR-V instruction named in its docstring, with these operands:

- *array*: in global memory, or a LocalAccessor; int32, uint32, int64, uint64, float32, float64 (64 bits where the
  device has 64-bit atomics; float atomics by SPV_EXT_shader_atomic_float_add and _min_max). ``fetch_and``, ``fetch_or``
  and ``fetch_xor`` take integers only.
- *index*: an integer, or a tuple for an array of several dimensions; a negative one counts from the end.
- *value*: converted to the array's dtype as an assignment would, except that floats do not become integers.
- *order*: a literal ``MemoryOrder`` (RELAXED, ACQUIRE, RELEASE, ACQ_REL or SEQ_CST), RELAXED if left out.
- *scope*: a literal ``MemoryScope``, DEVICE if left out.

Misuse is a typing error when the kernel is compiled. Nothing here is collective. In numba-dpex's pure-Python simulation
all functions work; order and scope mean nothing there. Plain atomic load, store, exchange and compare-exchange work
on unsigned types with ``AtomicRef`` itself.
"""

from __future__ import annotations

import operator
from typing import Any

from numba_sycl.code_generation import device_function as _simulation
from numba_sycl.code_generation.device_function import device_function, generators

__all__ = ["fetch_add", "fetch_and", "fetch_max", "fetch_min", "fetch_or", "fetch_sub", "fetch_xor"]


@device_function(generators.fetch("Add"))
def fetch_add(array: Any, index: Any, value: Any, order: Any = None, scope: Any = None) -> Any:
    """Add *value* to an element (``OpAtomicIAdd``, ``OpAtomicFAddEXT``); integers wrap around."""
    return _simulation.exchange(array, index, value, operator.add)


@device_function(generators.fetch("Sub"))
def fetch_sub(array: Any, index: Any, value: Any, order: Any = None, scope: Any = None) -> Any:
    """Subtract *value* from an element (``OpAtomicISub``, ``OpAtomicFAddEXT`` of its negative)."""
    return _simulation.exchange(array, index, value, operator.sub)


@device_function(generators.fetch("Min"))
def fetch_min(array: Any, index: Any, value: Any, order: Any = None, scope: Any = None) -> Any:
    """Keep the lesser of an element and *value* (``OpAtomicSMin``, ``OpAtomicUMin``, ``OpAtomicFMinEXT``)."""
    return _simulation.exchange(array, index, value, min)


@device_function(generators.fetch("Max"))
def fetch_max(array: Any, index: Any, value: Any, order: Any = None, scope: Any = None) -> Any:
    """Keep the greater of an element and *value* (``OpAtomicSMax``, ``OpAtomicUMax``, ``OpAtomicFMaxEXT``)."""
    return _simulation.exchange(array, index, value, max)


@device_function(generators.fetch("And"))
def fetch_and(array: Any, index: Any, value: Any, order: Any = None, scope: Any = None) -> Any:
    """Keep the bits that an integer element and *value* share (``OpAtomicAnd``)."""
    return _simulation.exchange(array, index, value, operator.and_)


@device_function(generators.fetch("Or"))
def fetch_or(array: Any, index: Any, value: Any, order: Any = None, scope: Any = None) -> Any:
    """Set the bits of *value* in an integer element (``OpAtomicOr``)."""
    return _simulation.exchange(array, index, value, operator.or_)


@device_function(generators.fetch("Xor"))
def fetch_xor(array: Any, index: Any, value: Any, order: Any = None, scope: Any = None) -> Any:
    """Flip the bits of *value* in an integer element (``OpAtomicXor``)."""
    return _simulation.exchange(array, index, value, operator.xor)
