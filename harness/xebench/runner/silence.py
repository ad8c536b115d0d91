"""The silences of a worker: lines that tell of them, and its slowest step."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from xebench.measuring.sampling import Clock

#: Seconds before the first silence warning, and between warnings.
FIRST_TOLD_S: Final = 10.0

TOLD_AGAIN_S: Final = 60.0


@dataclass
class Silence:
    """The silences of a worker while it is at one request.

    Attributes:
        request: the current request, for the warning's text.
        say: prints a notice.
        notice: callback with the variant at work.
        clock: seconds.
        slowest_step_s: the longest time from one sign of life to the next so far; what it is at now is no part of it.
    """

    request: str
    say: Callable[[str], None]
    notice: Callable[[str], None] = lambda text: None
    clock: Clock = time.monotonic
    slowest_step_s: float = 0.0
    _at: tuple[str | None, str] = (None, "")
    _tell_after_s: float = FIRST_TOLD_S
    _heard_s: float = field(init=False)
    _moved_s: float = field(init=False)

    def __post_init__(self) -> None:
        self._heard_s = self._moved_s = self.clock()

    def heard(self) -> None:
        """The worker has said something."""
        self._heard_s, self._tell_after_s = self.clock(), FIRST_TOLD_S
        self._moved()

    def look(self, variant: str | None, stage: str, limit_s: float) -> None:
        """It says nothing, and is at this now; it may be silent for so long."""
        if (variant, stage) != self._at:
            self._at = variant, stage
            self._moved()
        if variant is not None:
            self.notice(variant)
        silent_s = self.clock() - self._heard_s
        if silent_s >= self._tell_after_s:
            self._tell_after_s += TOLD_AGAIN_S
            who = f"{self.request}: {variant}" if variant else self.request
            self.say(f"{who} ({stage}): no answer for {silent_s:.0f} s, waiting up to {limit_s:.0f} s")

    def _moved(self) -> None:
        now = self.clock()
        self.slowest_step_s = max(self.slowest_step_s, now - self._moved_s)
        self._moved_s = now
