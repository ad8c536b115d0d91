"""Flags of one sample: the rules for its events, and those that need more than its events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from xebench.measuring.sampling import batching
from xebench.measuring.session.recorder import MeasuredSample
from xebench.tables.analysis import metrics, timestamps
from xebench.tables.analysis.metrics import EventTimes
from xebench.vocabulary import Flag

#: Least time that a queue must have been busy, and part of the sample's: an idle queue takes about 1 us to ask.
LATE_NS: Final = 20_000
LATE_PART: Final = 0.1

#: Part of the length wanted for a sample under which it is short: a batch aims at the whole of it.
SHORT_PART: Final = 0.5

#: Part by which a cold sample may be faster than the roof: the roof is a measurement too.
ROOF_TOLERANCE: Final = 0.05


@dataclass
class Rules:
    """The rules for the samples of one family in one state; remembers the sample before.

    Attributes:
        metric: device, span or wall.
        resolution_ns: quantum of the device's timer.
        bytes_moved: least traffic to memory of one execution, if known.
    """

    metric: str
    resolution_ns: float
    bytes_moved: int | None = None
    _earlier_starts: set[int] = field(default_factory=set)
    _earlier_end_ns: int | None = None
    _late: dict[str, bool] = field(default_factory=dict)

    def broken(
        self,
        variant: str,
        measured: MeasuredSample,
        times: Sequence[EventTimes],
        total_ns: float,
        cold_limit_gbps: float | None = None,
    ) -> tuple[Flag, ...]:
        """The flags of a sample, each once.

        Args:
            variant: whose sample it is.
            measured: the sample.
            times: of its commands.
            total_ns: its metric, of all executions together.
            cold_limit_gbps: bandwidth that only a cache can exceed; None for a hot sample.
        """
        flags = list(
            timestamps.flags(
                times,
                host_ns=measured.host_ns,
                resolution_ns=self.resolution_ns,
                earlier_starts=self._earlier_starts,
                earlier_end_ns=self._earlier_end_ns,
            )
        )
        self.remember(times)
        least_ns = SHORT_PART * batching.least_ns(self.metric, self.resolution_ns)
        if 0 < total_ns < least_ns and Flag.SHORT not in flags:
            flags.append(Flag.SHORT)
        if cold_limit_gbps is not None and self._from_cache(times, cold_limit_gbps):
            flags.append(Flag.NOT_COLD)
        if self._late_again(variant, measured):
            flags.append(Flag.UNSYNCHRONISED)
        return tuple(flags)

    def remember(self, times: Sequence[EventTimes]) -> None:
        """Take note of commands that came before the next sample: of the last one, or of a check after it."""
        if times:
            self._earlier_starts = {event.start_ns for event in times}
            self._earlier_end_ns = max(event.end_ns for event in times)

    def _late_again(self, variant: str, measured: MeasuredSample) -> bool:
        # once may be the system's doing, which can take the core away at any moment; forgotten work is always late
        before = self._late.get(variant, False)
        self._late[variant] = is_late(measured)
        return before and self._late[variant]

    def _from_cache(self, times: Sequence[EventTimes], limit_gbps: float) -> bool:
        busy_ns = metrics.union_ns(times)
        return (self.bytes_moved or 0) > limit_gbps * (1 + ROOF_TOLERANCE) * busy_ns > 0


def is_late(measured: MeasuredSample) -> bool:
    """True if queues had much to do when everything that was recorded was over."""
    return measured.late_ns > max(LATE_NS, LATE_PART * measured.host_ns)
