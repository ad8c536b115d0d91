"""Whether the runtime and the driver have heeded the variables that a variant asks for.

A variable that nobody reads changes nothing, and two equal programs would be compared: newer drivers want other ways to
set the engines, and the second version of the runtime's adapter for Level Zero has no regular command lists. So what
can be looked up afterwards is, and a variant whose variable was not heeded is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

import dpctl

from xebench.dpex.native_handles import device_handle, has_immediate_list
from xebench.errors import Unsupported
from xebench.runtime import level_zero_library, relevant_environment
from xebench.runtime.kept_builds import kept_builds

#: Of Intel's GPU driver: whether it keeps builds on disk.
_CACHE: Final = "NEO_CACHE_PERSISTENT"


class Found(NamedTuple):
    """What was found of a variable, in a few words, and whether that is what was asked for."""

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


_ON_LEVEL_ZERO: Final[Mapping[str, Callable[[str, dpctl.SyclQueue], Found]]] = {
    "ZE_FLAT_DEVICE_HIERARCHY": _hierarchy,
    "ZEX_NUMBER_OF_CCS": _engines,
    "UR_L0_USE_IMMEDIATE_COMMANDLISTS": _lists,
    "I_MPI_OFFLOAD_CELL_LIST": _pinned,
    "I_MPI_OFFLOAD_DEVICE_LIST": _pinned,
}


@contextmanager
def looked_up(environment: Mapping[str, str], queue: dpctl.SyclQueue) -> Iterator[dict[str, str]]:
    """What is found of these variables while a variant is called for the first time.

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
