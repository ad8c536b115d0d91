"""The progress of a run with a family: its instances, the variants that take part, and results of the others.

Rows of the table `cases` are written from it and never read back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec
import numpy as np

from xebench.measuring.case_rows import NOT_MEASURED, CaseResult
from xebench.measuring.messages import Instance
from xebench.measuring.sampling import Sampling
from xebench.patterns.plan import Family
from xebench.records.claim import from_json, is_expected
from xebench.records.points import Row
from xebench.results.analysis.intervals import MIN_SAMPLES
from xebench.runner.round_plan import Round
from xebench.vocabulary import RoundPart, State, Status, StopReason

#: Most timeouts that hangs of a family may cost before it is given up: by variants that have not answered yet, and
#: by those that have.
MOST_TIMEOUTS: Final = 1.5
MOST_TIMEOUTS_ANSWERED: Final = 2.0

#: Once a variant hung, the others get less time: this multiple of the slowest step that the family has
#: finished, at least this share of the timeout, and at least these seconds, since a machine may be busy.
PATIENCE_STEPS: Final = 10.0
PATIENCE_PART: Final = 0.1
PATIENCE_S: Final = 10.0


@dataclass
class FamilyProgress:
    """The progress of a run with one family.

    Attributes:
        family: family to measure.
        fixed: columns of each case that do not change, by variant.
        sampling: limits of all rounds together.
        next_block, next_instance: next free numbers.
        instances: measured instances.
        round: current or last round; None before the first.
        results: results of each variant that are on disk.
        waiting: variants that take part in this round.
        lost_s: seconds of sampling by workers that were lost.
        compiled: variants whose compilation is recorded, so that their first call has returned.
        hung: hung work in order of time: a variant, or a step that all of them need.
        hung_s: seconds spent waiting for hung work.
        seconds: seconds of all rounds so far, by part.
        slowest_step_s: longest time between two signs of life of a worker.
        beside_s: seconds of the last round without sampling; None before the first round of this session ends.
        instance_s: seconds of sampling per instance with enough blocks for an interval; None before the first round of
            this session ends.
    """

    family: Family
    fixed: Mapping[str, Row]
    sampling: Sampling
    next_block: int
    next_instance: int = 0
    instances: list[Instance] = field(default_factory=list)
    round: Round | None = None
    results: dict[str, CaseResult] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)
    lost_s: float = 0.0
    compiled: set[str] = field(default_factory=set)
    hung: list[str] = field(default_factory=list)
    hung_s: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)
    slowest_step_s: float = 0.0
    beside_s: float | None = None
    instance_s: float | None = None

    def __post_init__(self) -> None:
        """A new family waits as a whole; its states are those of its pattern, or of the user's options."""
        self._before = len(self.instances), self.spent_s, sum(self.seconds.values())
        if not self.sampling.states:
            self.sampling = replace(self.sampling, states=(State(self.family.pattern.state),))
        if not self.results:
            self.results = dict.fromkeys(self.fixed, CaseResult())
            self.waiting = list(self.fixed)

    def begin(self, planned: Round) -> None:
        """Begin a round. In a later one, good variants take part again unless they are precise enough; what is on disk
        stays.
        """
        self.round, self._before = planned, (len(self.instances), self.spent_s, sum(self.seconds.values()))
        if planned.number:
            able = self._blocks_left() >= len(self.sampling.states)
            self.waiting = [
                name
                for name, result in self.results.items()
                if able and result.status == Status.OK and result.stopped_by != StopReason.PRECISION
            ]

    @property
    def is_over(self) -> bool:
        """True if no round is to come: each variant is precise enough, has had all its samples, or has failed."""
        open_still = any(
            result.status == Status.OK and result.stopped_by == StopReason.ROUND for result in self.results.values()
        )
        return self.round is not None and (not open_still or self._blocks_left() < len(self.sampling.states))

    def end(self, seconds: float) -> None:
        """A round is over, which took so long."""
        begun, spent_s, counted_s = self._before
        sampled_s = self.spent_s - spent_s
        self.beside_s = max(0.0, seconds - sampled_s)
        self.instance_s = _instance_s(self.instances[begun:]) or self.instance_s
        self.add_seconds({RoundPart.STARTING: seconds - (sum(self.seconds.values()) - counted_s)})

    def add(self, instance: Instance) -> list[Row]:
        """Take a measured instance; gives the rows of the variants that took part."""
        self.instances.append(instance)
        self.add_seconds(instance.parts)
        return self.take(instance.results)

    def take(self, results: Mapping[str, CaseResult]) -> list[Row]:
        """Take the results so far of the variants that take part; gives their rows."""
        return [
            self.keep(name, msgspec.structs.replace(results[name], stopped_by=StopReason.ROUND))
            if results[name].status == Status.OK
            else self.finish(name, results[name])
            for name in list(self.waiting)
        ]

    def has_failed(self, instance: Instance) -> bool:
        """True if it found a variant that takes part wrong or in error, though no claim says so."""
        return any(
            result.status in (Status.WRONG, Status.ERROR)
            and not is_expected(result.status, result.reason, from_json(self.fixed[name]["claims"]))
            for name, result in instance.results.items()
            if name in self.waiting
        )

    def keep(self, variant: str, result: CaseResult) -> Row:
        """A variant has a result, which may not be its last of this round; gives its row."""
        self.results[variant] = result.after(self.results[variant])
        return self.row(variant)

    def finish(self, variant: str, result: CaseResult) -> Row:
        """A variant has its result of this round; gives its row."""
        self.waiting = [name for name in self.waiting if name != variant]
        return self.keep(variant, result)

    def finish_all(self, stopped_by: str) -> None:
        """The round has come to its end for all variants that took part.

        Args:
            stopped_by: reason for the end.
        """
        if stopped_by == StopReason.BUDGET and self._round_is_cut:
            stopped_by = StopReason.ROUND
        for name in list(self.waiting):
            self.finish(name, msgspec.structs.replace(self.results[name], stopped_by=stopped_by))

    @property
    def _round_is_cut(self) -> bool:
        """True if the round has less time than the family: when that is spent, the family's is not."""
        return self.round is not None and self.round.sampling_s < self.sampling.budget_s - self._before[1]

    def give_up(self, variants: Iterable[str], status: Status, reason: str) -> list[Row]:
        """Variants get no result of this round; gives their rows."""
        return [
            self.finish(name, msgspec.structs.replace(self.results[name], status=status, reason=reason, stopped_by=""))
            for name in list(variants)
        ]

    def give_up_after_hang(self, what: str, waited_s: float, timeout_s: float) -> list[Row]:
        """Note what hung; gives the rows of those that are not tried for that. What was found before stands."""
        self.hung.append(what)
        self.hung_s += waited_s
        most_s = dict.fromkeys(self.compiled, timeout_s * MOST_TIMEOUTS_ANSWERED)
        untried = [name for name in self.waiting if self.hung_s >= most_s.get(name, timeout_s * MOST_TIMEOUTS)]
        return self.leave(untried, f"{', '.join(self.hung)} of this family hung; fix them first")

    def leave(self, variants: Sequence[str], why: str) -> list[Row]:
        """Variants are tried no more; gives their rows. What was found before stands."""
        if self.instances:
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

    def of_state(self, state: str) -> list[Instance]:
        """The instances in which a state was sampled."""
        return [one for one in self.instances if one.state == state]

    def medians(self, state: str) -> list[list[float]]:
        """The log speed-up of each variant in each instance of a state, after its slow start."""
        instances = [one.series for one in self.of_state(state)]
        names = {name for one in instances for name in one}
        return [
            [float(np.median(one[name].settled)) for one in instances if name in one and one[name].ratios.size]
            for name in sorted(names)
        ]

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
        own_s = min(self.rest_s, planned.sampling_s - (self.spent_s - self._before[1]))
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
    def spent_s(self) -> float:
        """Seconds of sampling in all rounds so far."""
        return self.lost_s + sum(one.seconds for one in self.instances)

    @property
    def rest_s(self) -> float:
        """Seconds of sampling that the family's own budget leaves."""
        return max(0.0, self.sampling.budget_s - self.spent_s)

    def _blocks_left(self) -> int:
        return self.sampling.max_blocks - sum(one.blocks for one in self.instances)

    def add_seconds(self, seconds: Mapping[str, float]) -> None:
        """Count what seconds of a round went into."""
        for part, value in seconds.items():
            self.seconds[part] = self.seconds.get(part, 0.0) + value

    def number(self, sample: Row) -> None:
        """Note the numbers that a sample takes: those of a later worker must not repeat them."""
        self.next_block = max(self.next_block, sample["block"] + 1)
        if sample["instance"] is None:
            self.compiled.update(name for name, row in self.fixed.items() if row["case_id"] == sample["case_id"])
        else:
            self.next_instance = max(self.next_instance, sample["instance"] + 1)


def _instance_s(instances: Sequence[Instance]) -> float | None:
    """Seconds for an instance in all states, or for as many blocks as an interval needs; None without any."""
    states = [one.state for one in instances if one.speedups]
    blocks = sum(one.blocks for one in instances)
    if not (states and blocks):
        return None
    taken = max(states.count(state) for state in states)
    return sum(one.seconds for one in instances) * max(1 / taken, MIN_SAMPLES * len(set(states)) / blocks)
