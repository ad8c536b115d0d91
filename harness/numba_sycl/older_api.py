"""numba-dpex's API before 0.21, and numba-dppy's: for programs that were written for it.

A kernel asks for its ids by OpenCL's functions, declares its local memory, and is launched by ``kernel[global_size,
local_size](arguments)``, dimension 0 first in both. Nothing of it does anything in plain Python.

Example:
    >>> numba_sycl.as_numba_dpex(api="0.20")
    >>> import numba_dpex
    >>> @numba_dpex.kernel
    ... def add(a, b, c):
    ...     i = numba_dpex.get_global_id(0)
    ...     c[i] = a[i] + b[i]
    >>> add[1024](a, b, c)
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from types import ModuleType
from typing import Any, Final, NoReturn

import dpctl
import numpy as np

from numba_sycl import atomics, decorators
from numba_sycl.code_generation.device_function import device_function, module
from numba_sycl.drop_in import call_kernel
from numba_sycl.errors import IndexSpaceError, KernelOnly
from numba_sycl.kernel_api import NdRange, Range
from numba_sycl.kernel_options import SourceKernel
from numba_sycl.signature import as_usm_array
from numba_sycl.tensor import asarray, asnumpy, tensor

_calls: Any = module("numba_sycl.code_generation.older_calls")


def _refuse(name: str) -> NoReturn:
    raise KernelOnly(f"{name} means something in a kernel only")


@device_function(_calls.query("get_global_id"))
def get_global_id(dimension: Any) -> Any:
    """The work-item's id among all, int64, in a dimension from 0 to 2."""
    _refuse("get_global_id")


@device_function(_calls.query("get_local_id"))
def get_local_id(dimension: Any) -> Any:
    """The work-item's id in its work-group, int64, in a dimension from 0 to 2."""
    _refuse("get_local_id")


@device_function(_calls.query("get_group_id"))
def get_group_id(dimension: Any) -> Any:
    """The work-group's id, int64, in a dimension from 0 to 2."""
    _refuse("get_group_id")


@device_function(_calls.query("get_global_size"))
def get_global_size(dimension: Any) -> Any:
    """The extent of all work-items, int64, in a dimension from 0 to 2."""
    _refuse("get_global_size")


@device_function(_calls.query("get_local_size"))
def get_local_size(dimension: Any) -> Any:
    """The extent of a work-group, int64, in a dimension from 0 to 2."""
    _refuse("get_local_size")


@device_function(_calls.query("get_num_groups"))
def get_num_groups(dimension: Any) -> Any:
    """The extent in work-groups, int64, in a dimension from 0 to 2."""
    _refuse("get_num_groups")


@device_function(_calls.barrier)
def barrier(flags: Any = None) -> Any:
    """Wait for the work-group; what its work-items wrote before, to any memory, is visible after."""
    _refuse("barrier")


@device_function(_calls.fence)
def mem_fence(flags: Any = None) -> Any:
    """Order accesses of the work-item to any memory, as the work-group sees them."""
    _refuse("mem_fence")


@device_function(_calls.local_array)
def local_array(shape: Any, dtype: Any) -> Any:
    """An array of the work-group; *shape*, an integer or a tuple, is literal, and *dtype* is a number's."""
    _refuse("local.array")


@device_function(_calls.private_array)
def private_array(shape: Any, dtype: Any) -> Any:
    """An array of the work-item that begins with zeros; *shape* is literal, and *dtype* is a number's."""
    _refuse("private.array")


#: The queue that numpy's arrays are copied to; None: the default device's.
_queue: ContextVar[dpctl.SyclQueue | None] = ContextVar("queue", default=None)


class OlderKernel(SourceKernel):
    """A kernel that is launched by ``kernel[global_size, local_size](arguments)``."""

    def __getitem__(self, sizes: Any) -> Callable[..., None]:
        """The launch over an index space.

        Args:
            sizes: the global size, or this and the size of a work-group: numbers, or tuples of up to three; without
                the second, or where it is empty, the driver chooses it. Also a ``Range`` or an ``NdRange``.

        Raises:
            IndexSpaceError: they are no such sizes.
        """
        index_space = _index_space(sizes)

        def launch(*arguments: Any) -> None:
            queues = [array.sycl_queue for array in map(as_usm_array, arguments) if array is not None]
            queue = next(iter(queues), _queue.get())
            on_device = [asarray(a, sycl_queue=queue) if isinstance(a, np.ndarray) else a for a in arguments]
            call_kernel(self, index_space, *on_device)
            for given, used in zip(arguments, on_device, strict=True):
                if isinstance(given, np.ndarray) and given.flags.writeable:
                    given[...] = asnumpy(used)

        return launch


def _index_space(sizes: Any) -> Range | NdRange:
    if isinstance(sizes, Range | NdRange):
        return sizes
    parts = sizes if isinstance(sizes, tuple) else (sizes,)
    if not 1 <= len(parts) <= 2:
        raise IndexSpaceError(f"kernel[{sizes}]: give a global size, or this and the size of a work-group")
    whole, *group = map(_extents, parts)
    return NdRange(whole, *group) if group and group[0] else Range(*whole)


def _extents(size: Any) -> tuple[int, ...]:
    return tuple(size) if isinstance(size, Iterable) else (size,)


def kernel(function: Any = None, *, access_types: Any = None, **options: Any) -> Any:
    """`numba_sycl.kernel`, for a kernel of this API.

    Args:
        function: see there.
        access_types: not needed: arrays of numpy are copied to the device, and back.
        options: see there.
    """
    made = decorators.kernel(function, **options)
    return _older(made) if isinstance(made, SourceKernel) else lambda python_function: _older(made(python_function))


def _older(made: SourceKernel) -> OlderKernel:
    return OlderKernel(made.py_func, made.targetoptions, made.options, made.overloads)


@contextlib.contextmanager
def device_context(device: Any) -> Iterator[dpctl.SyclQueue]:
    """A block in which numpy's arrays are copied to this device.

    Args:
        device: a queue, a device, or a filter such as "opencl:cpu".
    """
    queue = device if isinstance(device, dpctl.SyclQueue) else dpctl.SyclQueue(device)
    earlier = _queue.set(queue)
    try:
        yield queue
    finally:
        _queue.reset(earlier)


_IDS: Final = (get_global_id, get_local_id, get_group_id, get_global_size, get_local_size, get_num_groups)


def offer(names: Any) -> None:
    """Give the module ``numba_dpex`` these names, ``numba_dppy`` the same, and dpctl what it had in their days."""
    importlib.import_module("numba_sycl.code_generation.older_calls").refuse_vectorize()
    vars(names).update({function.__name__: function for function in (*_IDS, barrier, mem_fence, kernel)})
    names.LOCAL_MEM_FENCE = names.CLK_LOCAL_MEM_FENCE = 1
    names.GLOBAL_MEM_FENCE = names.CLK_GLOBAL_MEM_FENCE = 2
    _add_module(names, "local", array=local_array)
    _add_module(names, "private", array=private_array)
    _add_module(names, "atomic", add=atomics.fetch_add, sub=atomics.fetch_sub)
    sys.modules["numba_dppy"] = names
    if not hasattr(dpctl, "device_context"):
        dpctl.device_context = device_context
    arrays = {name: value for name, value in vars(tensor).items() if not name.startswith("__")}
    made = {name: _with_dtype(arrays[name]) for name in ("empty", "ones", "zeros")}
    _add_module(dpctl, "tensor", **arrays | made)


def _add_module(parent: ModuleType, name: str, **names: Any) -> None:
    added = ModuleType(f"{parent.__name__}.{name}")
    vars(added).update(names)
    sys.modules[added.__name__] = vars(parent)[name] = added


def _with_dtype(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes arrays, with the type of the elements by position."""

    def make(shape: Any, dtype: Any = None, **options: Any) -> Any:
        return function(shape, dtype=dtype, **options)

    return make
