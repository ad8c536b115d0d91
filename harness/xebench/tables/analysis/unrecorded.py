"""Does the time on the host contradict what the recorded commands say of a pair?

The host waits for all that a sample does. So its time is that of the recorded commands, of what it costs to submit
them and to wait, and of work that was not recorded. A pair is undecided when such work may be longer than a side's own
commands, or when it may make up the difference of the two sides.

All of this is judged by the same estimate as the speed-up, the mean over instances of the medians of their blocks:
whoever hides work in too few samples for the one hides it in too few for the other. The upper end of the interval would
be stricter, and would leave undecided 44 of 152 pairs of a run on a GPU, by noise alone (`docs/measurement.md`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from xebench.tables.analysis.intervals import Interval, median_interval
from xebench.tables.analysis.statistics import Floats
from xebench.vocabulary import DeviceClass, Outcome, Reason

#: Launches of an empty kernel that one command may cost on the host, and half as many each that follows it. Of 70 pairs
#: of a CPU device the two sides differed by 5.3 at most, a kernel with SLM from one without; of 125 of a discrete GPU
#: by 2.2. The host waits once for many commands: of 231 pairs of the GPU two need more than half.
LAUNCHES_ALLOWED: Final = {DeviceClass.CPU: 6, DeviceClass.GPU: 3}

#: Part of the difference of the recorded times (where both are the same, of the shorter time) from which that of the
#: host's times contradicts it.
PART: Final = 1 / 4

#: What is to be done: a script's call says the same of its functions.
RECORD_IT: Final = "submit everything by session.launch, session.copy or session.call, or let the metric be wall"


@dataclass(frozen=True)
class Side:
    """The host times of one side of a pair, for one execution.

    Attributes:
        name: "the variant" or "the baseline".
        beside: host time that the recorded commands do not explain, in ns.
        allowed_ns: the part of it that launches may cost (`allowed_ns`); NaN in runs that do not tell it.
        recorded_ns: the time of the commands.
    """

    name: str
    beside: Interval
    allowed_ns: float
    recorded_ns: float

    def contradiction(self) -> tuple[Reason, str] | None:
        """Why nothing that its commands say can be believed: a code and a sentence; None if there is no reason."""
        most_ns = self.recorded_ns + self.allowed_ns
        if not self.beside.estimate > most_ns:
            return None
        times = f"the {self.recorded_ns / 1e3:.0f} us of its commands and their launches ({self.allowed_ns / 1e3:.0f})"
        if self.beside.known and self.beside.low <= most_ns:
            low, high = self.beside.low / 1e3, self.beside.high / 1e3
            why = f"is {low:.0f} to {high:.0f} us, too noisy to tell whether it is more than {times}"
            return Reason.NOISE, f"{self.name}'s host time beside its commands {why}; run again on a quieter machine"
        told = f"beside its commands {self.name} takes {self.beside.estimate / 1e3:.0f} us on the host"
        return Reason.UNRECORDED, f"{told}, more than {times}: {RECORD_IT}"


@dataclass(frozen=True)
class HostTimes:
    """The host times of a pair, for one execution.

    Attributes:
        baseline, variant: each side by itself.
        more: the variant's host time beside its commands less the baseline's, in ns.
    """

    baseline: Side
    variant: Side
    more: Interval

    def contradiction(self, outcome: Outcome) -> tuple[Reason, str] | None:
        """Why an outcome of the recorded times must not be believed: a code and a sentence; None for no reason.

        One that is inconclusive is judged as one of no difference: a claim of its own width may hold of it. A side that
        is certainly contradicted is named before one whose times are too noisy to tell.
        """
        of_sides = filter(None, (self.variant.contradiction(), self.baseline.contradiction()))
        return min(of_sides, key=lambda found: found[0] == Reason.NOISE, default=None) or self._difference(outcome)

    def _difference(self, outcome: Outcome) -> tuple[Reason, str] | None:
        recorded = self.baseline.recorded_ns, self.variant.recorded_ns
        differ = outcome in (Outcome.FASTER, Outcome.SLOWER)
        gain_ns = abs(recorded[0] - recorded[1]) if differ else min(recorded)
        # NaN, where a run does not tell what launches cost, is never exceeded
        least_ns = np.max([PART * gain_ns, self.baseline.allowed_ns, self.variant.allowed_ns])
        if outcome != Outcome.SLOWER and self.more.estimate > least_ns:
            side, more_ns = self.variant, self.more.estimate
        elif outcome != Outcome.FASTER and -self.more.estimate > least_ns:
            side, more_ns = self.baseline, -self.more.estimate
        else:
            return None
        return Reason.UNRECORDED, (
            f"beside its commands {side.name} takes {more_ns / 1e3:.0f} us more on the host than the other side: "
            f"{RECORD_IT}"
        )


def doubt(
    name: str, time_ns: Floats, host_ns: Floats, *, device_class: str, empty_kernel_ns: float | None, commands: float
) -> str | None:
    """Why the time of something that is compared with nothing must not be believed, in a line; None for no reason.

    Args:
        name: of it.
        time_ns: the time of the commands in each sample, of one execution.
        host_ns: the host's time of each sample, of one execution.
        device_class, empty_kernel_ns, commands: see `allowed_ns`.
    """
    allowed = allowed_ns(device_class, empty_kernel_ns, commands)
    found = Side(name, median_interval(host_ns - time_ns), allowed, float(np.median(time_ns))).contradiction()
    return found and f"{found[0]}: {found[1]}"


def allowed_ns(device_class: str, empty_kernel_ns: float | None, commands: float) -> float:
    """Host time beside its commands that the launches of one execution may cost.

    Args:
        device_class: gpu or cpu.
        empty_kernel_ns: host time of an empty kernel's launch and wait; None where it was not measured.
        commands: of one execution.
    """
    return LAUNCHES_ALLOWED[DeviceClass(device_class)] * (empty_kernel_ns or math.nan) * (1 + commands) / 2
