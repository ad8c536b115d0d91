"""Runs one MPI rank: it executes variants together with the other ranks, on request.

All ranks are asked the same at the same time. Each has the session, the whole problem and the kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from xebench.dpex import direct_calls
from xebench.errors import XebenchError, first_line
from xebench.measuring import remote
from xebench.measuring.place_server import PlaceServer, answering
from xebench.measuring.session.ranks import Ranks
from xebench.measuring.session.session import Session
from xebench.system.children.worker import Parent

#: What `xebench.measuring.serve` reads.
Request = remote.Request

#: MPI 4.1: the kinds of memory that an MPI takes pointers to.
_KINDS: Final = "mpi_memory_alloc_kinds"
_SHARED_MEMORY: Final = " /dev/shm/mpich_shm_"


class _RankServer(PlaceServer):
    def __init__(self, ranks: Ranks, device: str) -> None:
        super().__init__(Session.of_rank(ranks, device))
        self._ranks = ranks

    def reply(self, request: remote.Request) -> remote.Reply | None:
        """Who it is, beside what others reply."""
        if not isinstance(request, remote.Identify):
            return super().reply(request)
        comm, device = self._ranks.comm, self.session.device.filter_string
        return remote.RankIdentity(comm.rank, comm.size, self._ranks.library, device)

    def begin(self, family: remote.BeginProblem | remote.BeginFunctions) -> Mapping[str, Any]:
        """Give the family a communicator of its own: what another sent and nobody took is not in it."""
        parameters = super().begin(family)
        self.session.use_ranks(replace(self._ranks, comm=self._ranks.comm.Dup()))
        return parameters

    def before_sample(self) -> None:
        """Wait at a barrier for all ranks."""
        self.session.comm.Barrier()

    def end(self) -> None:
        """Free the family's communicator, too."""
        super().end()
        if self.session.comm != self._ranks.comm:
            self.session.comm.Free()
            self.session.use_ranks(self._ranks)


def prepare(device: str, parent: Parent) -> Callable[[remote.Request], None]:
    """Meet the other ranks; gives the function that answers requests."""
    server = _RankServer(_ranks(), device)
    direct_calls.install()
    return answering(server, parent)


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
