"""Verify that the runtime and the driver have heeded the variables of a variant.

A variable that nobody reads changes nothing, and two equal programs would be compared: newer drivers want other ways to
set the engines, and the second version of the runtime's adapter for Level Zero has no regular command lists. So what
can be looked up afterwards is, and a variant whose variable was not heeded is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Final, NamedTuple

import dpctl
import dpctl.memory

from xebench.dpex.native_handles import context_handle, device_handle, has_immediate_list
from xebench.errors import Unsupported
from xebench.system.runtime import level_zero_library, relevant_environment, variables
from xebench.system.runtime.variables import kept_builds

#: Whether Intel's GPU driver keeps builds on disk.
_CACHE: Final = "NEO_CACHE_PERSISTENT"


class Found(NamedTuple):
    """The state of a variable, in a few words, and if it is the wanted one."""

    words: str
    heeded: bool


def _hierarchy(wanted: str, queue: dpctl.SyclQueue) -> Found:
    """Stacks are devices (FLAT, COMBINED), or parts of one."""
    try:
        stacks = len(queue.sycl_device.create_sub_devices(partition="numa"))
    except dpctl.SyclSubDeviceCreationError:
        stacks = 0
    # a GPU of one stack is the same device in all of them
    return Found(f"{stacks} stacks in the device", wanted == "COMPOSITE" or stacks == 0)


def _engines(wanted: str, _queue: dpctl.SyclQueue) -> Found:
    """``0:4``: the first device shows four, whichever a rank has."""
    library, device = level_zero_library.open_library(), dpctl.SyclDevice("level_zero:gpu:0")
    found = level_zero_library.compute_engines(library, device_handle(device))
    first = next((each for each in wanted.split(",") if each.startswith("0:")), "")
    return Found(f"{found} compute engines", not first or found == int(first.removeprefix("0:")))


def _lists(wanted: str, queue: dpctl.SyclQueue) -> Found:
    found = has_immediate_list(queue)
    return Found(f"{'immediate' if found else 'regular'} command lists", found == (wanted != "0"))


def _pinned(_wanted: str, _queue: dpctl.SyclQueue) -> Found:
    """Intel's launcher hides all but a rank's own stack from it."""
    mask = relevant_environment().get("ZE_AFFINITY_MASK", "")
    return Found(f"ZE_AFFINITY_MASK={mask}" if mask else "the launcher sets no ZE_AFFINITY_MASK", bool(mask))


def _no_pool(_wanted: str, queue: dpctl.SyclQueue) -> Found:
    return _pool(1 << 20, queue, kept=False)


def _larger_pool(_wanted: str, queue: dpctl.SyclQueue) -> Found:
    return _pool(16 << 20, queue, kept=True)  # without the variable it keeps up to 4 MiB


def _pool(size_bytes: int, queue: dpctl.SyclQueue, *, kept: bool) -> Found:
    """The driver has an array still that was freed, if the runtime keeps it for the next one of its size."""
    memory = dpctl.memory.MemoryUSMDevice(size_bytes, queue=queue)
    address = memory._pointer
    del memory
    library, context = level_zero_library.open_library(), context_handle(queue.sycl_context)
    found = level_zero_library.is_allocated(library, context, address)
    return Found(f"an array of {size_bytes >> 20} MiB {'stays' if found else 'goes'} when it is freed", found == kept)


def _of_mpi(name: str, wanted: str, _queue: dpctl.SyclQueue) -> Found:
    found = variables.control_variable(name)
    return Found("this MPI does not read it" if found is None else f"MPI has {found}", found == int(wanted))


#: Variables of Intel's MPI that are whole numbers, which it reports.
_NUMBERS_OF_MPI: Final = (
    "I_MPI_OFFLOAD_BUFFER_NUM",
    "I_MPI_OFFLOAD_BUFFER_SIZE",
    "I_MPI_OFFLOAD_PIPELINE_THRESHOLD",
    "I_MPI_OFFLOAD_CACHE_TOTAL_MAX_SIZE",
)

_ON_LEVEL_ZERO: Final[Mapping[str, Callable[[str, dpctl.SyclQueue], Found]]] = {
    "ZE_FLAT_DEVICE_HIERARCHY": _hierarchy,
    "ZEX_NUMBER_OF_CCS": _engines,
    "UR_L0_USE_IMMEDIATE_COMMANDLISTS": _lists,
    "UR_L0_DISABLE_USM_ALLOCATOR": _no_pool,
    "UR_L0_USM_ALLOCATOR": _larger_pool,
    "I_MPI_OFFLOAD_CELL_LIST": _pinned,
    "I_MPI_OFFLOAD_DEVICE_LIST": _pinned,
    **{name: partial(_of_mpi, name) for name in _NUMBERS_OF_MPI},
}


@contextmanager
def looked_up(environment: Mapping[str, str], queue: dpctl.SyclQueue) -> Iterator[dict[str, str]]:
    """Look up these variables while a variant is called for the first time.

    Args:
        environment: variables of this process that the variant asks for.
        queue: made since they were set.

    Raises:
        Unsupported: one was not heeded.
    """
    words: dict[str, str] = {}
    device = queue.sycl_device
    if device.backend == dpctl.backend_type.level_zero:
        for name in environment.keys() & _ON_LEVEL_ZERO.keys():
            words[name] = _heeded(name, environment[name], _ON_LEVEL_ZERO[name](environment[name], queue))
    before = kept_builds()
    yield words
    if _CACHE in environment and device.is_gpu and "intel" in device.vendor.lower():
        kept = kept_builds()
        found = Found(f"{len(kept - before)} new builds kept", kept == before)
        if environment[_CACHE] != "0":
            found = Found(f"{len(kept)} builds kept", bool(kept))
        words[_CACHE] = _heeded(_CACHE, environment[_CACHE], found)


def _heeded(name: str, wanted: str, found: Found) -> str:
    if not found.heeded:
        raise Unsupported(f"{name}={wanted} was not heeded: {found.words}")
    return found.words
