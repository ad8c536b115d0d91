"""A function that returns before the device is done: its times are of a part of its work."""

from __future__ import annotations

from typing import Final

from xebench.errors import XebenchError
from xebench.measuring.session.recorder import MeasuredSample

#: Calls in a row after which the device had work left, so that it is not the system's doing.
TRIES: Final = 3


class Unfinished(XebenchError):
    """A call left work on the device that is not recorded."""

    @classmethod
    def after(cls, measured: MeasuredSample) -> Unfinished:
        """The error of such a call."""
        return cls(
            f"the device works for {measured.late_ns / 1e3:.0f} us more when it returns, and nobody times that: wait "
            "for it there, or submit it to session.queue"
        )
