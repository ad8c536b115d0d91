"""The worker process: serves families of cases to its manager until its input ends.

Run as ``python -m harness.runner.worker.serve READ_FD WRITE_FD BEACON_FD DEVICE``.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import sys
import traceback
from contextlib import suppress
from pathlib import Path

from harness.children.activity import Beacon
from harness.children.ask import leave
from harness.children.messages import Receiver, Sender
from harness.errors import XebenchError, named
from harness.runner.stop_signals import STOPPING

PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Ask the kernel to end this process when its manager dies, so that a killed run leaves nothing running."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == 1:
        sys.exit(1)


def be_the_first_to_go() -> None:
    """When the system runs out of memory it should end this process, not the manager, which keeps the rows."""
    with suppress(OSError):
        score = Path("/proc/self/oom_score_adj")
        score.write_text(str(min(1000, int(score.read_text()) + 500)))


def serve(receiver: Receiver, sender: Sender, beacon: Beacon, device: str) -> None:
    """Answer requests until there are no more."""
    from harness import runtime

    runtime.load()
    from harness.runner.worker.calibration import measure_roofs
    from harness.runner.worker.family_run import Request, run_family
    from harness.runtime.devices import describe
    from harness.session.session import Session

    session = Session.on(device)
    info = describe(session.device)
    sender.send("ready")
    while (message := receiver.receive()) is not None:
        content = {key: value for key, value in message.items() if key != "kind"}
        if message["kind"] == "calibrate":
            sender.send("roofs", row=measure_roofs(session))
        else:
            run_family(Request(**content), session, info, sender, beacon)
        sender.send("done")


def main(arguments: list[str]) -> int:
    """Serve; an error that is not a pattern's own is sent as ``failed``."""
    die_with_parent()
    be_the_first_to_go()
    # a crash in native code leaves the line of the pattern in the output
    faulthandler.enable()
    # These reach the whole process group, and are the manager's to answer: it ends the worker when all is written.
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)
    sender = Sender(int(arguments[1]))
    try:
        serve(Receiver(int(arguments[0])), sender, Beacon(int(arguments[2])), arguments[3])
    except BrokenPipeError:
        return 1
    except XebenchError as error:
        sender.send("failed", reason=str(error), exit_code=error.exit_code)
        return error.exit_code
    except BaseException as error:  # a pattern's file may call sys.exit()
        traceback.print_exc()
        sender.send("failed", reason=named(error), exit_code=1)
        return 1
    return 0


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
