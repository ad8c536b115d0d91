"""What a run has of a family between two passes, and of the pass that is under way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.records.unchecked import Stretch
from harness.vocabulary import SAMPLED_STATES

#: Rows of the table ``cases`` by variant.
Rows = dict[str, dict[str, Any]]

#: Log speed-ups by variant, for each instance, by state of the caches.
LogSpeedups = dict[str, list[Mapping[str, Sequence[float]]]]


@dataclass
class Visit:
    """What a run has of a family.

    Attributes:
        rows: of its cases.
        next_block, next_instance: numbers that are not taken yet.
        spent_s: seconds of sampling in all passes so far, those of workers that were lost too.
        blocks: how many were sampled so far, in all states, by workers that were not lost.
        earlier: log speed-ups of the instances so far, by state of the caches.
        compiled: variants that have their rows of compilation.
        interrupted: variants whose worker somebody killed: only another session comes to them again.
    """

    rows: Rows
    next_block: int
    next_instance: int = 0
    spent_s: float = 0.0
    blocks: int = 0
    earlier: LogSpeedups = field(default_factory=dict)
    compiled: set[str] = field(default_factory=set)
    interrupted: set[str] = field(default_factory=set)


@dataclass
class Attempt:
    """What one worker has sent of a family in one pass: it counts when the worker comes to the end.

    Attributes:
        case_ids: of the variants that have no result of this worker yet, by variant.
        first_sample: number of its first sample.
        blocks: numbers of those that were sampled.
        instances: log speed-ups, by state of the caches.
        told_s: seconds of sampling in the states that are over.
    """

    case_ids: dict[str, str]
    first_sample: int
    blocks: set[int] = field(default_factory=set)
    instances: LogSpeedups = field(default_factory=dict)
    told_s: float = 0.0
    _first_s: float | None = None
    _last_s: float = 0.0

    def see(self, sample: Mapping[str, Any], now_s: float) -> None:
        """A row of a sample came that is no row of compilation."""
        self._first_s = now_s if self._first_s is None else self._first_s
        self._last_s = now_s
        if sample["state"] in SAMPLED_STATES:
            self.blocks.add(sample["block"])

    def spent_s(self) -> float:
        """Seconds of sampling; of a worker that was lost, until its last sample: it may have hung for long after."""
        seen_s = 0.0 if self._first_s is None else self._last_s - self._first_s
        return max(self.told_s, seen_s)

    def unchecked(self, end: int | None = None) -> Stretch:
        """The samples of variants whose result did not come; ``end`` is the number after the last one."""
        return Stretch(tuple(self.case_ids.values()), self.first_sample, end)
