"""Device memory: arrays, and copies between host and device."""

from __future__ import annotations

import weakref
from typing import Any, Final

import dpctl
import dpctl.memory
import numpy as np

from xebench.dpex.signature import as_usm_array
from xebench.errors import TooLarge, Unsupported
from xebench.measuring.session.recorder import Traffic
from xebench.system.runtime import tensor
from xebench.system.sycl_types import Array, UsmArray

#: Elements that the host writes of an array of equal ones: the way to the device takes longer than what it does itself.
_FIRST: Final = 1 << 18

USM_KINDS: Final = ("device", "shared", "host")
#: The route of a copy between two devices, or between two parts of one.
PEER_ROUTE: Final = "device_to_peer"

#: Each byte of memory that nobody has written: not a number in floating point, -1 in whole numbers.
POISON: Final = 0xFF


def allocate(shape: int | tuple[int, ...], dtype: Any, queue: dpctl.SyclQueue, usm: str = "device") -> Any:
    """An uninitialised array.

    Args:
        shape: elements in each dimension.
        dtype: numpy dtype.
        queue: the queue whose context and device the memory belongs to.
        usm: kind of USM: ``device``, ``shared`` or ``host``.

    Raises:
        ValueError: there is no such kind of USM.
        Unsupported: the device lacks this kind of USM.
        TooLarge: it lacks the memory.
    """
    if usm not in USM_KINDS:
        raise ValueError(f"usm={usm!r}: use one of {', '.join(map(repr, USM_KINDS))}")
    if not getattr(queue.sycl_device, f"has_aspect_usm_{usm}_allocations"):
        raise Unsupported(f"the device has no {usm} USM")
    try:
        return tensor.empty(shape, dtype=dtype, usm_type=usm, sycl_queue=queue)
    except (MemoryError, dpctl.memory.USMAllocationError) as error:
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        raise TooLarge(f"the device could not allocate {size} bytes of {usm} USM") from error


def spoil(memory: Any) -> None:
    """Overwrite dpctl memory with a poison, and wait."""
    if memory.nbytes:
        memory.memset(POISON)


def watch(array: UsmArray) -> weakref.ref[Any]:
    """A weak reference to the memory of an array, or to the array where dpctl's memory allows none."""
    try:
        return weakref.ref(array.usm_data)
    except TypeError:
        return weakref.ref(array)


def memory_of(watched: weakref.ref[Any]) -> Any:
    """The memory of :func:`watch`; None when it is in use no more."""
    found = watched()
    return getattr(found, "usm_data", found)


def copy_async(queue: dpctl.SyclQueue, destination: Any, source: Any, depends: list[Any]) -> dpctl.SyclEvent:
    """Submit a copy between contiguous arrays of the same size in bytes; either side may be a numpy array.

    Raises:
        ValueError: the sizes differ or a side is not contiguous.
    """
    target, count = _bytes_of(destination)
    origin, origin_count = _bytes_of(source)
    if count != origin_count:
        raise ValueError(f"copy: the destination has {count} bytes, the source {origin_count}")
    return queue.memcpy_async(target, origin, count, depends)


def traffic(destination: Any, source: Any, size_bytes: int) -> Traffic:
    """The bytes that a copy writes, and the kinds of memory at both ends; another device's memory is ``peer``."""
    kinds = [_kind_of(source), _kind_of(destination)]
    if kinds == ["device", "device"] and _device_of(source) != _device_of(destination):
        return Traffic(int(size_bytes), PEER_ROUTE)
    return Traffic(int(size_bytes), "_to_".join(kinds))


def _device_of(side: Any) -> Any:
    return getattr(side, "sycl_device", None)


def _kind_of(side: Any) -> str:
    """``device``, ``shared`` or ``host`` of USM, else ``pageable``."""
    if isinstance(side, np.ndarray):
        return "pageable"
    usm_array = as_usm_array(side)
    memory = side if usm_array is None else usm_array.usm_data
    return str(memory.get_usm_type()) if hasattr(memory, "get_usm_type") else "pageable"


def _bytes_of(array: Array | UsmArray) -> tuple[Any, int]:
    """The memory that dpctl copies from or to, and its size in bytes."""
    if isinstance(array, np.ndarray):
        if not array.flags.c_contiguous:
            raise ValueError("copy: the host array is not contiguous")
        return array.reshape(-1).view(np.uint8), array.nbytes
    usm_array = as_usm_array(array)
    if usm_array is None:
        return array, array.nbytes
    if not usm_array.flags.c_contiguous:
        raise ValueError("copy: the device array is not contiguous")
    # as_usm_memory honours a slice's offset; usm_data is the whole allocation.
    return dpctl.memory.as_usm_memory(usm_array), usm_array.nbytes


class DeviceMemory:
    """Untimed transfers for setting a problem up and reading its results."""

    def __init__(self, queue: dpctl.SyclQueue) -> None:
        self._queue = queue

    def upload(self, array: Array) -> Any:
        """A device array with the contents of a host array.

        Raises:
            Unsupported: the device lacks the memory.
        """
        device_array = allocate(array.shape, array.dtype, self._queue)
        self.write(device_array, array)
        return device_array

    def write(self, destination: Any, source: Array) -> None:
        """Overwrite a device array, and wait."""
        if source.size > _FIRST and not any(source.strides):
            self._fill(destination, source)
        elif source.nbytes:
            contiguous = np.ascontiguousarray(source)  # must outlive the copy, which reads it when the device likes
            copy_async(self._queue, destination, contiguous, []).wait()

    def rewrite(self, array: UsmArray) -> None:
        """Overwrite a device array with what it holds, and wait: part after part, by way of another array."""
        flat = tensor.tensor.reshape(array, (-1,))
        other = allocate(min(flat.size, _FIRST), flat.dtype, self._queue)
        for begin in range(0, flat.size, _FIRST):
            part = flat[begin : begin + _FIRST]
            self.copy(other[: part.size], part)
            self.copy(part, other[: part.size])

    def copy(self, destination: Any, source: Any) -> None:
        """Overwrite a device array with another one of its size, and wait."""
        if source.nbytes:
            copy_async(self._queue, destination, source, []).wait()

    def _fill(self, destination: Any, source: Array) -> None:
        """Write an array whose elements are one in memory (`numpy.broadcast_to`): the device doubles its beginning."""
        flat = tensor.tensor.reshape(destination, (-1,))
        self.write(flat[:_FIRST], np.full(_FIRST, source.flat[0]))
        done = _FIRST
        while done < source.size:
            more = min(done, source.size - done)
            copy_async(self._queue, flat[done : done + more], flat[:more], []).wait()
            done += more

    def read(self, source: Any) -> Array:
        """A host copy of a device array."""
        host_array = np.empty(source.shape, source.dtype)
        if host_array.nbytes:
            copy_async(self._queue, host_array, source, []).wait()
        return host_array
