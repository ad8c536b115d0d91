"""Run one family in the worker: build the problem, check every variant, sample them side by side, check again."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from xebench.analysis.moderation import NOTHING
from xebench.children.activity import ActivityPage
from xebench.children.channel import Sender
from xebench.children.parent import Parent
from xebench.dpex import direct_calls
from xebench.measuring import messages
from xebench.measuring.bound_problem import Binding, check_memory, host_view
from xebench.measuring.calibration import make_flusher, measure_roofs
from xebench.measuring.case_rows import CaseResult, Work
from xebench.measuring.elsewhere import FamilyHere
from xebench.measuring.expected import Expected, expected_of
from xebench.measuring.input_check import Inputs, Sums
from xebench.measuring.machine_monitor import MachineMonitor
from xebench.measuring.messages import MeasureFamily, Request, Stage
from xebench.measuring.places import Place, Places
from xebench.measuring.prepare import check_device, find_pattern, make_problem
from xebench.measuring.result_check import Checker
from xebench.measuring.row_stream import RowStream
from xebench.measuring.sample_flags import Rules
from xebench.measuring.sample_taker import SampleTaker
from xebench.measuring.spot_checks import SpotChecks
from xebench.measuring.variant_run import VariantRun, nothing, outcome
from xebench.runtime import DeviceInfo
from xebench.runtime.devices import describe
from xebench.sampling import batching
from xebench.sampling.blocks import Sampled, sample_family
from xebench.sampling.instances import Instances
from xebench.sampling.limits import Sampling
from xebench.sampling.stopping import NEXT_INSTANCE
from xebench.session.cache_flush import Flusher
from xebench.session.device_memory import DeviceMemory
from xebench.session.session import Session
from xebench.vocabulary import State, Status, StopReason, metric_named

#: Reasons for the end of sampling, the least satisfying first: a case that was sampled in two states has one.
_ENDS = (StopReason.PASS, StopReason.BUDGET, StopReason.MAX_BLOCKS, StopReason.PRECISION)


@dataclass
class FamilyRun:
    """One family on one session.

    Attributes:
        request: what is measured, and how thoroughly.
        session: of the device.
        device: what it offers.
        sender: takes rows and results.
        activity: shows what is worked at.
        sums: of inputs on the device.
        places: where variants run that do not run here.
    """

    request: MeasureFamily
    session: Session
    device: DeviceInfo
    sender: Sender
    activity: ActivityPage
    sums: Sums
    places: Places

    def __post_init__(self) -> None:
        request = self.request
        self.pattern = find_pattern(request.source, request.pattern)
        self.session.records_direct_calls = metric_named(self.pattern.metric).on_device_clock
        self.rows = RowStream(self.sender, request.case_ids, request.first_sample, compiled=request.compiled)
        self.variants = [VariantRun(self.pattern.variants[name]) for name in request.variants]
        self.work: Work | None = None
        self.stopped_by = ""
        self._batches: dict[State, int] = {}
        self._elsewhere: dict[tuple[int, str], Place] = {}
        self.expected: dict[int, Expected] = {}
        self._instance = request.first_instance
        self._next_block = request.first_block
        # each pass has numbers of its own
        self._source = random.Random(request.seed + request.first_block)
        self._spot_checks = SpotChecks(self._source, request.sampling.min_blocks)

    def run(self) -> None:
        """Measure, and send a row for every case, whatever happens to it."""
        try:
            check_device(self.pattern, self.request.axes, self.device)
            self._prepare()
            self._check()
            self._sample()
            self._recheck(self._changed())
        except BaseException as error:
            _, stage = self.activity.read()
            for variant in self.variants:
                variant.drop(*outcome(stage, error))
        finally:
            self.rows.flush()
            for variant in self.variants:
                self._send_case(variant)
            self.activity.show(None, Stage.IDLE)
            self.session.release()
            self.places.end()

    def _good(self) -> list[VariantRun]:
        return [variant for variant in self.variants if variant.is_good()]

    def _prepare(self) -> None:
        """Make the problem, upload it, and compute its reference."""
        self.activity.show(None, Stage.PROBLEM)
        numbers = {**self.request.sizes, **self.request.axes}
        problem = make_problem(self.pattern, numbers, self.request.seed)
        self.work = Work.of(problem)
        copies = 1 + max(variant.variant.ranks for variant in self.variants)  # the worker has one, too
        check_memory(problem, self.device.global_memory_bytes, self.device.max_alloc_bytes, copies)
        self._bind = partial(Binding, problem, numbers, DeviceMemory(self.session.queue))
        self._upload()
        self.activity.show(None, Stage.REFERENCE)
        view = host_view(problem, numbers)
        counts = {variant.variant.ranks for variant in self.variants}
        self.expected = {ranks: expected_of(self.pattern, view, self.binding, ranks) for ranks in counts}

    def _upload(self) -> None:
        self.binding = self._bind()
        self.inputs = Inputs(self.binding, self.sums)

    def _place(self, variant: VariantRun) -> Place:
        """Where a variant runs: in this process unless it needs variables of its own, or ranks."""
        environment, ranks, request = variant.variant.environment, variant.variant.ranks, self.request
        if not environment and not ranks:
            return Place(self.session, self.binding, self.inputs)
        key = ranks, json.dumps(dict(environment), sort_keys=True)
        if key not in self._elsewhere or not self._elsewhere[key].is_there:
            numbers = {**request.sizes, **request.axes}
            family = FamilyHere(request.source, request.pattern, numbers, dict(request.axes), request.seed)
            self._elsewhere[key] = self.places.begin(environment, ranks, family, self.binding)
        return self._elsewhere[key]

    def _changed(self) -> list[str]:
        """Names of the inputs that were changed in any place since the last call; they are put back."""
        places = (self.inputs, *(place.inputs for place in self._elsewhere.values()))
        return list(dict.fromkeys(name for inputs in places for name in inputs.changed()))

    def _checker(self, variant: VariantRun) -> Checker:
        place = self._place(variant)
        return Checker(
            self.pattern,
            place.binding,
            place.inputs,
            self.expected[variant.variant.ranks],
            self.request.axes,
            place.session,
            self.device,
            self.rows,
            self._source,
        )

    def _check(self) -> None:
        for variant in self.variants:
            self._guard_check(variant, Stage.CHECK, Checker.first_call)
            self.session.take_compilations()
            self.sender.send(messages.VariantChecked(variant.name))

    def _recheck(self, changed: list[str]) -> None:
        """Check the good variants again, of whom one may have changed inputs among its samples.

        Args:
            changed: those inputs. Then no sample is worth anything: others worked on what was left of them.
        """
        for variant in self._good():
            self._guard_check(variant, Stage.RECHECK, Checker.verify)
        for variant in self._good() if changed else ():
            why = f"input {', '.join(changed)} was changed in a sample, by this variant or another: declare it inout"
            variant.drop(Status.WRONG, why)

    # ---- sampling -----------------------------------------------------------------------------------------------

    def _sample(self) -> None:
        """Sample the good variants together, state after state."""
        part, ends = self.request.sampling.for_each_state(), []
        for state in part.states if self._good() else ():
            with closing(MachineMonitor(self.device.device_class)) as monitor, self.rows.watched(monitor):
                ends.append(self._sample_state(state, part))
        # what ended an earlier pass was its part of the budget or of the instances, and not the family's
        own = next((reason for reason in _ENDS if reason in ends), "")
        over = self.request.last or set(ends) == {StopReason.PRECISION}
        self.stopped_by = own if over else StopReason.PASS

    def _sample_state(self, state: State, part: Sampling) -> str:
        """Sample one instance of the family after the other; which rule ended it."""
        earlier, last = self.request.earlier.get(state, ()), self.request.last
        prior = self.request.priors.get(state, NOTHING)
        baseline, compared = self.pattern.baseline_variant.name, self.request.compared
        instances = Instances(part, baseline, earlier, last=last, prior=prior, compared=compared)
        flusher = make_flusher(self.session) if state == State.COLD else None
        begin, sampled = time.monotonic(), Sampled("", self._next_block)
        while self._good():
            sampled = sample_family(
                [variant.name for variant in self._good()],
                partial(self._measure, self._taker(flusher), self.session.queue_count),
                instances.decide,
                instances.share,
                seed=self.request.seed + self._instance,
                state=state,
                first_block=self._next_block,
                choose_batch=partial(self._choose_batch, state, instances.share),
                clock=self._spot_checks.sampling_clock,
            )
            self._next_block = sampled.next_block
            if sampled.stopped_by != NEXT_INSTANCE:
                break
            self._renew()
        self.sender.send(messages.StateSampled(state, instances.taken(), time.monotonic() - begin))
        return sampled.stopped_by

    def _renew(self) -> None:
        """Make arrays and kernels anew: the next instance of the family."""
        if changed := self._changed():
            self._recheck(changed)
            return
        self.activity.show(None, Stage.PROBLEM)
        self._spot_checks.new_instance()
        for variant in self.variants:
            variant.sample = nothing  # what it holds of the old arrays is freed first
        self.session.release()
        self.places.end()
        self._elsewhere.clear()
        del self.binding, self.inputs  # so that the new arrays lie elsewhere, where the allocator has another place
        self._upload()
        self._instance += 1
        for variant in self._good():
            self._guard_check(variant, Stage.PREPARE, Checker.prepare)
        self.session.take_compilations()

    def _taker(self, flusher: Flusher | None) -> SampleTaker:
        assert self.work is not None
        rules = Rules(self.pattern.metric, self.device.timer_resolution_ns, self.work.bytes_moved)
        return SampleTaker(self.session, self.binding.reset, self.rows, rules, flusher, self._instance)

    def _measure(
        self, taker: SampleTaker, queues: int, variant: str, *, state: str, block: int, order: int, batch: int
    ) -> float | None:
        number = self.request.variants.index(variant)
        run = self.variants[number]
        if not run.is_good():  # another's check told that all have worked on inputs that were changed
            return None
        self.activity.show(number, Stage.SAMPLE)
        try:
            place = self._place(run)
            rules = taker.rules.elsewhere(run.variant.environment) if run.variant.environment else taker.rules
            here = replace(taker, session=place.session, reset=place.binding.reset, rules=rules)
            value = here.take(run, state=state, block=block, order=order, batch=batch)
            if state != State.WARMUP and self._spot_checks.due(variant):
                with self._spot_checks.counted():
                    self._check_between(run, block, rules)
        except BaseException as error:
            run.drop(*outcome(Stage.SAMPLE, error))
        if not run.is_good():
            return None
        self.session.forget_queues(queues)
        return value

    def _check_between(self, variant: VariantRun, block: int, rules: Rules) -> None:
        if changed := self._changed():
            self._recheck(changed)
        else:
            self._checker(variant).verify_between(variant, block, rules.remember)

    def _choose_batch(self, state: State, part: Sampling, times_ns: Mapping[str, float], block_s: float) -> int:
        """Chosen in the first instance, and the same in all."""
        # in-out arrays are reset, caches are flushed and ranks meet before each sample, not before each execution
        if state == State.COLD or self.binding.initial or any(variant.variant.ranks for variant in self.variants):
            return 1
        if state not in self._batches:
            least = batching.least_ns(self.pattern.metric, self.device.timer_resolution_ns)
            limit_s = batching.block_limit_s(part)
            self._batches[state] = batching.batch_size(times_ns, least, block_s=block_s, limit_s=limit_s)
        return self._batches[state]

    # ---- outcomes -----------------------------------------------------------------------------------------------

    def _guard(self, variant: VariantRun, stage: Stage, action: Callable[[], None]) -> None:
        """Run a step of one variant; what goes wrong ends that variant, not the family."""
        self.activity.show(self.request.variants.index(variant.name), stage)
        try:
            action()
        except BaseException as error:
            variant.drop(*outcome(stage, error))

    def _guard_check(self, variant: VariantRun, stage: Stage, check: Callable[[Checker, VariantRun], None]) -> None:
        """Check one variant in its place, likewise."""
        self._guard(variant, stage, lambda: check(self._checker(variant), variant))

    def _send_case(self, variant: VariantRun) -> None:
        stopped_by = self.stopped_by if variant.status == Status.OK else ""
        result = CaseResult(
            variant.status,
            variant.reason,
            stopped_by,
            kernels=json.dumps(variant.kernels),
            error_ulp=variant.error_ulp,
            work=self.work,
            devices=variant.devices,
        )
        self.sender.send(messages.CaseOver(variant.name, result))


def prepare(device: str, parent: Parent) -> Callable[[Request], None]:
    """A session on a device; gives the function that measures on it what the manager asks for."""
    session = Session.on(device)
    direct_calls.install()
    info, sums, places = describe(session.device), Sums(session.queue), Places(device)

    def answer(request: Request) -> None:
        if isinstance(request, messages.MeasureRoofs):
            parent.answers.send(messages.Roofs(measure_roofs(session, brief=request.brief)))
        else:
            FamilyRun(request, session, info, parent.answers, parent.activity, sums, places).run()

    return answer
