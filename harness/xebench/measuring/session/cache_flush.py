"""Empty the device's caches before a cold sample: write and read a buffer that is larger than the last of them."""

from __future__ import annotations

from typing import Any

import dpctl
import numpy as np

from xebench.dpex import kernel
from xebench.dpex.kernel_api import NdRange
from xebench.dpex.kernel_store import KernelStore
from xebench.measuring.session.device_memory import allocate
from xebench.system.runtime.cpu_caches import last_level_cache_bytes

#: Size of the buffer in last-level caches: with one alone, a cache that does not evict the oldest lines keeps some.
CACHES = 2
LEAST_BYTES = 64 << 20
#: The largest cache of the devices known (408 MiB, Data Center GPU Max): for one whose size nobody knows.
LARGEST_CACHE_BYTES = 408 << 20
#: Of the device's memory, the buffer takes no more than this part.
PART_OF_MEMORY = 16
GROUP = 256
FIRST_FLUSHES = 5


@kernel
def _touch(item: Any, buffer: Any) -> None:
    i = item.get_global_id(0)
    buffer[i] = np.int32(buffer[i] + 1)


class Flusher:
    """Flushes the caches of one device, and sees how fast its memory is at that.

    Args:
        queue: of the device, with profiling.
        roof_gbps: what is known of the memory's bandwidth.
        known_cache_bytes: the size of the last-level cache; None if nobody tells and nothing showed it.

    Attributes:
        covers: whether the buffer has twice the size of any cache that the device may have.
        limit_gbps: the highest bandwidth of the memory that was seen: what is faster did not come from it.

    Raises:
        TooLarge: the device has no room for the buffer.
    """

    def __init__(self, queue: dpctl.SyclQueue, roof_gbps: float = 0.0, known_cache_bytes: int | None = None) -> None:
        # a store of its own: what it compiles and launches belongs to no case
        self._kernels = KernelStore()
        self._queue = queue
        device = queue.sycl_device
        most_bytes = min(int(device.global_mem_size) // PART_OF_MEMORY, int(device.max_mem_alloc_size))
        size, self.covers = flush_bytes(known_cache_bytes or cache_bytes(device), most_bytes)
        groups = -(-size // (4 * GROUP))
        self._space = NdRange((groups * GROUP,), (GROUP,))
        self._buffer = allocate(groups * GROUP, np.int32, queue)
        self.limit_gbps = roof_gbps
        for _ in range(FIRST_FLUSHES):
            self.flush()

    def flush(self) -> None:
        """Return when the buffer has been written and read."""
        event = self._kernels.submit(_touch, self._queue, self._space, (self._buffer,), ())
        _, start_ns, end_ns = event.times()
        # a roof that was measured while others used the memory is too low; each flush is another measurement of it
        if end_ns > start_ns:
            self.limit_gbps = max(self.limit_gbps, 2 * self._buffer.nbytes / (end_ns - start_ns))


def flush_bytes(known_cache_bytes: int, most_bytes: int) -> tuple[int, bool]:
    """The size of the buffer, and whether it is twice any cache that the device may have.

    Args:
        known_cache_bytes: the last-level cache; 0 if it is not known.
        most_bytes: what the device has room for.
    """
    wanted = max(LEAST_BYTES, CACHES * (known_cache_bytes or LARGEST_CACHE_BYTES))
    return min(wanted, most_bytes), wanted <= most_bytes


def cache_bytes(device: dpctl.SyclDevice) -> int:
    """The largest last-level cache that the device, or for a CPU the system's kernel, reports; 0 if unknown."""
    told = int(device.global_mem_cache_size)
    return max(told, last_level_cache_bytes() or 0) if device.is_cpu else told
