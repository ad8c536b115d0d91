"""Device memory: arrays, copies between host and device, imported host memory, and the flush before a cold sample."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any, Final

import dpctl
import dpctl.memory
import numpy as np
import numpy.typing as npt

from numba_sycl import kernel, level_zero_library, tensor
from numba_sycl.kernel_api import NdRange
from numba_sycl.kernel_store import KernelStore
from numba_sycl.signature import as_usm_array
from numba_sycl.sycl_types import Array, UsmArray
from xebench.dpex.sycl_calls import prepare_for_device_copy, release_from_device_copy
from xebench.errors import TooLarge, Unsupported, XebenchError
from xebench.session.recorder import Traffic
from xebench.system.runtime import level_zero
from xebench.system.runtime.machine import last_level_cache_bytes


def import_memory(array: npt.NDArray[Any], queue: dpctl.SyclQueue) -> None:
    """Call SYCL's ``prepare_for_device_copy`` (G 7153), and the opposite when the array is gone.

    Args:
        array: contiguous array.
        queue: queue whose context selects the driver.

    Raises:
        TypeError: it is no contiguous array of numpy.
        Unsupported: this is not Level Zero, or its driver has not taken it.
    """
    if not isinstance(array, np.ndarray) or not array.flags.c_contiguous:
        raise TypeError("session.import_memory takes a contiguous array of numpy")
    if queue.backend != dpctl.backend_type.level_zero:
        raise Unsupported("needs the level_zero backend: other drivers import no memory of the host")
    address, context = array.ctypes.data, queue.sycl_context
    prepare_for_device_copy(address, array.nbytes, context)
    weakref.finalize(array, release_from_device_copy, address, context)
    if not level_zero.is_imported(level_zero_library.open_library(), address):
        raise Unsupported("needs a Level Zero driver that imports memory of the host: this one does not")


#: Elements of an array of equal ones that the host copies; the device doubles them.
_FIRST: Final = 1 << 18

USM_KINDS: Final = ("device", "shared", "host")
#: The route of a copy between two devices, or between two parts of one.
PEER_ROUTE: Final = "device_to_peer"

#: Byte that fills unwritten memory: NaN in floating point, -1 in integers.
POISON: Final = 0xFF
_FIRST_BYTES: Final = 64


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


#: Guard bytes behind an array: a cache line of any device, and out-of-bounds writes of a sub-group.
GUARD_BYTES: Final = 256


def require_numbers(dtype: Any) -> None:
    """Refuse elements that no kernel takes.

    Raises:
        XebenchError: they are records.
    """
    if np.dtype(dtype).fields:
        names = ", ".join(np.dtype(dtype).names or ())
        raise XebenchError(f"an array of records ({names}): use an array for each field")


def allocate_guarded(shape: int | tuple[int, ...], dtype: Any, queue: dpctl.SyclQueue) -> Any:
    """A poisoned array of device memory, with a guard behind it that holds the poison, too.

    Host code may see other kinds of USM by their whole allocation, so these have no guard.

    Raises:
        TooLarge: the device lacks the memory.
    """
    require_numbers(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    memory = allocate(size + GUARD_BYTES, np.int8, queue).usm_data
    spoil(memory)
    return tensor.usm_ndarray(shape, dtype=dtype, buffer=memory)


def was_overrun(array: UsmArray) -> bool:
    """True if something was written behind a guarded array; the guard is set back."""
    memory: Any = array.usm_data
    behind = tensor.usm_ndarray(GUARD_BYTES, dtype=np.uint8, buffer=memory, offset=memory.nbytes - GUARD_BYTES)
    found, poison = np.empty(GUARD_BYTES, np.uint8), np.full(GUARD_BYTES, POISON, np.uint8)
    copy_async(memory.sycl_queue, found, behind, []).wait()
    overrun = not np.array_equal(found, poison)
    if overrun:
        copy_async(memory.sycl_queue, behind, poison, []).wait()
    return overrun


def spoil(memory: Any) -> None:
    """Overwrite dpctl memory with a poison, and wait."""
    if memory.nbytes:
        memory.memset(POISON)


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


def host_view(array: UsmArray) -> Array:
    """The bytes of a contiguous array that the host reads in place: of a CPU device, whose memory is the host's.

    The array must be kept for as long as the view is.
    """
    memory, size = _bytes_of(array)
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(memory._pointer))


class DeviceMemory:
    """Untimed transfers for setting a problem up and reading its results."""

    def __init__(self, queue: dpctl.SyclQueue) -> None:
        self._queue = queue

    def upload_guarded(self, array: Array) -> Any:
        """A device array with the contents of a host array, and a guard behind it (`allocate_guarded`).

        Raises:
            TooLarge: the device lacks the memory.
        """
        device_array = allocate_guarded(array.shape, array.dtype, self._queue)
        self.write(device_array, array)
        return device_array

    def upload(self, array: Array) -> Any:
        """A device array with the contents of a host array.

        Raises:
            Unsupported: the device lacks the memory.
        """
        device_array = allocate(array.shape, array.dtype, self._queue)
        self.write(device_array, array)
        return device_array

    @staticmethod
    def was_overrun(array: UsmArray) -> bool:
        """True if something was written behind an array of `upload_guarded`."""
        return was_overrun(array)

    def write(self, destination: Any, source: Array) -> None:
        """Overwrite a device array, and wait."""
        if source.size > _FIRST and not any(source.strides):
            self._fill(destination, source)
        elif source.nbytes:
            contiguous = np.ascontiguousarray(source)  # must outlive the copy, which reads it when the device likes
            copy_async(self._queue, destination, contiguous, []).wait()

    @staticmethod
    def flat(array: UsmArray) -> Any:
        """The same memory in one dimension."""
        return tensor.tensor.reshape(array, (-1,))

    def _fill(self, destination: Any, source: Array) -> None:
        """Write an array whose elements are one in memory (`numpy.broadcast_to`): the device doubles its beginning."""
        flat = self.flat(destination)
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


#: Size of the buffer, in sizes of the last-level cache: one alone leaves lines in caches that do not evict the oldest.
CACHES = 2

LEAST_BYTES = 64 << 20
#: The largest cache of the known devices (408 MiB, Data Center GPU Max), assumed for a cache of unknown size.
LARGEST_CACHE_BYTES = 408 << 20
#: The buffer takes at most 1 / this of the device's memory.
PART_OF_MEMORY = 16

GROUP = 256

FIRST_FLUSHES = 5
#: How much faster than a flush other reads and writes of the memory may be.
MOST_OVER_FLUSH = 4 / 3


# Reads and writes: a Xeon with 480 MiB of cache keeps most of an array of 4 MiB while 960 MiB are only read or written.
@kernel
def _touch(item: Any, buffer: Any) -> None:
    i = item.get_global_id(0)
    buffer[i] = np.int32(buffer[i] + 1)


class Flusher:
    """Flushes the caches of one device, and measures the memory's bandwidth meanwhile.

    Args:
        queue: queue on the device, with profiling.

    Attributes:
        covers: True if the buffer is twice as large as any cache that the device may have.
        limit_gbps: largest bandwidth of the memory; faster transfers came from a cache.

    Raises:
        TooLarge: the device has no room for the buffer.
    """

    def __init__(self, queue: dpctl.SyclQueue) -> None:
        # its own store: its kernels and launches belong to no case
        self._kernels = KernelStore()
        self._queue = queue
        device = queue.sycl_device
        most_bytes = min(int(device.global_mem_size) // PART_OF_MEMORY, int(device.max_mem_alloc_size))
        size, self.covers = flush_bytes(cache_bytes(device), most_bytes)
        groups = -(-size // (4 * GROUP))
        self._space = NdRange((groups * GROUP,), (GROUP,))
        self._buffer = allocate(groups * GROUP, np.int32, queue)
        self.limit_gbps = 0.0
        for _ in range(FIRST_FLUSHES):
            self.flush()

    def flush(self) -> None:
        """Return when the buffer has been written and read."""
        event = self._kernels.submit(_touch, self._queue, self._space, (self._buffer,), ())
        _, start_ns, end_ns = event.times()
        if end_ns > start_ns:
            flush_gbps = 2 * self._buffer.nbytes / (end_ns - start_ns)
            self.limit_gbps = max(self.limit_gbps, MOST_OVER_FLUSH * flush_gbps)


def flush_bytes(known_cache_bytes: int, most_bytes: int) -> tuple[int, bool]:
    """The size of the buffer, and whether it is twice any cache that the device may have.

    Args:
        known_cache_bytes: size of the last-level cache; 0 if unknown.
        most_bytes: free memory of the device.
    """
    wanted = max(LEAST_BYTES, CACHES * (known_cache_bytes or LARGEST_CACHE_BYTES))
    return min(wanted, most_bytes), wanted <= most_bytes


def cache_bytes(device: dpctl.SyclDevice) -> int:
    """The largest last-level cache that the device, or for a CPU the system's kernel, reports; 0 if unknown."""
    told = int(device.global_mem_cache_size)
    return max(told, last_level_cache_bytes() or 0) if device.is_cpu else told
