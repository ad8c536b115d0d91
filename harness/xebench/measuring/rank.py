"""What a rank of MPI does: it runs variants with the other ranks, as it is asked to.

All ranks are asked the same at the same time. Each has the session, the whole problem and the kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from xebench.children.parent import Parent
from xebench.dpex import direct_calls
from xebench.errors import XebenchError, first_line
from xebench.measuring.elsewhere import Call, FamilyHere, Here, answering
from xebench.session.ranks import Ranks
from xebench.session.recorder import Measured
from xebench.session.session import Session

#: MPI 4.1: the kinds of memory that an MPI takes pointers to.
_KINDS: Final = "mpi_memory_alloc_kinds"
_SHARED_MEMORY: Final = " /dev/shm/mpich_shm_"

Request = Call


class Identity(NamedTuple):
    """Which rank of how many it is, of which MPI, and on which device."""

    rank: int
    size: int
    library: str
    device: str


class _Rank(Here):
    def __init__(self, ranks: Ranks, device: str) -> None:
        super().__init__(Session.of_rank(ranks, device))
        self._ranks = ranks

    def identity(self) -> Identity:
        """Who it is."""
        comm = self._ranks.comm
        return Identity(comm.rank, comm.size, self._ranks.library, self.session.device.filter_string)

    def begin(self, family: FamilyHere) -> None:
        """As elsewhere, with a communicator of the family's own: what another sent and nobody took is not in it."""
        super().begin(family)
        self.session.use_ranks(replace(self._ranks, comm=self._ranks.comm.Dup()))

    def end(self) -> None:
        """As elsewhere."""
        super().end()
        if self.session.comm != self._ranks.comm:
            self.session.comm.Free()
            self.session.use_ranks(self._ranks)

    def measure(self, variant: str, batch: int) -> Measured:
        """As elsewhere, when all ranks have come to it."""
        self.session.comm.Barrier()
        return super().measure(variant, batch)


def prepare(device: str, parent: Parent) -> Callable[[Call], None]:
    """Meet the other ranks; gives the function that answers calls."""
    here = _Rank(_ranks(), device)
    direct_calls.install()
    return answering(here, parent)


def _ranks() -> Ranks:
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise XebenchError(f"mpi4py finds no MPI: {first_line(error)}") from error
    comm, version = MPI.COMM_WORLD, MPI.Get_library_version()
    comm.Barrier()
    _unlink_shared_memory()
    # such as "MPICH Version: 5.0.2", "Open MPI v5.0.11, package: ...", "Intel(R) MPI Library 2021.19 for Linux* OS"
    library = " ".join(version.splitlines()[0].partition(",")[0].replace("Version:", "").split())
    info: Any = comm.Get_info()
    knows_device = "level_zero" in (info.get(_KINDS) or "") or library.startswith("Intel")
    return Ranks(comm, library, knows_device)


def _unlink_shared_memory() -> None:
    """Take away the name of MPICH's shared memory, which would stay when the ranks are killed, as workers end."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        if _SHARED_MEMORY in line:
            Path(line.split()[-1]).unlink(missing_ok=True)
