"""Refused commands: was one refused since the driver has no clock, which a queue with profiling needs?"""

from __future__ import annotations

from typing import Final

import dpctl

from xebench.system.sycl_types import Queue

NO_CLOCK: Final = (
    "its driver takes commands only without profiling: it has no clock (seen with a Level Zero loader of another age "
    "than the driver): install both from one release, or choose another device"
)


def lacks_clock(queue: Queue) -> bool:
    """Whether the driver of the queue's device takes a copy of one byte on a queue without profiling only."""
    return queue.has_enable_profiling and _takes_a_copy(queue, []) and not _takes_a_copy(queue, ["enable_profiling"])


def _takes_a_copy(queue: Queue, properties: list[str]) -> bool:
    try:
        other = dpctl.SyclQueue(queue.sycl_context, queue.sycl_device, property=["in_order", *properties])
        other.memcpy_async(bytearray(1), b"1", 1).wait()
    except Exception:  # dpctl has an error of its own for each method
        return False
    return True
