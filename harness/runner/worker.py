"""The worker process: serves families of cases to its manager until its input ends.

Run as ``python -m harness.runner.worker READ_FD WRITE_FD BEACON_FD DEVICE``.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import traceback

from harness.errors import XebenchError
from harness.runner.beacon import Beacon
from harness.runner.messages import Receiver, Sender

PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Ask the kernel to end this process when its manager dies, so that a killed run leaves nothing running."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == 1:
        sys.exit(1)


def serve(receiver: Receiver, sender: Sender, beacon: Beacon, device: str) -> None:
    """Answer requests until there are no more."""
    from harness import runtime

    runtime.load()
    from harness.runner.calibration import measure_roofs
    from harness.runner.family import Request, run_family
    from harness.runner.session import Session
    from harness.runtime.devices import describe

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
    # Ctrl-C is the manager's to answer: it ends the worker when everything is written.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sender = Sender(int(arguments[1]))
    try:
        serve(Receiver(int(arguments[0])), sender, Beacon(int(arguments[2])), arguments[3])
    except BrokenPipeError:
        return 1
    except XebenchError as error:
        sender.send("failed", reason=str(error), exit_code=error.exit_code)
        return error.exit_code
    except Exception as error:
        traceback.print_exc()
        sender.send("failed", reason=_one_line(error), exit_code=1)
        return 1
    return 0


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


if __name__ == "__main__":
    # Native code ends without running Python's clean-up: a driver's own exit handlers have crashed after correct work.
    status = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
