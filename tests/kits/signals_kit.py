"""Signals as a terminal's command finds them: who starts the tests may ignore some, as a background job does."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

#: Before a command that a test sends signals to.
HEEDING_SIGNALS: Final = ("env", "--default-signal=INT,TERM,HUP")


@contextmanager
def signals_heeded() -> Iterator[None]:
    """Within this block the signals that stop a command have Python's own handlers in this process."""
    before = {number: signal.getsignal(number) for number in STOPPING}
    for number in STOPPING:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
