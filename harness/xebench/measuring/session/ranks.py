"""Ranks of MPI as a session has them: the communicator, and whether MPI can read the device's memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import dpctl

from xebench.errors import Unsupported
from xebench.system.runtime.tensor import usm_ndarray
from xebench.system.sycl_types import Device, UsmArray


class _Nobody:
    """A communicator of one rank: what it sends goes nowhere, and nothing arrives.

    Variants run so where only their kernels are looked at.
    """

    rank = 0
    size = 1

    def __getattr__(self, method: str) -> Callable[..., Any]:
        if method.startswith("__"):  # it is no array, and has none of the other protocols
            raise AttributeError(method)
        return lambda *arguments, **options: self


class _MpiBuffer(list[Any]):
    """A piece of memory and its type, as mpi4py takes them; the array, of which MPI has the address alone, lives on."""

    def __init__(self, array: usm_ndarray, memory: Any, datatype: Any) -> None:
        super().__init__([memory, datatype])
        self._array = array


@dataclass(frozen=True)
class Ranks:
    """All ranks of a variant, as one of them sees them.

    Attributes:
        comm: mpi4py's communicator.
        library: name and version of the MPI.
        knows_device: whether MPI's functions take pointers to memory of Intel's GPUs, by Level Zero.
    """

    comm: Any
    library: str
    knows_device: bool

    def buffer(self, array: UsmArray, device: Device) -> Any:
        """See `Session.mpi_buffer`; all memory of a CPU is the host's own."""
        if self is ALONE:
            return array
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
