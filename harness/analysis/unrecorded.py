"""Does the time on the host contradict what the recorded commands say of a pair?

The host waits for all that a sample does. So its time is that of the recorded commands, of what it costs to submit
them and to wait, and of work that was not recorded. If one side of a pair has much more host time beside its commands
than the other, its commands are not all that it did.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from harness.analysis.intervals import Interval
from harness.vocabulary import Outcome

#: Launches of an empty kernel by which the cost of one command may differ between two variants. Of 200 pairs of a CPU
#: device and a discrete GPU the furthest differed by 5.3, a kernel with SLM from one without on the CPU device.
LAUNCHES_ALLOWED: Final = 6

#: Part of the difference of the recorded times that unrecorded work must reach to contradict it.
PART_OF_GAIN: Final = 1 / 2

#: Part of the shorter recorded time that it must reach to contradict that both are the same.
PART_OF_TIME: Final = 1 / 4


@dataclass(frozen=True)
class HostTimes:
    """What the host's clock says of a pair, for one execution.

    Attributes:
        beside: Host time that the recorded commands do not explain, the variant's less the baseline's, in ns.
        launch_ns: Host time of an empty kernel's launch and wait, times the commands of the side that has more; NaN in
            runs that do not tell it.
        baseline_ns, variant_ns: The recorded times.
    """

    beside: Interval
    launch_ns: float
    baseline_ns: float
    variant_ns: float

    def contradiction(self, outcome: Outcome) -> str | None:
        """Why an outcome of the recorded times must not be believed; None if there is no reason."""
        if not self.beside.known or math.isnan(self.launch_ns):
            return None
        gain_ns = abs(self.baseline_ns - self.variant_ns) * PART_OF_GAIN
        if outcome == Outcome.SAME:
            gain_ns = min(self.baseline_ns, self.variant_ns) * PART_OF_TIME
        least_ns = max(gain_ns, LAUNCHES_ALLOWED * self.launch_ns)
        if outcome in (Outcome.FASTER, Outcome.SAME) and self.beside.low > least_ns:
            return _words("the variant", self.beside.estimate)
        if outcome in (Outcome.SLOWER, Outcome.SAME) and -self.beside.high > least_ns:
            return _words("the baseline", -self.beside.estimate)
        return None


def _words(side: str, beside_ns: float) -> str:
    return (
        f"unrecorded work?: beside its commands {side} takes {beside_ns / 1e3:.0f} us more on the host than the other "
        "side: submit everything by session.launch, session.copy or session.call"
    )
