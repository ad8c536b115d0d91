"""A worker: it answers the requests of `xebench.measuring.messages`, until its input ends.

A run's worker measures families. Started with other variables by that one, it is the place of variants that need them
(`xebench.measuring.remote`), and so it is for functions that are measured apart, and as a rank of MPI. All ranks get
the same requests at the same time; each has the session, the whole problem and the kernels. One without a device makes
the next families' data.
"""

from __future__ import annotations

import multiprocessing.spawn
import pickle
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from xebench.dpex import direct_calls
from xebench.errors import XebenchError, describe_error, first_line
from xebench.measuring.checksums import Sums
from xebench.measuring.data_sets import DataSets
from xebench.measuring.device_worker import NO_DEVICE
from xebench.measuring.family_run import Families
from xebench.measuring.instrument import measure_instrument
from xebench.measuring.local import ProblemPlace
from xebench.measuring.local_functions import FunctionPlace
from xebench.measuring.made_beside import DataMaker
from xebench.measuring.messages import Bytes, Call, Request, Returned, pickled
from xebench.measuring.place import Checked, Contents, Started
from xebench.measuring.prepare import find_pattern, make_problem
from xebench.measuring.remote import BeginFunctions, BeginProblem, RankIdentity
from xebench.measuring.sent_results import SentResults
from xebench.session.recorder import MeasuredSample
from xebench.session.session import Session
from xebench.session.spread import Ranks
from xebench.system.children.worker import Parent

IMPORTABLE: Final = (
    "isolated=True: another process must be able to import every function: define it with def at the top of a file, "
    "and begin a script's own work with if __name__ == '__main__':"
)

#: MPI 4.1: the kinds of memory that an MPI takes pointers to.
_KINDS: Final = "mpi_memory_alloc_kinds"
_SHARED_MEMORY: Final = " /dev/shm/mpich_shm_"

#: Facts about the program that `multiprocessing` gives its child processes, needed to unpickle functions.
_TOLD: Final = ("sys_path", "sys_argv", "dir", "init_main_from_name", "init_main_from_path")


class Worker:
    """The methods that another process calls, also those of a place on the session of this one."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._sums = Sums(session.queue)
        self._place: ProblemPlace | FunctionPlace | None = None
        self._sent = SentResults()

    def self_test(self) -> list[str]:
        """Test, before anything is measured, that the device computes right: a line for each check that failed."""
        from xebench.doctor.self_test import run_checks  # its kernels: once in a run

        return run_checks(self.session.device.filter_string)

    def instrument(self) -> Mapping[str, float | str | None]:
        """The instrument's own error: columns of the table ``devices``."""
        return measure_instrument(self.session)

    def begin(self, family: BeginProblem | BeginFunctions) -> Mapping[str, Any]:
        """Make a family's arrays, in place of what was there."""
        self.end()
        self._sent = SentResults()
        if isinstance(family, BeginProblem):
            self._place = self._of_problem(family)
        else:
            self._place = self._of_functions(family)
        return self._place.begin()

    def _of_problem(self, family: BeginProblem) -> ProblemPlace:
        pattern = find_pattern(family.source, family.pattern)
        problems = DataSets(partial(make_problem, pattern, family.parameters), family.seed)
        return ProblemPlace(self.session, self._sums, pattern, problems, family.parameters)

    def _of_functions(self, family: BeginFunctions) -> FunctionPlace:
        try:
            _import_program(pickle.loads(family.program))
            functions, setup = pickle.loads(family.functions)
        except XebenchError:  # the program itself starts another process: see `program`
            raise
        except Exception as error:
            raise XebenchError(f"{IMPORTABLE} ({describe_error(error)})") from error
        return FunctionPlace(self.session, functions, family.metric, setup, family.advice)

    def sample(self, variant: str, batch: int, reset: bool, traced: bool) -> MeasuredSample:
        """See `xebench.measuring.place.Place`; so for the others."""
        return self._there.sample(variant, batch, self.before_sample, reset=reset, traced=traced)

    def start(self, variant: str, contents: Contents | None) -> Started:
        """See `xebench.measuring.place.Place`; results that were sent before are named by number."""
        started = self._there.start(variant, contents)
        return msgspec.structs.replace(started, results=self._sent.numbered(started.results))

    def check(self, variant: str, contents: Contents | None) -> Checked:
        """Begin together with the other ranks, if there are any; results as `start` sends them."""
        self.before_sample()
        checked = self._there.check(variant, contents)
        return msgspec.structs.replace(checked, results=self._sent.numbered(checked.results))

    def before_sample(self) -> None:
        """Called right before the clock starts."""

    def end(self) -> None:
        """Release arrays and kernels."""
        if self._place is not None:
            self._place.end()
            self._place = None

    def __getattr__(self, method: str) -> Any:
        """A method of the place."""
        return getattr(self._there, method)

    @property
    def _there(self) -> ProblemPlace | FunctionPlace:
        if self._place is None:
            raise XebenchError("the process has no family")
        return self._place


class _Rank(Worker):
    def __init__(self, ranks: Ranks, device: str) -> None:
        super().__init__(Session.of_rank(ranks, device))
        self._ranks = ranks

    def identity(self) -> RankIdentity:
        """The rank's identity."""
        comm, device = self._ranks.comm, self.session.device.filter_string
        return RankIdentity(comm.rank, comm.size, self._ranks.library, device)

    def begin(self, family: BeginProblem | BeginFunctions) -> Mapping[str, Any]:
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


def prepare(device: str, parent: Parent) -> Callable[[Request], None]:
    """Open a session on a device, if there is one to open, and return the function that answers requests."""
    if device == NO_DEVICE:
        return partial(_answer, DataMaker(), parent)
    direct_calls.install()
    session = Session.on(device)
    worker, families = Worker(session), Families(session, device, parent)

    def answer(request: Request) -> None:
        if isinstance(request, Call):
            _answer(worker, parent, request)
        else:
            parent.answers.send(families.answer(request))

    return answer


def prepare_rank(device: str, parent: Parent) -> Callable[[Request], None]:
    """Meet the other ranks, and return the function that answers requests."""
    direct_calls.install()
    return partial(_answer, _Rank(_ranks(), device), parent)


def _answer(of: object, parent: Parent, call: Any) -> None:
    """Call a method, and send what it returns or raises."""
    try:
        answer = Returned(pickled(getattr(of, call.method)(*pickle.loads(call.arguments.data))))
    except BaseException as error:
        answer = Returned(_pickled(error), raised=True)
    parent.answers.send(answer)


def _pickled(error: BaseException) -> Bytes:
    try:
        text = pickled(error)
        pickle.loads(text.data)  # of some exceptions only this fails
        return text
    except Exception:
        return pickled(XebenchError(describe_error(error)))


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
