"""The worker process: it answers requests until its input ends.

Run by `xebench.measuring.device_worker.start_worker`. What can be asked is another module's, which is imported when the
SYCL runtime is loaded: its ``Request`` is the union of the messages, its ``prepare`` takes the device and the parent,
and gives the function that answers one of them.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import signal
import traceback

from xebench.errors import XebenchError, describe_error
from xebench.measuring.machine_monitor import note_stops
from xebench.measuring.messages import Done, Failed, Ready
from xebench.system import runtime
from xebench.system.children.process import STOPPING, be_the_first_to_go, run_as_child
from xebench.system.children.worker import Parent


def main(arguments: list[str]) -> int:
    """Serve; an error that is not a pattern's own is sent as `Failed`."""
    be_the_first_to_go()
    # a crash in native code leaves the line of the pattern in the output
    faulthandler.enable()
    # a batch system may send these to every process of a job: they are the parent's to answer
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)
    note_stops()
    parent = Parent(arguments)
    try:
        _serve(parent)
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


def _serve(parent: Parent) -> None:
    module, device, environment = parent.arguments
    runtime.set_variables(json.loads(environment))
    runtime.load()
    handler = importlib.import_module(module)
    answer = handler.prepare(device, parent)
    requests = parent.requests(handler.Request)
    parent.answers.send(Ready())
    while (request := requests.receive()) is not None:
        answer(request)
        parent.answers.send(Done())


if __name__ == "__main__":
    run_as_child(main)
