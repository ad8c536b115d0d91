"""Spread work: the number of work-items that fill a device, and the ranks of MPI of a session.

SYCL has no query for work-items that give every hardware thread of a device work, and a driver's native vector width is
a hint for vectors written by hand: it is 1 for GPUs whose threads have 32 lanes. So a compute unit counts as

- its hardware threads times the largest sub-group that the device offers, on an Intel GPU. Level Zero has their number
  (``sycl_ext_intel_device_info``); for OpenCL it is looked up by the GPU's name (`xebench.system.gpus`);
- `ASSUMED_ITEMS`, on any other device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import dpctl
from dpctl.utils import intel_device_info

from numba_sycl.sycl_types import Device, UsmArray
from xebench.errors import Unsupported
from xebench.system.gpus import GpuError, gpu_of_device

#: Work-items per compute unit if its threads are unknown. A multiprocessor of Nvidia's data-centre GPUs holds 2048
#: (CUDA C++ Programming Guide, technical specifications of compute capability 7.0 to 9.0), and so does a compute unit
#: of AMD's CDNA 3 (32 waves of 64). A CPU's core holds one sub-group; this gives it some work-groups one after another.
ASSUMED_ITEMS: Final = 2048


def device_lanes(device: Device) -> int:
    """Work-items that fill a ``dpctl.SyclDevice``."""
    told = intel_device_info(device).get("gpu_hw_threads_per_eu") if device.is_gpu else None
    threads = told or (threads_by_name(device.name) if device.is_gpu else None)
    return lanes(device.max_compute_units, device.sub_group_sizes or (), threads)


def lanes(compute_units: int, sub_group_sizes: Sequence[int], threads: int | None) -> int:
    """Work-items that fill a device.

    Args:
        compute_units: number of compute units of the device.
        sub_group_sizes: sub-group sizes that it offers.
        threads: hardware threads per compute unit; None if unknown.
    """
    return compute_units * (ASSUMED_ITEMS if threads is None else threads * max(sub_group_sizes, default=1))


def core_threads(device: Device, sub_group_size: int) -> int:
    """Hardware threads of a core of a ``dpctl.SyclDevice``: what the groups that are resident there share.

    That is an Xe-core on an Intel GPU that is known; on any other device a compute unit, and a thread is a sub-group.
    """
    told = intel_device_info(device) if device.is_gpu else {}
    if "gpu_hw_threads_per_eu" in told and "gpu_eu_count_per_subslice" in told:
        return int(told["gpu_hw_threads_per_eu"] * told["gpu_eu_count_per_subslice"])
    with suppress(GpuError):
        return gpu_of_device(device.name).threads_per_xe_core
    return max(1, device_lanes(device) // int(device.max_compute_units) // sub_group_size)


def cores(device: Device) -> int:
    """Cores of a ``dpctl.SyclDevice`` to which work-groups go, of `core_threads` each."""
    told = intel_device_info(device).get("gpu_hw_threads_per_eu") if device.is_gpu else None
    threads = told or (threads_by_name(device.name) if device.is_gpu else None)
    units = int(device.max_compute_units)
    return units if threads is None else max(1, units * int(threads) // core_threads(device, 1))


def threads_by_name(name: str) -> int | None:
    """Hardware threads of a compute unit of an Intel GPU of the catalogue; None for another device."""
    try:
        return gpu_of_device(name).threads_per_eu
    except GpuError:
        return None


class _Nobody:
    """A communicator of one rank: its messages are dropped, and nothing arrives.

    It is used when only a variant's kernels matter.
    """

    rank = 0
    size = 1

    def __getattr__(self, method: str) -> Callable[..., Any]:
        if method.startswith("__"):  # it is no array, and has none of the other protocols
            raise AttributeError(method)
        return lambda *arguments, **options: self


class _MpiBuffer(list[Any]):
    """A piece of memory and its type, as mpi4py takes them; the array, of which MPI has the address alone, lives on."""

    def __init__(self, array: UsmArray, memory: Any, datatype: Any) -> None:
        super().__init__([memory, datatype])
        self._array = array


@dataclass(frozen=True)
class Ranks:
    """All ranks of a variant, as one of them sees them.

    Attributes:
        comm: mpi4py's communicator.
        library: name and version of the MPI.
        knows_device: True if MPI's functions accept pointers to GPU memory, through Level Zero.
    """

    comm: Any
    library: str
    knows_device: bool

    def buffer(self, array: UsmArray, device: Device) -> Any:
        """See `Session.mpi_buffer`; all memory of a CPU is the host's own."""
        if self is ALONE:
            return array
        from numba_sycl.tensor import usm_ndarray  # which takes long to import, and few need

        if not isinstance(array, usm_ndarray) or not array.flags.c_contiguous:
            raise TypeError("session.mpi_buffer takes a contiguous array in USM; numpy arrays need none")
        known = device.is_cpu or (self.knows_device and device.backend == dpctl.backend_type.level_zero)
        if array.usm_type == "device" and not known:
            raise Unsupported(
                f"{self.library} cannot read memory of this GPU: a GPU-aware MPI can, such as Intel's on Level Zero"
            )
        from mpi4py import MPI

        memory = MPI.buffer.fromaddress(array._pointer, array.nbytes)
        return _MpiBuffer(array, memory, MPI.Datatype.fromcode(array.dtype.char))


ALONE: Final = Ranks(_Nobody(), "", knows_device=False)
