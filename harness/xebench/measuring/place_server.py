"""A process that measures for others (`xebench.measuring.remote`), alone or as a rank of MPI: its place is local.

All ranks get the same requests at the same time. Each has the session, the whole problem and the kernels.
"""

from __future__ import annotations

import multiprocessing.spawn
import pickle
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from xebench.dpex import direct_calls
from xebench.errors import XebenchError, describe_error, first_line
from xebench.measuring import remote
from xebench.measuring.data_sets import DataSets
from xebench.measuring.local import ProblemPlace
from xebench.measuring.local_functions import FunctionPlace
from xebench.measuring.prepare import find_pattern, make_problem
from xebench.measuring.results import Sums
from xebench.session.session import Session
from xebench.session.spread import Ranks
from xebench.system.children.worker import Parent

IMPORTABLE: Final = (
    "isolated=True: another process must be able to import every function: define it with def at the top of a file, "
    "and begin a script's own work with if __name__ == '__main__':"
)

#: Names of this module that `xebench.measuring.serve` reads.
Request = remote.Request

#: MPI 4.1: the kinds of memory that an MPI takes pointers to.
_KINDS: Final = "mpi_memory_alloc_kinds"
_SHARED_MEMORY: Final = " /dev/shm/mpich_shm_"

#: Facts about the program that `multiprocessing` gives its child processes, needed to unpickle functions.
_TOLD: Final = ("sys_path", "sys_argv", "dir", "init_main_from_name", "init_main_from_path")


class PlaceServer:
    """Answers the requests of a `RemotePlace`, with a place on a session of this process."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._sums = Sums(session.queue)
        self._place: ProblemPlace | FunctionPlace | None = None

    def begin(self, family: remote.BeginProblem | remote.BeginFunctions) -> Mapping[str, Any]:
        """Make a family's arrays, in place of what was there."""
        self.end()
        if isinstance(family, remote.BeginProblem):
            self._place = self._of_problem(family)
        else:
            self._place = self._of_functions(family)
        return self._place.begin()

    def _of_problem(self, family: remote.BeginProblem) -> ProblemPlace:
        pattern = find_pattern(family.source, family.pattern)
        problems = DataSets(partial(make_problem, pattern, family.parameters), family.seed)
        return ProblemPlace(self.session, self._sums, pattern, problems, family.parameters)

    def _of_functions(self, family: remote.BeginFunctions) -> FunctionPlace:
        try:
            _import_program(pickle.loads(family.program))
            functions, setup = pickle.loads(family.functions)
        except XebenchError:  # the program itself starts another process: see `program`
            raise
        except Exception as error:
            raise XebenchError(f"{IMPORTABLE} ({describe_error(error)})") from error
        return FunctionPlace(self.session, functions, family.metric, setup, family.advice)

    def before_sample(self) -> None:
        """Called right before the clock starts."""

    def end(self) -> None:
        """Release arrays and kernels."""
        if self._place is not None:
            self._place.end()
            self._place = None

    def reply(self, request: remote.Request) -> remote.Reply | None:
        """Do what a message requests; None if the answer is only that it is done."""
        reply: remote.Reply | None = None
        match request:
            case remote.BeginProblem() | remote.BeginFunctions():
                reply = remote.Begun(self.begin(request))
            case remote.Start(variant, contents):
                reply = self._there.start(variant, contents)
            case remote.Sample(variant, batch, reset, traced):
                place = self._there
                measured = place.sample(variant, batch, self.before_sample, reset=reset, traced=traced)
                reply = remote.Sampled(measured)
            case remote.Check(variant, contents):
                self.before_sample()
                reply = self._there.check(variant, contents)
            case remote.FindChanged():
                reply = remote.Changed(self._there.changed())
            case remote.Reset():
                self._there.reset()
            case remote.Renew(data_set):
                self._there.renew(data_set)
            case remote.End():
                self.end()
        return reply

    @property
    def _there(self) -> ProblemPlace | FunctionPlace:
        if self._place is None:
            raise XebenchError("the process has no family")
        return self._place


class _RankServer(PlaceServer):
    def __init__(self, ranks: Ranks, device: str) -> None:
        super().__init__(Session.of_rank(ranks, device))
        self._ranks = ranks

    def reply(self, request: remote.Request) -> remote.Reply | None:
        """Reply as other processes do, and to `Identify` with the rank's identity."""
        if not isinstance(request, remote.Identify):
            return super().reply(request)
        comm, device = self._ranks.comm, self.session.device.filter_string
        return remote.RankIdentity(comm.rank, comm.size, self._ranks.library, device)

    def begin(self, family: remote.BeginProblem | remote.BeginFunctions) -> Mapping[str, Any]:
        """Give the family a communicator of its own, without messages that another family left unread."""
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
    """Open a session on a device, and return the function that answers requests."""
    direct_calls.install()
    server = PlaceServer(Session.on(device))
    return _answering(server, parent)


def prepare_rank(device: str, parent: Parent) -> Callable[[remote.Request], None]:
    """Meet the other ranks, and return the function that answers requests."""
    direct_calls.install()
    server = _RankServer(_ranks(), device)
    return _answering(server, parent)


def _answering(server: PlaceServer, parent: Parent) -> Callable[[remote.Request], None]:
    """A function that sends what a server replies, or raises."""

    def answer(request: remote.Request) -> None:
        try:
            reply = server.reply(request)
        except BaseException as error:
            reply = remote.Raised(_pickled(error))
        if reply is not None:
            parent.answers.send(reply)

    return answer


def _pickled(error: BaseException) -> bytes:
    try:
        text = pickle.dumps(error)
        pickle.loads(text)  # of some exceptions only this fails
        return text
    except Exception:
        return pickle.dumps(XebenchError(describe_error(error)))


def program() -> bytes:
    """The data by which another process imports this program's file, to unpickle its functions.

    Raises:
        RuntimeError: this process is such another one, and is importing the program right now.
    """
    told = multiprocessing.spawn.get_preparation_data("xebench")
    return pickle.dumps({name: told[name] for name in _TOLD if name in told})


def _import_program(told: dict[str, Any]) -> None:
    """Import the program's file, if it has one, under the name that `multiprocessing` uses."""
    process: Any = multiprocessing.current_process()
    process._inheriting = True  # so that a program which ignores its __name__ cannot begin again: see `program`
    try:
        multiprocessing.spawn.prepare(told)
    finally:
        del process._inheriting


def _ranks() -> Ranks:
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise XebenchError(f"mpi4py cannot load an MPI ({first_line(error)}): pip install mpich") from error
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
