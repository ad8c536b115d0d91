"""Both widths of a kernel's indices in one launch, and an error where they leave different bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numba_sycl import native_handles
from numba_sycl.errors import WidthsDiffer
from numba_sycl.events import DeviceEvent
from numba_sycl.launch import PreparedLaunch
from numba_sycl.signature import as_usm_array
from numba_sycl.sycl_types import Event


def submit_both(
    wide: PreparedLaunch, narrow: PreparedLaunch, arguments: Sequence[Any], depends: Sequence[Event]
) -> DeviceEvent:
    """Launch a kernel in 64 bits, restore its arrays, and launch it in 32 bits, whose event it gives; waits for both.

    A kernel that gives other bytes each time, as by sums of floats by atomics, differs from itself.

    Args:
        wide, narrow: the same launch with both modules of a kernel.
        arguments: arguments of both.
        depends: events to wait for.

    Raises:
        WidthsDiffer: they leave different bytes in an array.
    """
    for event in depends:
        native_handles.event_wait(event.addressof_ref())
    memories = {place: array.usm_data for place, array in enumerate(map(as_usm_array, arguments)) if array is not None}
    before = {place: memory.copy_to_host() for place, memory in memories.items()}
    wide.submit().wait()
    expected = {place: memory.copy_to_host() for place, memory in memories.items()}
    for place, memory in memories.items():
        memory.copy_from_host(before[place])
    event = narrow.submit()
    event.wait()
    for place, memory in memories.items():
        if not np.array_equal(memory.copy_to_host(), expected[place]):
            name = narrow.device_kernel.compiled.name
            raise WidthsDiffer(
                f"kernel {name}: with indices in 32 bits it leaves other bytes in argument {place} than with 64: "
                "if it gives the same bytes each time, report it, and set NUMBA_SYCL_NARROW=off until then"
            )
    return event
