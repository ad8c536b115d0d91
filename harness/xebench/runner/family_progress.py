"""The progress of a run with a family: variants that wait, results of the others, and time spent.

A family has several rounds, and in one the run may lose a worker with every variant. This records what that
leaves to do; rows of the table `cases` are written from it and never read back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec
import numpy as np

from xebench.measuring.case_rows import NOT_MEASURED, CaseResult
from xebench.measuring.sampling import Sampling
from xebench.patterns.plan import Family
from xebench.records.points import Row
from xebench.results.analysis.intervals import MIN_SAMPLES
from xebench.results.analysis.statistics import Floats, settled
from xebench.runner.round_plan import Round
from xebench.vocabulary import SAMPLED_STATES, RoundPart, State, Status, StopReason

#: Most timeouts that hangs of a family may cost before it is given up: by variants that have not answered yet, and
#: by those that have.
MOST_TIMEOUTS: Final = 1.5
MOST_TIMEOUTS_ANSWERED: Final = 2.0

#: Once a variant hung, the others get less time: this multiple of the slowest step that the family has
#: finished, at least this share of the timeout, and at least these seconds, since a machine may be busy.
PATIENCE_STEPS: Final = 10.0
PATIENCE_PART: Final = 0.1
PATIENCE_S: Final = 10.0

#: Log speed-ups by variant, for each instance, by state of the caches.
LogSpeedups = dict[str, list[Mapping[str, Sequence[float]]]]


@dataclass
class FamilyProgress:
    """The progress of a run with one family.

    Attributes:
        family: family to measure.
        fixed: columns of each case that do not change, by variant.
        sampling: limits of all rounds together.
        next_block, next_instance: next free numbers.
        round: current or last round; None before the first.
        results: results of each variant that are on disk.
        waiting: variants without a result in this round.
        spent_s: seconds of sampling in all rounds so far, including those of lost workers.
        beside_s: seconds of the last round without sampling; None before the first round of this session ends.
        instance_s: seconds of sampling per instance with enough blocks for an interval; None before the first round of
            this session ends.
        blocks: number of blocks sampled so far in all states, excluding those of lost workers.
        speedups: log speed-ups of the instances so far.
        settled: the same, each instance after its slow start.
        compiled: variants whose compilation is recorded.
        answered: variants whose first call returned, with any result.
        hung: hung work in order of time: a variant, or a step that all of them need.
        hung_s: seconds spent waiting for hung work.
        seconds: seconds of all rounds so far, by part.
        slowest_step_s: longest time between two signs of life of a worker.
    """

    family: Family
    fixed: Mapping[str, Row]
    sampling: Sampling
    next_block: int
    next_instance: int = 0
    round: Round | None = None
    results: dict[str, CaseResult] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)
    spent_s: float = 0.0
    beside_s: float | None = None
    instance_s: float | None = None
    blocks: int = 0
    speedups: LogSpeedups = field(default_factory=dict)
    settled: dict[str, list[Mapping[str, Floats]]] = field(default_factory=dict, init=False)
    compiled: set[str] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)
    hung: list[str] = field(default_factory=list)
    hung_s: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)
    slowest_step_s: float = 0.0

    def __post_init__(self) -> None:
        """A new family waits as a whole; its states are those of its pattern, or of the user's options."""
        self._spent_before_s, self._round_s = self.spent_s, 0.0
        self._settle(self.speedups)
        if not self.sampling.states:
            self.sampling = replace(self.sampling, states=(State(self.family.pattern.state),))
        if not self.results:
            self.results = dict.fromkeys(self.fixed, CaseResult())
            self.waiting = list(self.fixed)

    def begin(self, planned: Round) -> None:
        """Begin a round. In a later one, good variants wait again unless they are precise enough; what is on disk
        stays.
        """
        self.round, self._spent_before_s, self._round_s = planned, self.spent_s, 0.0
        if planned.number:
            able = self._blocks_left() >= len(self.sampling.states)
            self.waiting = [
                name
                for name, result in self.results.items()
                if able and result.status == Status.OK and result.stopped_by != StopReason.PRECISION
            ]

    @property
    def is_later_round(self) -> bool:
        """True if an earlier round than the one that is under way has results."""
        return self.round is not None and self.round.number > 0

    @property
    def is_over(self) -> bool:
        """True if no round is to come: each variant is precise enough, has had all its samples, or has failed."""
        open_still = any(
            result.status == Status.OK and result.stopped_by == StopReason.ROUND for result in self.results.values()
        )
        return self.round is not None and (not open_still or self._blocks_left() < len(self.sampling.states))

    def end(self, seconds: float) -> None:
        """A round is over, which took so long."""
        self.beside_s = max(0.0, seconds - (self.spent_s - self._spent_before_s))
        self.add_seconds({RoundPart.STARTING: seconds - self._round_s})

    def finish(self, variant: str, result: CaseResult) -> Row:
        """A variant has its result of this round; gives its row."""
        if result.stopped_by == StopReason.BUDGET and self._round_is_cut:
            result = msgspec.structs.replace(result, stopped_by=StopReason.ROUND)
        # facts of a problem outlast a round in which it cannot be made; only the first round reads the others
        earlier = self.results[variant]
        kept = {name: getattr(result, name) or getattr(earlier, name) for name in ("work", "odd_size", "traced")}
        self.results[variant] = msgspec.structs.replace(result, **kept)
        self.waiting = [name for name in self.waiting if name != variant]
        return self.row(variant)

    @property
    def _round_is_cut(self) -> bool:
        """True if the round has less time than the family: when that is spent, the family's is not."""
        return self.round is not None and self.round.sampling_s < self.sampling.budget_s - self._spent_before_s

    def give_up(self, variants: Iterable[str], status: Status, reason: str) -> list[Row]:
        """Variants get no result of this round; gives their rows."""
        return [
            self.finish(name, msgspec.structs.replace(self.results[name], status=status, reason=reason, stopped_by=""))
            for name in list(variants)
        ]

    def give_up_after_hang(self, what: str, waited_s: float, timeout_s: float) -> list[Row]:
        """Note what hung; gives the rows of those that are not tried for that. What earlier rounds found stands."""
        self.hung.append(what)
        self.hung_s += waited_s
        most_s = dict.fromkeys(self.answered, timeout_s * MOST_TIMEOUTS_ANSWERED)
        untried = [name for name in self.waiting if self.hung_s >= most_s.get(name, timeout_s * MOST_TIMEOUTS)]
        return self.leave(untried, f"{', '.join(self.hung)} of this family hung; fix them first")

    def leave(self, variants: Sequence[str], why: str) -> list[Row]:
        """Variants are tried no more; gives their rows. What earlier rounds found stands."""
        if self.is_later_round:
            found = [msgspec.structs.replace(self.results[name], stopped_by="") for name in variants]
            return [self.finish(name, result) for name, result in zip(list(variants), found, strict=True)]
        return self.give_up(variants, Status.ERROR, f"not measured: {why}")

    def row(self, variant: str) -> Row:
        """The row of a variant's case."""
        seconds = {part: round(self.seconds[part], 4) for part in RoundPart if part in self.seconds}
        own = {"round_seconds": json.dumps(seconds) if seconds else None}
        return self.fixed[variant] | self.results[variant].columns() | own

    def rows(self) -> list[Row]:
        """The rows of all cases."""
        return [self.row(variant) for variant in self.fixed]

    def medians(self, state: str) -> list[list[float]]:
        """The log speed-up of each variant in each instance of a state."""
        instances = self.settled.get(state, [])
        names = {name for one in instances for name in one}
        return [[float(np.median(one[name])) for one in instances if name in one] for name in sorted(names)]

    def _settle(self, speedups: LogSpeedups) -> None:
        for state, instances in speedups.items():
            settled_ones = [{name: settled(own) for name, own in one.items() if len(own)} for one in instances]
            self.settled.setdefault(state, []).extend(settled_ones)

    def statuses(self) -> dict[str, str]:
        """The result of each variant in this round."""
        return {name: NOT_MEASURED if name in self.waiting else result.status for name, result in self.results.items()}

    # ---- hangs --------------------------------------------------------------------------------------------------

    def patience_s(self, timeout_s: float) -> float:
        """Seconds of silence after which a worker counts as hung.

        Args:
            timeout_s: the same while nothing in this family has hung.
        """
        if not self.hung:
            return timeout_s
        return min(timeout_s, max(PATIENCE_STEPS * self.slowest_step_s, PATIENCE_PART * timeout_s, PATIENCE_S))

    # ---- limits -------------------------------------------------------------------------------------------------

    def limits(self, left_s: float) -> Sampling:
        """The limits of what is still to do in this round.

        Args:
            left_s: seconds that the run has left.
        """
        planned, fewest = self.round or Round(), self.sampling.min_instances
        own_s = min(self.rest_s, planned.sampling_s - (self.spent_s - self._spent_before_s))
        instances = min(planned.instances or fewest, fewest)
        blocks = max(len(self.sampling.states), self.sampling.max_blocks * instances // fewest)
        return replace(
            self.sampling,
            budget_s=max(0.0, min(own_s, left_s)),
            longest_s=max(0.0, min(planned.longest_s, self.rest_s, left_s)),
            max_blocks=min(blocks, self._blocks_left()),
            instances=instances,
        )

    def is_last(self, limits: Sampling) -> bool:
        """True if no round comes after this one: it may take all the time, or all the samples, that are left."""
        states = len(limits.states)
        blocks_left = self._blocks_left() - limits.max_blocks // states * states
        return limits.budget_s >= self.rest_s or blocks_left < states

    @property
    def rest_s(self) -> float:
        """Seconds of sampling that the family's own budget leaves."""
        return max(0.0, self.sampling.budget_s - self.spent_s)

    def _blocks_left(self) -> int:
        return self.sampling.max_blocks - self.blocks

    # ---- what workers send --------------------------------------------------------------------------------------

    def add_sample(self, sample: Mapping[str, Any]) -> None:
        """Note the numbers that a sample takes: those of a later worker must not repeat them."""
        self.next_block = max(self.next_block, sample["block"] + 1)
        if sample["instance"] is None:
            self.compiled.update(name for name, row in self.fixed.items() if row["case_id"] == sample["case_id"])
        else:
            self.next_instance = max(self.next_instance, sample["instance"] + 1)

    def add_seconds(self, seconds: Mapping[str, float]) -> None:
        """Count what seconds of a round went into."""
        for part, value in seconds.items():
            self.seconds[part] = self.seconds.get(part, 0.0) + value
            self._round_s += value

    def add_share(self, share: RoundShare, *, complete: bool) -> None:
        """Count what a worker did; of one that did not come to its end, the time only."""
        self.spent_s += share.spent_s()
        if complete:
            self.blocks += len(share.blocks)
            self.instance_s = share.instance_s() or self.instance_s
            self._settle(share.speedups)
            for state, instances in share.speedups.items():
                self.speedups.setdefault(state, []).extend(instances)


@dataclass
class RoundShare:
    """The part of a round that one worker does.

    Attributes:
        first_sample: number of the first sample.
        blocks: numbers of the sampled blocks.
        speedups: log speed-ups of its instances.
        results: results of the variants.
        told_s: seconds of sampling in finished states.
    """

    first_sample: int
    blocks: set[int] = field(default_factory=set)
    speedups: LogSpeedups = field(default_factory=dict)
    results: dict[str, CaseResult] = field(default_factory=dict)
    told_s: float = 0.0
    _first_s: float | None = None
    _last_s: float = 0.0

    def add_sample(self, sample: Mapping[str, Any], now_s: float) -> None:
        """A row of the table `samples` came."""
        if sample["instance"] is None:  # of compilation
            return
        self._first_s = now_s if self._first_s is None else self._first_s
        self._last_s = now_s
        if sample["state"] in SAMPLED_STATES:
            self.blocks.add(sample["block"])

    def spent_s(self) -> float:
        """Seconds of sampling; of a worker that was lost, until its last sample: it may have hung for long after."""
        seen_s = 0.0 if self._first_s is None else self._last_s - self._first_s
        return max(self.told_s, seen_s)

    def instance_s(self) -> float | None:
        """Seconds for an instance in all states, or for as many blocks as an interval needs; None without any."""
        taken = max((len(instances) for instances in self.speedups.values()), default=0)
        if not (taken and self.blocks):
            return None
        return self.spent_s() * max(1 / taken, MIN_SAMPLES * len(self.speedups) / len(self.blocks))
