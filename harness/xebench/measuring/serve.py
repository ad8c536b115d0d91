"""The processes that measure: a worker, a rank of MPI, and the launcher of ranks.

``python begin.py xebench.measuring.serve`` has these arguments:

- ``READ WRITE PAGE LIMIT HANDLER DEVICE VARIABLES``: a worker, which answers requests until its input ends. The first
  four are `xebench.system.children.worker.Parent`'s; `xebench.measuring.device_worker.start_worker` gives the others.
  The handler is a module that is imported when the SYCL runtime is loaded. Its ``Request`` is the union of the messages
  that it accepts. Its ``prepare`` takes the device and the parent, and returns the function that answers a request.
- ``rank SOCKET DEVICE VARIABLES``: a worker that MPI's launcher has started, and that answers over a socket.
- ``launch DEVICE VARIABLES COUNT COMMAND...``: sets the variables that MPIs read, and then is
  ``mpiexec -n COUNT COMMAND...``, which ends when the worker does that started it.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Mapping
from typing import Final, NoReturn

from xebench.errors import XebenchError, describe_error
from xebench.measuring.machine_monitor import note_stops
from xebench.measuring.messages import Done, Failed, Ready
from xebench.system import runtime
from xebench.system.children import Program
from xebench.system.children.process import STOPPING, be_the_first_to_go, run_as_child
from xebench.system.children.worker import ActivityPage, Parent
from xebench.system.runtime.mpi import find_launcher

#: First arguments of ranks, and of their launcher.
RANK: Final = "rank"
LAUNCH: Final = "launch"


def main(arguments: list[str]) -> int:
    """Run as the process that the arguments name, and return its exit status."""
    match arguments:
        case [first, *rest] if first == RANK:
            return _serve_as_rank(*rest)
        case [first, *rest] if first == LAUNCH:
            become_launcher(*rest)
    return _serve(arguments)


def _serve(arguments: list[str], prepare: str = "prepare") -> int:
    """An error that is not a pattern's own is sent as `Failed`."""
    be_the_first_to_go()
    # a crash in native code leaves the line of the pattern in the output
    faulthandler.enable()
    # a batch system may send these to every process of a job: the parent handles them
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)
    note_stops()
    parent = Parent(arguments)
    try:
        _answer(parent, prepare)
    except BrokenPipeError:
        return 1
    except XebenchError as error:
        parent.answers.send(Failed(str(error), error.exit_code))
        return error.exit_code
    except BaseException as error:  # a pattern's file may call sys.exit()
        traceback.print_exc()
        parent.answers.send(Failed(describe_error(error), 1))
        return 1
    return 0


def _answer(parent: Parent, prepare: str) -> None:
    module, device, environment = parent.arguments
    runtime.set_variables(json.loads(environment))
    runtime.load()
    handler = importlib.import_module(module)
    answer = getattr(handler, prepare)(device, parent)
    requests = parent.requests(handler.Request)
    parent.answers.send(Ready())
    while (request := requests.receive()) is not None:
        answer(request)
        parent.answers.send(Done())


def _serve_as_rank(path: str, device: str, environment: str) -> int:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    reading = connection.detach()
    descriptors = reading, os.dup(reading), ActivityPage.create().descriptor
    no_memory_limit = "0"  # the launcher's, as the worker itself has one
    status = _serve([*map(str, descriptors), no_memory_limit, Program.WORKER, device, environment], "prepare_rank")
    if not status and (mpi := sys.modules.get("mpi4py.MPI")):
        mpi.Finalize()
    return status


#: As root (in a container), with more ranks than cores, and without pinning to cores; each MPI reads its own.
_VARIABLES: Final[Mapping[str, str]] = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",  # Open MPI 4
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # Open MPI 5
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "I_MPI_PIN": "0",
    "I_MPI_OFFLOAD_PIN": "0",  # else a rank of Intel's sees one stack alone, and no pattern can give it another
}
#: Has Intel's take pointers to memory of a GPU (G 19054); it crashes where there is none.
_OFFLOAD: Final = "I_MPI_OFFLOAD"


def become_launcher(device: str, of_variant: str, *ranks: str) -> NoReturn:
    """Become the launcher, which reads variables of the variant itself, such as the lists of Intel's."""
    runtime.set_variables({**_VARIABLES, _OFFLOAD: str(int(device.startswith("level_zero"))), **json.loads(of_variant)})
    launcher = str(find_launcher())
    os.execv(launcher, [launcher, "-n", *ranks])


if __name__ == "__main__":
    run_as_child(main)
