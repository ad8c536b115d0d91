"""Intel's OpenMP runtime for devices, called by the functions that its compilers call for target regions.

Memory and ``map`` clauses need no code that a compiler makes, so Python can do what a program in C does with them. The
runtime comes with intel-openmp, which dpcpp-cpp-rt and mkl bring. Every function returns when its copies are over.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import tempfile
from collections.abc import Sequence
from enum import IntFlag
from typing import Any, Final, NamedTuple

import dpctl
import numpy as np

from numba_sycl import level_zero_library, libraries
from numba_sycl.native_handles import device_handle
from numba_sycl.sycl_types import Array, Device
from xebench.errors import Unsupported
from xebench.system.children import Program
from xebench.system.children.process import answer, ask
from xebench.system.runtime import level_zero, set_variables

__all__ = ["Map", "TargetDevice", "TargetRegion", "target_device"]

LIBRARY: Final = "libomptarget.so"

#: What it needs, which wheels do not find by themselves.
_NEEDED: Final = ("libintlc.so.5", "libirng.so", "libimf.so", "libsvml.so", "libiomp5.so", "libur_loader.so.0")

#: A process that starts the runtime once.
_TIMEOUT_S: Final = 60

_ADDRESS, _SIZE, _NUMBER = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int

_SIGNATURES: Final = {
    "omp_get_num_devices": (_NUMBER,),
    "omp_get_initial_device": (_NUMBER,),
    "omp_target_get_context": (_ADDRESS, _NUMBER),
    "omp_target_alloc": (_ADDRESS, _SIZE, _NUMBER),
    "omp_target_free": (None, _ADDRESS, _NUMBER),
    "omp_target_memcpy": (_NUMBER, _ADDRESS, _ADDRESS, *[_SIZE] * 3, *[_NUMBER] * 2),
    "omp_get_mapped_ptr": (_ADDRESS, _ADDRESS, _NUMBER),
    "__tgt_target_data_begin_mapper": (None, _ADDRESS, ctypes.c_int64, ctypes.c_int32, *[_ADDRESS] * 6),
    "__tgt_target_data_end_mapper": (None, _ADDRESS, ctypes.c_int64, ctypes.c_int32, *[_ADDRESS] * 6),
}


class Map(IntFlag):
    """The way of a ``map`` clause: copied at the region's begin, at its end, also if the array is there already."""

    ALLOC = 0
    TO = 1
    FROM = 2
    ALWAYS = 4


class TargetDevice:
    """A device of OpenMP by its number, and its memory by addresses.

    Raises:
        Unsupported: this environment has no such runtime.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self._runtime = _runtime()
        self._host = self._runtime.omp_get_initial_device()

    @property
    def context(self) -> ctypes.c_void_p:
        """The native handle of the context to which its memory belongs."""
        return ctypes.c_void_p(self._runtime.omp_target_get_context(self.number))

    def alloc(self, size_bytes: int) -> int:
        """The address of so many bytes of device memory; `free` must follow.

        Raises:
            Unsupported: there are not so many.
        """
        address = self._runtime.omp_target_alloc(size_bytes, self.number)
        if not address:
            raise Unsupported(f"OpenMP has no {size_bytes} bytes of device memory")
        return int(address)

    def free(self, address: int) -> None:
        """Give memory of `alloc` back."""
        self._runtime.omp_target_free(address, self.number)

    def copy(self, destination: Array | int, source: Array | int, size_bytes: int) -> None:
        """Copy bytes between contiguous numpy arrays and device memory, which is given by its address.

        Raises:
            Unsupported: the runtime has not copied them.
        """
        (to, to_device), (origin, from_device) = (self._side(side) for side in (destination, source))
        if self._runtime.omp_target_memcpy(to, origin, size_bytes, 0, 0, to_device, from_device):
            raise Unsupported(f"OpenMP has not copied {size_bytes} bytes")

    def _side(self, side: Array | int) -> tuple[int, int]:
        return (side, self.number) if isinstance(side, int) else (_address(side), self._host)


class TargetRegion:
    """A target region: on entry and exit it copies arrays as their ``map`` clauses say; it can be entered again.

    Args:
        device: device where it runs.
        clauses: contiguous numpy arrays, which the region keeps alive, and the way of each.
    """

    def __init__(self, device: TargetDevice, clauses: Sequence[tuple[Map, Array]]) -> None:
        self._device, self._arrays, count = device, [array for _, array in clauses], len(clauses)
        pointers = (_ADDRESS * count)(*map(_address, self._arrays))
        sizes = (ctypes.c_int64 * count)(*(array.nbytes for array in self._arrays))
        ways = (ctypes.c_int64 * count)(*(int(way) for way, _ in clauses))
        self._arguments = None, device.number, count, pointers, pointers, sizes, ways, None, None
        self._begin, self._end = (getattr(_runtime(), f"__tgt_target_data_{name}_mapper") for name in ("begin", "end"))

    def __enter__(self) -> TargetRegion:
        self._begin(*self._arguments)
        return self

    def __exit__(self, *_: object) -> None:
        self._end(*self._arguments)

    def address(self, array: Array) -> int:
        """The device address of an array while a region maps it."""
        return int(_runtime().omp_get_mapped_ptr(_address(array), self._device.number))


@functools.cache
def target_device(device: Device) -> TargetDevice:
    """The device of OpenMP that a ``dpctl.SyclDevice`` on Level Zero is.

    Raises:
        Unsupported: OpenMP has no such device here, or no runtime.
    """
    if device.backend.name != "level_zero":
        raise Unsupported(f"OpenMP's memory is found by Level Zero, and the device is on {device.backend.name}")
    library, count = level_zero_library.open_library(), _runtime().omp_get_num_devices()
    for target in map(TargetDevice, range(count)):
        address = target.alloc(1)
        owner = level_zero.owner(library, target.context, address)
        target.free(address)
        if owner is not None and owner == device_handle(device).value:
            return target
    raise Unsupported(f"Intel's OpenMP runtime has {count} devices here, and this one is not among them")


class Copies(NamedTuple):
    """How the runtime hands two arrays of one region to the driver.

    Attributes:
        lists: regular command lists that are executed for both; 0: it has immediate ones, or the host copies.
        staged: they are copied to a buffer of the runtime before.
    """

    lists: int
    staged: bool


@functools.cache
def traced_copies(device: str, size_kib: int) -> Copies:
    """How arrays of a size are copied to a device with this process's variables, by the trace of another process.

    Args:
        device: SYCL filter string, such as ``level_zero:gpu:0``.
        size_kib: size of an array.

    Raises:
        Unsupported: the runtime does not run here, or its trace is of another form.
    """
    told = ask(Program.TRACE_OPENMP, [device, str(size_kib)], timeout_s=_TIMEOUT_S)
    if told.failure is not None:
        raise Unsupported(f"Intel's OpenMP runtime shows no copies: {told.failure}")
    return Copies(*told.value)


def _trace(arguments: list[str]) -> Copies:
    """The part of `traced_copies` that runs in a process which has not yet loaded the runtime."""
    set_variables({"LIBOMPTARGET_DEBUG": "2"})
    errors = os.dup(2)
    with tempfile.TemporaryFile() as trace:
        os.dup2(trace.fileno(), 2)
        try:
            _runtime()  # before the SYCL runtime starts Level Zero, whose loader writes the trace of 2026
            device = target_device(dpctl.SyclDevice(arguments[0]))
            arrays = [np.zeros(int(arguments[1]) << 10, np.uint8) for _ in range(2)]
            begin = trace.seek(0, os.SEEK_END)
            with TargetRegion(device, [(Map.TO, array) for array in arrays]):
                pass
            trace.seek(begin)
            text = trace.read().decode(errors="replace")
        finally:
            os.dup2(errors, 2)
    return copies_of(text, set(map(_address, arrays)))


def copies_of(trace: str, own: set[int]) -> Copies:
    """Read a trace of Level Zero's functions.

    Args:
        trace: trace in the format of the 2024 or the 2026 runtime.
        own: addresses of the arrays.

    Raises:
        Unsupported: it names none of Level Zero's functions.
    """
    called = re.findall(r"(?:_CALLEE:|\) in) (ze\w+)", trace)
    if not called:
        raise Unsupported("its trace names no function of Level Zero")
    sources = [int(address, 16) for address in re.findall(r"\bsrcptr ?= ?(0x[0-9a-f]+)", trace)]
    return Copies(called.count("zeCommandQueueExecuteCommandLists"), bool(sources) and own.isdisjoint(sources))


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


@functools.cache
def _runtime() -> Any:
    """The runtime with all its devices, and every function with its types.

    Raises:
        Unsupported: it is not here, or is another one.
    """
    for name in _NEEDED:
        libraries.open_library(str(libraries.find_library(name) or name))
    try:
        library = ctypes.CDLL(str(libraries.find_library(LIBRARY) or LIBRARY))
        for name, (result, *arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        for name in ("__tgt_rtl_init", "__tgt_init_all_rtls"):  # a compiler's program does so before its first region
            start = getattr(library, name)
            start.restype = None
            start()
    except (OSError, AttributeError) as error:
        raise Unsupported(f"needs Intel's OpenMP runtime for devices (package intel-openmp): {error}") from error
    return library


if __name__ == "__main__":
    answer(_trace)
