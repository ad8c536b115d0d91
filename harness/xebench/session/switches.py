"""Verify that the variables of a variant have had an effect on the runtime and the driver.

A variable without effect would make two equal programs be compared. Newer drivers set engines in another way, and
the second version of the runtime's adapter for Level Zero has no regular command lists. So the effect is looked up
afterwards where possible, and a variant whose variable had no effect is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Final, NamedTuple

import dpctl

from numba_sycl import level_zero_library
from numba_sycl.native_handles import device_handle
from xebench.dpex import openmp
from xebench.dpex.sycl_calls import has_immediate_list
from xebench.errors import Unsupported
from xebench.system.runtime import level_zero, relevant_environment, variables
from xebench.system.runtime.variables import kept_builds

#: Variable by which Intel's GPU driver keeps builds on disk or does not.
_CACHE: Final = "NEO_CACHE_PERSISTENT"


class Found(NamedTuple):
    """The state of a variable, in a few words, and if it is the wanted one."""

    words: str
    heeded: bool


def _stacks(device: dpctl.SyclDevice) -> list[dpctl.SyclDevice]:
    """Its parts; none where a stack is a device."""
    try:
        return list(device.create_sub_devices(partition="numa"))
    except dpctl.SyclSubDeviceCreationError:
        return []


def _hierarchy(wanted: str, queue: dpctl.SyclQueue) -> Found:
    """Stacks are devices (FLAT, COMBINED), or parts of one."""
    stacks = len(_stacks(queue.sycl_device))
    # a GPU of one stack is the same device in all of them
    return Found(f"{stacks} stacks in the device", wanted == "COMPOSITE" or stacks == 0)


def _engines(wanted: str, _queue: dpctl.SyclQueue) -> Found:
    """``0:4``: each stack of the first device shows four, whichever a rank has. The undivided card shows one."""
    first = dpctl.SyclDevice("level_zero:gpu:0")
    of_stack, *_ = [*_stacks(first), first]
    found = level_zero.compute_engines(level_zero_library.open_library(), device_handle(of_stack))
    asked = next((each for each in wanted.split(",") if each.startswith("0:")), "")
    return Found(f"{found} compute engines", not asked or found == int(asked.removeprefix("0:")))


def _lists(wanted: str, queue: dpctl.SyclQueue) -> Found:
    found = has_immediate_list(queue)
    return Found(f"{'immediate' if found else 'regular'} command lists", found == (wanted != "0"))


def _pinned(_wanted: str, _queue: dpctl.SyclQueue) -> Found:
    """Intel's launcher hides all but a rank's own stack from it, unless the user names some himself (G 19262)."""
    mask = relevant_environment().get("ZE_AFFINITY_MASK", "")
    words = f"ZE_AFFINITY_MASK={mask}" if mask else "the launcher sets no ZE_AFFINITY_MASK"
    return Found(words, bool(mask) and "," not in mask)


def _openmp_pool(wanted: str, queue: dpctl.SyclQueue) -> Found:
    """A pool for allocations of up to so many MiB, ``device,16,4,256``: memory that is freed stays the runtime's."""
    target = openmp.target_device(queue.sycl_device)
    kept = wanted != "0"
    size_mib = int(wanted.split(",")[1]) if kept else 1
    address = target.alloc(size_mib << 20)
    target.free(address)
    owner = level_zero.owner(level_zero_library.open_library(), target.context, address)
    words = f"memory of {size_mib} MiB {'goes' if owner is None else 'stays'} when it is freed"
    return Found(words, (owner is not None) == kept)


def _openmp_lists(wanted: str, queue: dpctl.SyclQueue) -> Found:
    lists = openmp.traced_copies(queue.sycl_device.filter_string, 4).lists
    return Found(f"{lists} regular command lists for two copies", (lists > 0) == (wanted == "0"))


def _openmp_batch(_wanted: str, queue: dpctl.SyclQueue) -> Found:
    lists = openmp.traced_copies(queue.sycl_device.filter_string, 4).lists
    return Found(f"{lists} regular command lists for two copies", lists == 1)


def _openmp_staging(wanted: str, queue: dpctl.SyclQueue) -> Found:
    """Staging applies to copies no larger than the buffer from pageable host memory to a discrete GPU only."""
    staged = openmp.traced_copies(queue.sycl_device.filter_string, int(wanted) or 4).staged
    return Found(f"the driver copies from {'a buffer' if staged else 'the array itself'}", staged == (wanted != "0"))


def _of_mpi(name: str, wanted: str, _queue: dpctl.SyclQueue) -> Found:
    found = variables.control_variable(name)
    return Found("this MPI does not read it" if found is None else f"MPI has {found}", found == int(wanted))


#: Integer variables of Intel's MPI, which it reports.
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
    "LIBOMPTARGET_LEVEL_ZERO_MEMORY_POOL": _openmp_pool,
    "LIBOMPTARGET_LEVEL_ZERO_USE_IMMEDIATE_COMMAND_LIST": _openmp_lists,
    "LIBOMPTARGET_LEVEL_ZERO_COMMAND_BATCH": _openmp_batch,
    "LIBOMPTARGET_LEVEL_ZERO_STAGING_BUFFER_SIZE": _openmp_staging,
    "I_MPI_OFFLOAD_CELL_LIST": _pinned,
    "I_MPI_OFFLOAD_DEVICE_LIST": _pinned,
    **{name: partial(_of_mpi, name) for name in _NUMBERS_OF_MPI},
}


@contextmanager
def looked_up(environment: Mapping[str, str], queue: dpctl.SyclQueue) -> Iterator[dict[str, str]]:
    """Look up these variables while a variant is called for the first time.

    Args:
        environment: the variant's variables, as this process has them.
        queue: made since they were set.

    Raises:
        Unsupported: one had no effect.
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
        raise Unsupported(f"{name}={wanted} had no effect: {found.words}")
    return found.words
