"""Memory of random sizes between allocations: instances of a family lie at other places in memory.

An allocator that frees and allocates in the same order gives the same addresses again, and equal programs with memory
of their own would differ by up to 9 % in all instances alike (`docs/measurement.md`, "Why several instances").
"""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any, Final

import dpctl
import numpy as np

from xebench.errors import TooLarge
from xebench.session.device_memory import allocate

#: Number of spacers added at once, in the device's and in the host's memory each.
COUNT: Final = 4
#: Largest spacer in bytes, and the divisor of the device's memory that limits it further.
LARGEST_BYTES: Final = 2 << 20
PART_OF_MEMORY: Final = 4096
PAGE_BYTES: Final = 4096
LINE_BYTES: Final = 64


class Spacers:
    """Spacers on one device and its host, which are held until they are cleared.

    Args:
        queue: queue on the device.
    """

    def __init__(self, queue: dpctl.SyclQueue) -> None:
        self._queue = queue
        most_bytes = min(LARGEST_BYTES, int(queue.sycl_device.global_mem_size) // PART_OF_MEMORY)
        self._most_pages = max(1, most_bytes // PAGE_BYTES)
        self._random = random.Random()  # other processes get other places, too
        self._held: list[Any] = []

    def add(self) -> None:
        """Hold some more; a device that is full goes without."""
        for _ in range(COUNT):
            self._held.append(np.empty(self._size(), np.int8))
            with suppress(TooLarge):
                self._held.append(allocate(self._size(), np.int8, self._queue))

    def clear(self) -> None:
        """Free all of them."""
        self._held.clear()

    def _size(self) -> int:
        """Bytes of a spacer: small ones as often as large ones, so that both kinds of allocators move on."""
        pages = int(self._most_pages ** self._random.random())
        return pages * PAGE_BYTES + LINE_BYTES * self._random.randrange(PAGE_BYTES // LINE_BYTES)
