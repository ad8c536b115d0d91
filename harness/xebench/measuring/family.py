"""Measure an instance of a family: check every variant, sample the right ones side by side, check again.

This is the only loop over variants: runs, `xebench.compare` and pytest's `device_benchmark.compare` differ in where
variants run (`xebench.measuring.place`), in what they must give (`xebench.measuring.correctness`), and in who takes the
rows.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from xebench.errors import Unsupported
from xebench.measuring.correctness import Checker, Expected
from xebench.measuring.device_worker import Lost
from xebench.measuring.machine_monitor import MachineMonitor, RoundClock, RunningClock
from xebench.measuring.messages import Instance, Stage
from xebench.measuring.place import CacheFlusher, Places, VariantRun, outcome
from xebench.measuring.samples import RowStream, Rules, SampleTaker, SpotChecks, times_of
from xebench.measuring.sampling import (
    Sampling,
    batch_size,
    block_limit_s,
    least_ns,
    sample_family,
)
from xebench.measuring.stopping import NEXT_INSTANCE, InstanceLimits, InstanceRule, Instances
from xebench.measuring.traced_facts import traced_facts
from xebench.patterns.pattern import Variant
from xebench.session.recorder import MeasuredSample
from xebench.system.runtime import DeviceInfo, missing
from xebench.vocabulary import RoundPart, State, Status

#: Number of executions of which the median one is kept, since a single one may have been interrupted.
TRACED: Final = 3
#: A longer execution is taken once, in ns: an interruption is a small part of it, and time is limited.
LONG_NS: Final = 100_000_000

NO_COMMAND: Final = "it recorded no command: submit its work with session.launch, session.copy or session.call"


@dataclass(frozen=True)
class Plan:
    """The settings of a family's measurement.

    Attributes:
        metric: device, span, wall or build.
        baseline: baseline of the speed-ups.
        seed: seed of the order of samples and of the poison of outputs.
        compared: variants, each with another variant to compare with in addition to the baseline.
        bytes_moved: least traffic to memory of one execution; None if unknown.
        in_batches: True if one sample may have several executions, with nothing to do between them.
        first_block: next free block number.
        essential: variant whose failure ends the family: its exceptions, a lost place and Ctrl-C are raised. "" if a
            failure ends only the variant itself.
        no_command: error message for a variant that records no command; may contain ``{name}``.
        words: names of stages in reasons.
        data_sets: number of data sets that instances use in turn; None if the data are unknown.
    """

    metric: str
    baseline: str
    seed: int = 0
    compared: Sequence[tuple[str, str]] = ()
    bytes_moved: int | None = None
    in_batches: bool = True
    first_block: int = 0
    essential: str = ""
    no_command: str = NO_COMMAND
    words: Mapping[Stage, str] = field(default_factory=dict)
    data_sets: int | None = None


#: Receives the variant and the stage of the next step; None for a step that serves all variants.
Show = Callable[[str | None, Stage], None]


class FamilyLoop:
    """The variants of one family, measured together.

    Args:
        plan: settings of the measurement.
        runs: variants, which receive their results.
        places: places where they run, already begun.
        expected: see `Checker`.
        rows: receiver of measured rows.
        device: device that they run on.
        make_flusher: function that makes the flusher of its caches, for cold samples.
        show: callback before each step.
        clock: clock that counts seconds by their use.

    Attributes:
        data_sets: see `Plan`; may grow before an instance.
    """

    def __init__(
        self,
        plan: Plan,
        runs: Sequence[VariantRun],
        places: Places,
        expected: Mapping[int, Expected],
        rows: RowStream,
        device: DeviceInfo,
        *,
        make_flusher: Callable[[], CacheFlusher],
        show: Show = lambda variant, stage: None,
        clock: RoundClock | None = None,
    ) -> None:
        self._plan = plan
        self._runs = {run.name: run for run in runs}
        self._places = places
        self._rows = rows
        self._device = device
        self._make_flusher = make_flusher
        self._show = show
        self._clock = clock or RoundClock()
        self._batches: dict[State, int] = {}
        self.data_sets = plan.data_sets
        self._instance: int | None = None
        self._next_block = plan.first_block
        # each round has numbers of its own
        self._source = random.Random(plan.seed + plan.first_block)
        self._order = random.Random()
        self._checker = Checker(expected, self._source)
        self._running = RunningClock()
        self._monitors: dict[State, MachineMonitor] = {}

    def measure(self, number: int, state: State, limits: InstanceLimits) -> Instance:
        """Measure an instance in one state: arrays and kernels are new, unless it is the first one of this loop.

        Args:
            number: number of the instance.
            state: state of the caches before each sample.
            limits: limits of its sampling.

        Raises:
            Exception: whatever the essential variant raises, or the making of an instance.
        """
        self._clock.enter(RoundPart.CHECKING)
        if is_first := self._instance is None:
            self._begin(number, limits.sampling)
        # making arrays and kernels anew takes of the time for sampling
        rule = InstanceRule(limits, self._plan.baseline, self._plan.compared, self._running)
        if not is_first:
            self._renew(number)
        with self._clock.during(RoundPart.SAMPLING):
            self._sample(state, limits.sampling, rule)
        for run in self._runs.values():
            self._checker.end_instance(run)
        self._recheck(self._places.changed())
        return Instance(
            number=number,
            state=state,
            speedups={name: own.tolist() for name, own in rule.speedups.items()},
            blocks=rule.blocks,
            seconds=rule.seconds,
            enough=rule.enough,
        )

    def measure_all(self, sampling: Sampling) -> str:
        """Measure as many instances as a family of one round and one state needs; return the reason for the end."""
        instances, number, reason = Instances(sampling), 0, NEXT_INSTANCE
        while reason == NEXT_INSTANCE and self._good():
            one = self.measure(number, sampling.states[0], instances.limits)
            reason = instances.add(one.series, one.blocks, one.seconds, enough=one.enough)
            number += 1
        self.close()
        return reason if self._good() else ""

    def close(self) -> None:
        """End watching the machine."""
        while self._monitors:
            self._monitors.popitem()[1].close()

    def _begin(self, number: int, sampling: Sampling) -> None:
        """Check all variants on the arrays that are there."""
        self._instance = number
        self._spot_checks = SpotChecks(self._source, sampling.min_blocks, self._running)
        self._checker.take(self._data_set())
        good = self._good()
        if number:  # in the first one of a run the declared order says which variant compiles
            self._order.shuffle(good)
        for run in self._checker.in_order(good):
            self._guard(run, Stage.CHECK, self._first_call)

    def _good(self) -> list[VariantRun]:
        return [run for run in self._runs.values() if run.is_good()]

    def _first_call(self, run: VariantRun) -> None:
        if reason := missing(self._device, run.variant.requires):
            raise Unsupported(reason)
        started = self._checker.first_call(run, self._places.of(run.variant))
        self._clock.count_as(RoundPart.BUILDING, started.host_ns / 1e9)
        self._rows.add_compilations(run.name, started.compilations, started.host_ns)
        run.kernels, run.devices = list(started.kernels), started.devices
        run.program, run.switches = started.program, started.switches

    def trace(self) -> None:
        """Call each good variant a few more times with its host calls timed, after all other measurements."""
        with self._clock.during(RoundPart.SAMPLING):
            for run in self._good():
                self._guard(run, Stage.SAMPLE, self._trace)

    def _trace(self, run: VariantRun) -> None:
        place = self._places.of(run.variant)
        taken = [place.sample(run.name, 1, traced=True)]
        while len(taken) < TRACED and taken[0].host_ns < LONG_NS:
            taken.append(place.sample(run.name, 1, traced=True))
        measured = sorted(taken, key=lambda each: each.host_ns)[len(taken) // 2]
        run.traced = traced_facts(measured)
        self._rows.add_sample(
            run.name,
            {
                "block": -1,
                "order": -1,
                "instance": self._number,
                "state": State.TRACED,
                "batch": 1,
                "events": measured.command_count,
                **{kind.column: time_ns for kind, time_ns in times_of(measured).items()},
                "valid": True,
                "sample_flags": "",
            },
            measured.events,
            measured.calls,
        )

    def _recheck(self, changed: Sequence[str]) -> None:
        """Check the good variants again, of whom one may have changed inputs among its samples.

        Args:
            changed: those inputs. Then no sample is worth anything: others worked on what was left of them.
        """
        for run in self._checker.in_order(self._good()):
            self._guard(run, Stage.RECHECK, self._verify)
        for run in self._good() if changed else ():
            why = f"input {', '.join(changed)} was changed in a sample, by this variant or another: declare it inout"
            run.drop(Status.WRONG, why)

    def _verify(self, run: VariantRun) -> None:
        self._checker.verify(run, self._places.of(run.variant))

    # ---- sampling -----------------------------------------------------------------------------------------------

    def _sample(self, state: State, sampling: Sampling, rule: InstanceRule) -> None:
        """Sample the good variants together, until the rule has enough of this instance."""
        if not self._good():
            return
        if state not in self._monitors:  # the usual state of the machine is that of the first samples
            self._monitors[state] = MachineMonitor(self._device.device_class)
        flusher = self._make_flusher() if state == State.COLD else None
        with self._rows.watched(self._monitors[state]):
            sampled = sample_family(
                [run.name for run in self._good()],
                partial(self._measure, self._taker(flusher)),
                rule.decide,
                sampling,
                seed=self._plan.seed + self._number,
                state=state,
                first_block=self._next_block,
                choose_batch=partial(self._choose_batch, state, sampling),
                clock=self._spot_checks.sampling_clock,
            )
        self._next_block = sampled.next_block

    @property
    def _number(self) -> int:
        assert self._instance is not None
        return self._instance

    def _data_set(self) -> int:
        """The number of the data of this instance: instances take the data sets in turn."""
        return self._number % (self.data_sets or 1)

    def _renew(self, number: int) -> None:
        """Allocate arrays and build kernels again: the next instance of the family."""
        self._show(None, Stage.PROBLEM)
        self._instance = number
        self._checker.take(self._data_set())
        with self._clock.during(RoundPart.UPLOADING):
            self._places.renew(self._checker.data_set)
        self._start_all_again()
        if self._places.changed():  # now it is looked who does that
            self._start_all_again()

    def _start_all_again(self) -> None:
        # in a new order each time, which also moves their memory
        good = self._good()
        self._order.shuffle(good)
        for run in self._checker.in_order(good):
            self._guard(run, Stage.PREPARE, self._start_again)

    def _start_again(self, run: VariantRun) -> None:
        started = self._checker.first_call(run, self._places.of(run.variant))
        self._clock.count_as(RoundPart.BUILDING, started.host_ns / 1e9)

    def _taker(self, flusher: CacheFlusher | None) -> SampleTaker:
        def rules() -> Rules:
            return Rules(self._plan.metric, self._device.timer_resolution_ns, self._plan.bytes_moved)

        data_set = None if self.data_sets is None else self._checker.data_set
        of_plan = self._plan.no_command, data_set
        return SampleTaker(self._rows, rules, flusher, self._number, *of_plan, self._running, self._note_sample)

    def _note_sample(self, variant: Variant, measured: MeasuredSample) -> None:
        self._checker.note_sample(self._runs[variant.name], measured)

    def _measure(
        self, taker: SampleTaker, variant: str, *, state: str, block: int, order: int, batch: int
    ) -> float | None:
        run, value = self._runs[variant], None
        if not run.is_good():  # another's check has shown that all have worked on changed inputs
            return None

        def take(run: VariantRun) -> None:
            nonlocal value
            sample = partial(self._places.of(run.variant).sample, variant, batch, taker.flush)
            value = taker.take(run.variant, sample, batch, state=state, block=block, order=order)
            if self._rows.is_throttled:
                with self._running.stands_still():
                    self._rows.let_cool()
            if state != State.WARMUP and self._spot_checks.due(variant):
                with self._spot_checks.counted(), self._clock.during(RoundPart.CHECKING):
                    self._check_between(run, block, taker)

        with self._clock.during(RoundPart.WARMING_UP if state == State.WARMUP else RoundPart.SAMPLING):
            self._guard(run, Stage.SAMPLE, take)
        return value if run.is_good() else None

    def _check_between(self, run: VariantRun, block: int, taker: SampleTaker) -> None:
        if changed := self._places.changed():  # maybe by another: then no result says anything
            self._recheck(changed)
        else:
            remember = taker.rules_of(run.variant).remember
            self._checker.verify(run, self._places.of(run.variant), f"in block {block}", remember)

    def _choose_batch(self, state: State, part: Sampling, times_ns: Mapping[str, float], block_s: float) -> int:
        """Chosen in the first instance, and the same in all."""
        # in-out arrays are reset, caches are flushed and ranks meet before each sample, not before each execution
        if state == State.COLD or not self._plan.in_batches:
            return 1
        if state not in self._batches:
            least = least_ns(self._plan.metric, self._device.timer_resolution_ns)
            limit_s = block_limit_s(part)
            self._batches[state] = batch_size(times_ns, least, block_s=block_s, limit_s=limit_s)
        return self._batches[state]

    # ---- outcomes -----------------------------------------------------------------------------------------------

    def _guard(self, run: VariantRun, stage: Stage, action: Callable[[VariantRun], None]) -> None:
        """Do a step with one variant; what goes wrong ends that variant, not the family."""
        self._show(run.name, stage)
        try:
            action(run)
        except BaseException as error:
            if self._plan.essential and self._ends_all(run, error):
                raise
            run.drop(*outcome(self._plan.words.get(stage, stage), error))

    def _ends_all(self, run: VariantRun, error: BaseException) -> bool:
        """True if an error ends a family that has an essential variant: its own, a lost place, or Ctrl-C."""
        if isinstance(error, Lost):
            error.variant = run.name
        return run.name == self._plan.essential or isinstance(error, Lost | KeyboardInterrupt)
