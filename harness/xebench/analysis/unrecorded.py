"""Does the time on the host contradict what the recorded commands say of a pair?

The host waits for all that a sample does. So its time is that of the recorded commands, of what it costs to submit
them and to wait, and of work that was not recorded. If one side of a pair has much more host time beside its commands
than the other, its commands are not all that it did.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from xebench.analysis.intervals import Interval
from xebench.vocabulary import DeviceClass, Outcome

#: Launches of an empty kernel by which the cost of one command on the host may differ between two variants. Of 70 pairs
#: of a CPU device the furthest differed by 5.3, a kernel with SLM from one without; of 125 of a discrete GPU by 2.2.
LAUNCHES_ALLOWED: Final = {DeviceClass.CPU: 6, DeviceClass.GPU: 3}

#: Part of the difference of the recorded times that unrecorded work must reach to contradict it.
PART_OF_GAIN: Final = 1 / 2

#: Part of the shorter recorded time that it must reach to contradict that both are the same.
PART_OF_TIME: Final = 1 / 4


@dataclass(frozen=True)
class HostTimes:
    """What the host's clock says of a pair, for one execution.

    Attributes:
        beside: Host time that the recorded commands do not explain, the variant's less the baseline's, in ns.
        allowed_ns: By how much launches may differ (`allowed_ns`); NaN in runs that do not tell it.
        baseline_ns, variant_ns: The recorded times.
    """

    beside: Interval
    allowed_ns: float
    baseline_ns: float
    variant_ns: float

    def contradiction(self, outcome: Outcome) -> str | None:
        """Why an outcome of the recorded times must not be believed; None if there is no reason."""
        if not self.beside.known or math.isnan(self.allowed_ns):
            return None
        gain_ns = abs(self.baseline_ns - self.variant_ns) * PART_OF_GAIN
        if outcome == Outcome.SAME:
            gain_ns = min(self.baseline_ns, self.variant_ns) * PART_OF_TIME
        least_ns = max(gain_ns, self.allowed_ns)
        if outcome in (Outcome.FASTER, Outcome.SAME) and self.beside.low > least_ns:
            return _words("the variant", self.beside.estimate)
        if outcome in (Outcome.SLOWER, Outcome.SAME) and -self.beside.high > least_ns:
            return _words("the baseline", -self.beside.estimate)
        return None


def allowed_ns(device_class: str, empty_kernel_ns: float | None, commands: float) -> float:
    """Host time beside their commands by which two variants may differ.

    Args:
        device_class: gpu or cpu.
        empty_kernel_ns: host time of an empty kernel's launch and wait; None where it was not measured.
        commands: of one execution, of the side that has more.
    """
    return LAUNCHES_ALLOWED[DeviceClass(device_class)] * (empty_kernel_ns or math.nan) * commands


def _words(side: str, beside_ns: float) -> str:
    return (
        f"beside its commands {side} takes {beside_ns / 1e3:.0f} us more on the host than the other "
        "side: submit everything by session.launch, session.copy or session.call"
    )
