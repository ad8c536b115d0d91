"""A prepared launch: compile and flatten once, check against the device, submit at about dpctl's own cost."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

from xebench.dpex import native_handles
from xebench.dpex.arguments import ArgumentBlock
from xebench.dpex.device_kernel import DeviceKernel
from xebench.dpex.dpex_errors import ArgumentError, IndexSpaceError, SubmissionError, UnsupportedByDevice
from xebench.dpex.events import NO_CLOCK, DeviceEvent, lacks_clock
from xebench.dpex.narrow import is_within
from xebench.dpex.signature import index_space_extents
from xebench.system.sycl_types import Event, Queue

# dpctl asks the driver at each look, and a launch with other LocalAccessors looks again.
_local_memory_bytes = lru_cache(maxsize=32)(lambda device: int(device.local_mem_size))


def check_local_memory(kernel: DeviceKernel, local_bytes: int) -> None:
    """Raise UnsupportedByDevice if the LocalAccessors need more memory than the device has."""
    available = _local_memory_bytes(kernel.device)
    if local_bytes > available:
        raise UnsupportedByDevice(
            f"kernel {kernel.compiled.name} asks for {local_bytes} bytes of local memory; "
            f"{kernel.device.name} has {available}"
        )


def check_index_space(kernel: DeviceKernel, index_space: Any) -> None:
    """Check an index space against the kernel and its device.

    Raises:
        IndexSpaceError: dimensions, divisibility or a required work-group size are not met.
        UnsupportedByDevice: the work-group is larger than the device or the kernel allows.
    """
    name = kernel.compiled.name
    signature = kernel.compiled.signature
    extents, local = index_space_extents(index_space)
    item = "Item" if local is None else "NdItem"
    if signature.item and (item, len(extents)) != (signature.item, signature.ndim):  # a kernel may take no item
        raise IndexSpaceError(
            f"kernel {name} was compiled for {signature.item}<{signature.ndim}>, not for {item}<{len(extents)}>"
        )
    if any(extent < 1 for extent in (*extents, *(local or ()))):
        raise IndexSpaceError(f"kernel {name}: an extent of {index_space} is not positive")
    required = kernel.compiled.options.work_group_size
    if required is not None:
        required += (1,) * (len(extents) - len(required))
    group = local or required
    if group is None:
        return
    if len(group) != len(extents) or any(g % w for g, w in zip(extents, group, strict=True)):
        raise IndexSpaceError(f"kernel {name}: global size {extents} is not a multiple of the work-group {group}")
    if required is not None and tuple(group) != required:
        raise IndexSpaceError(f"kernel {name} requires work-groups of {required}, not {group}")
    _check_work_group(kernel, tuple(group))


def _check_work_group(kernel: DeviceKernel, group: tuple[int, ...]) -> None:
    name, device = kernel.compiled.name, kernel.device
    items = prod(group)
    allowed = min(device.max_work_group_size, kernel.max_work_group_size or device.max_work_group_size)
    if items > allowed:
        raise UnsupportedByDevice(f"kernel {name}: a work-group of {items}; {device.name} allows {allowed}")
    longest = tuple(device.max_work_item_sizes3d)[::-1]  # dpctl has SYCL's order, the fastest dimension last
    if any(size > most for size, most in zip(group, longest, strict=False)):
        raise UnsupportedByDevice(f"kernel {name}: work-group {group}; {device.name} allows {longest}")


_NO_EVENTS = (ctypes.c_void_p(None), ctypes.c_size_t(0))


def _extents(values: Sequence[int]) -> Any:
    # dpctl takes SYCL's order, the fastest dimension last; numba-dpex's dimension 0 is the fastest.
    return (ctypes.c_size_t * 3)(*reversed(values))


class PreparedLaunch:
    """A kernel, a queue, an index space and arguments, ready to submit any number of times.

    Not for several threads at once. The arguments of every submission stay alive until it has finished.

    Attributes:
        global_size: extents of the index space, dimension 0 (the fastest) first.
        local_size: extents of a work-group; None where the driver chooses.
        local_bytes: shared local memory that a work-group asks for in ``LocalAccessor`` arguments.
    """

    __slots__ = (
        "_block",
        "_call",
        "_function",
        "_ranges",
        "device_kernel",
        "global_size",
        "local_bytes",
        "local_size",
        "queue",
    )

    def __init__(self, device_kernel: DeviceKernel, queue: Queue, index_space: Any, args: Sequence[Any]) -> None:
        """Flatten ``args`` and check everything that can be checked before submission.

        Args:
            device_kernel: built for a queue of the same context.
            queue: where to submit.
            index_space: ``kernel_api.Range`` or ``NdRange``.
            args: the kernel's arguments after the item.

        Raises:
            IndexSpaceError: dimensions, divisibility, required work-group size.
            UnsupportedByDevice: work-group or local memory larger than the device allows.
            ArgumentError: count, kind, dtype, layout, or memory of another context.
            SubmissionError: the kernel was built for another context than the queue's.
        """
        if queue.sycl_context != device_kernel.context:
            raise SubmissionError(
                f"kernel {device_kernel.compiled.name} was built for another context: build it for this queue"
            )
        check_index_space(device_kernel, index_space)
        self.device_kernel = device_kernel
        self.queue = queue
        self._block = ArgumentBlock(device_kernel.compiled.signature.arguments, queue)
        extents, local = index_space_extents(index_space)
        self.global_size, self.local_size, self.local_bytes = extents, local, 0
        self._ranges = [_extents(extents)] + ([_extents(local)] if local else [])
        self._function = native_handles.submit_nd_range if local else native_handles.submit_range
        self._call = (
            ctypes.c_void_p(device_kernel.kernel.addressof_ref()),
            ctypes.c_void_p(queue.addressof_ref()),
            self._block.table,
            self._block.codes,
            ctypes.c_size_t(self._block.count),
            *self._ranges,
            ctypes.c_size_t(len(extents)),
        )
        self.rebind(args)
        if device_kernel.compiled.foreign and self._block.count != device_kernel.kernel.num_args:
            raise ArgumentError(
                f"kernel {device_kernel.compiled.name} has {device_kernel.kernel.num_args} arguments in its code, "
                f"{self._block.count} are stated: correct arguments="
            )
        if self._block.count != device_kernel.kernel.num_args:
            raise SubmissionError(
                f"kernel {device_kernel.compiled.name} was built with {device_kernel.kernel.num_args} flattened "
                f"arguments, its signature has {self._block.count}"
            )

    def rebind(self, args: Sequence[Any]) -> None:
        """Take other arguments of the same types for the submissions from now on; a few microseconds.

        Raises:
            ArgumentError: count, kind, dtype, layout, or memory of another context.
            UnsupportedByDevice: more local memory than the device has.
        """
        if self.device_kernel.compiled.bounded and not is_within(
            self.device_kernel.compiled.limit, self.global_size, args
        ):
            raise ArgumentError(
                f"kernel {self.device_kernel.compiled.name}: these arguments are beyond what its code with 32-bit "
                "indices is for: build the kernel as it was compiled"
            )
        self._block.fill(args, self._check_local_memory)

    def _check_local_memory(self, local_bytes: int) -> None:
        check_local_memory(self.device_kernel, local_bytes)
        self.local_bytes = local_bytes

    def submit(self, depends: Sequence[Event] = ()) -> DeviceEvent:
        """Submit the kernel.

        Args:
            depends: events to wait for, ``DeviceEvent`` or ``dpctl.SyclEvent``.

        Raises:
            SubmissionError: the runtime refused it.
        """
        if depends:
            references = (ctypes.c_void_p * len(depends))(*[event.addressof_ref() for event in depends])
            reference = self._function(*self._call, references, ctypes.c_size_t(len(depends)))
        else:
            reference = self._function(*self._call, *_NO_EVENTS)
        if not reference:
            compiled = self.device_kernel.compiled
            if lacks_clock(self.queue):
                raise SubmissionError(f"kernel {compiled.name} was not submitted: {NO_CLOCK}")
            doubt = ": are the argument types that are stated those of its code?" if compiled.foreign else ""
            raise SubmissionError(f"kernel {compiled.name} was not submitted{doubt}; DPCTL_VERBOSITY=error prints why")
        return DeviceEvent.own(reference, self._block.keep)
