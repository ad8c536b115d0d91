"""A launch in one call, as numba-dpex has it, where numba-dpex itself is not installed.

Everything is kept between calls: code, builds, and the flattened arguments (`KernelStore`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any

import dpctl
import numpy as np

from numba_sycl import recording
from numba_sycl.errors import ArgumentError
from numba_sycl.events import DeviceEvent
from numba_sycl.kernel_store import KernelStore
from numba_sycl.signature import as_usm_array, index_space_extents
from numba_sycl.sycl_types import Event


@cache
def _store() -> KernelStore:
    return KernelStore()


def call_kernel(kernel_fn: Any, index_space: Any, *kernel_args: Any) -> None:
    """Launch a kernel, and return when it is over.

    Args:
        kernel_fn: made by `numba_sycl.kernel`.
        index_space: ``kernel_api.Range`` or ``NdRange``; of one without work-items nothing is launched.
        kernel_args: arrays in USM, numbers, ``LocalAccessor``; arrays are on one queue.

    Raises:
        ArgumentError: no array, arrays of several queues, or what a kernel cannot take.
        KernelCompileError: the kernel cannot be compiled.
        UnsupportedByDevice: the device's limits do not allow this launch.
    """
    if _has_items(index_space):
        _submit(kernel_fn, index_space, kernel_args, ()).wait()


def call_kernel_async(
    kernel_fn: Any, index_space: Any, dependent_events: Sequence[Event], *kernel_args: Any
) -> tuple[dpctl.SyclEvent, dpctl.SyclEvent]:
    """Launch a kernel once other commands are over, and return at once.

    Args:
        kernel_fn, index_space, kernel_args: see `call_kernel`.
        dependent_events: ``dpctl.SyclEvent`` of the commands to wait for.

    Returns:
        Two events, as numba-dpex has it: when the arguments may be freed, which needs no wait here, and of the
        kernel. Both are the kernel's.

    Raises:
        ArgumentError, KernelCompileError, UnsupportedByDevice: see `call_kernel`.
    """
    if _has_items(index_space):
        event = _submit(kernel_fn, index_space, kernel_args, dependent_events).sycl_event
    else:
        event = _queue_of(kernel_args).submit_barrier(list(dependent_events))
    return event, event


def _has_items(index_space: Any) -> bool:
    return prod(index_space_extents(index_space)[0]) != 0


def _queue_of(arguments: Sequence[Any]) -> dpctl.SyclQueue:
    """The queue of all arrays among the arguments.

    Raises:
        ArgumentError: there is no array, or they are of several queues.
    """
    arrays = [array for array in map(as_usm_array, arguments) if array is not None]
    if not arrays and any(isinstance(argument, np.ndarray) for argument in arguments):
        raise ArgumentError("numpy arrays are not device memory: copy them to the device by dpnp.asarray(x)")
    if not arrays:
        raise ArgumentError("no argument is an array of dpnp, whose queue the kernel would be launched on")
    queue = arrays[0].sycl_queue
    if any(array.sycl_queue != queue for array in arrays):
        raise ArgumentError("arguments are arrays of several queues: allocate them on one")
    return queue


def _submit(kernel: Any, index_space: Any, arguments: Sequence[Any], depends: Sequence[Event]) -> DeviceEvent:
    if (session := recording.recording()) is not None:
        return session.launch_directly(kernel, index_space, arguments, depends)  # type: ignore[no-any-return]
    queue = _queue_of(arguments)
    # dpnp of today returns before its commands are over, and only a barrier orders them before ours
    earlier = [] if queue.is_in_order else [queue.submit_barrier()]
    return _store().submit(kernel, queue, index_space, arguments, [*depends, *earlier])
