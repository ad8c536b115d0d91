"""Run one family in the worker: build the problem, check every variant, sample them side by side, check again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from harness.children.activity import Beacon
from harness.children.messages import Sender
from harness.runner.worker.calibration import cold_limit_gbps
from harness.runner.worker.machine_monitor import MachineMonitor
from harness.runner.worker.prepare import Prepared, check_device, find_pattern, make_problem, prepare
from harness.runner.worker.result_check import Checker
from harness.runner.worker.row_stream import RowStream
from harness.runner.worker.sample_flags import Rules
from harness.runner.worker.sample_taker import SampleTaker
from harness.runner.worker.variant_run import Candidate, outcome
from harness.runtime import DeviceInfo
from harness.sampling import batching
from harness.sampling.blocks import Sampled, sample_family
from harness.sampling.instances import Instances
from harness.sampling.limits import Sampling
from harness.sampling.stopping import NEXT_INSTANCE
from harness.session.cache_flush import Flusher
from harness.session.device_memory import DeviceMemory
from harness.session.session import Session
from harness.vocabulary import State, Status, StopReason

#: Reasons for the end of sampling, the least satisfying first: a case that was sampled in two states has one.
_ENDS = (StopReason.PASS, StopReason.BUDGET, StopReason.MAX_BLOCKS, StopReason.PRECISION)


@dataclass(frozen=True)
class Request:
    """What the manager asks for: one family of cases.

    ``variants`` are names in the order of the beacon's indices; ``case_ids`` has a key for each. ``compiled`` names
    those that have their rows of compilation; ``last``: no pass comes after this one; ``earlier`` has the log speed-ups
    of earlier passes' instances by state.
    """

    source: str
    pattern: str
    sizes: Mapping[str, Any]
    axes: Mapping[str, Any]
    variants: Sequence[str]
    case_ids: Mapping[str, str]
    sampling: Mapping[str, Any]
    seed: int
    first_sample: int = 0
    first_block: int = 0
    first_instance: int = 0
    compiled: Sequence[str] = ()
    last: bool = True
    earlier: Mapping[str, Any] = field(default_factory=dict)


class FamilyRun:
    """One family on one session; see :func:`run_family`."""

    def __init__(self, request: Request, session: Session, device: DeviceInfo, sender: Sender, beacon: Beacon) -> None:
        self.request = request
        self.session = session
        self.device = device
        self.sender = sender
        self.beacon = beacon
        self.pattern = find_pattern(request.source, request.pattern)
        self.sampling = Sampling(**request.sampling)
        self.rows = RowStream(sender, request.case_ids, request.first_sample, compiled=request.compiled)
        self.candidates = [Candidate(self.pattern.variants[name]) for name in request.variants]
        self.work: dict[str, Any] = {}
        self.stopped_by = ""
        self._batches: dict[State, int] = {}
        self._instance = request.first_instance
        self._next_block = request.first_block

    def run(self) -> None:
        """Measure, and send a row for every case, whatever happens to it."""
        try:
            check_device(self.pattern, self.request.axes, self.device)
            self.prepared = self._prepare()
            self._check()
            self._sample()
            self._recheck()
        except BaseException as error:
            for candidate in self.candidates:
                candidate.drop(*outcome(self.beacon.read()[1], error))
        finally:
            self.rows.flush()
            for candidate in self.candidates:
                self._send_case(candidate)
            self.beacon.show(None, "idle")
            self.session.release()

    def _good(self) -> list[Candidate]:
        return [candidate for candidate in self.candidates if candidate.status == Status.OK]

    def _prepare(self) -> Prepared:
        self.beacon.show(None, "problem")
        numbers = {**self.request.sizes, **self.request.axes}
        problem = make_problem(self.pattern, numbers, self.request.seed)
        self.work = {
            "bytes_moved": problem.bytes_moved,
            "operations": problem.operations,
            "operation_kind": problem.operation_kind,
            "slm_bytes": problem.slm_bytes,
        }
        memory = DeviceMemory(self.session.queue)
        return prepare(self.pattern, problem, numbers, self.device, memory, lambda: self.beacon.show(None, "reference"))

    def _checker(self) -> Checker:
        prepared = self.prepared
        return Checker(
            self.pattern,
            prepared.binding,
            prepared.expected,
            self.request.axes,
            self.session,
            self.device,
            self.rows,
        )

    def _check(self) -> None:
        checker = self._checker()
        for candidate in self.candidates:
            self._guard(candidate, "check", partial(checker.first_call, candidate))
            self.session.take_compilations()
            self.sender.send("progress", variant=candidate.name, stage="checked", status=candidate.status)

    def _recheck(self) -> None:
        checker = self._checker()
        for candidate in self._good():
            self._guard(candidate, "recheck", partial(checker.verify, candidate))

    # ---- sampling -----------------------------------------------------------------------------------------------

    def _sample(self) -> None:
        """Sample the good variants together, state after state."""
        part, ends = self.sampling.for_each_state(), []
        for state in part.states if self._good() else ():
            with self._watch():
                ends.append(self._sample_state(state, part))
        # what ended an earlier pass was its part of the budget or of the instances, and not the family's
        own = next((reason for reason in _ENDS if reason in ends), "")
        self.stopped_by = own if self.request.last else StopReason.PASS

    def _sample_state(self, state: State, part: Sampling) -> str:
        """Sample one instance of the family after the other; which rule ended it."""
        earlier, last = self.request.earlier.get(state, ()), self.request.last
        instances = Instances(part, self.pattern.baseline_variant.name, earlier, last=last)
        flusher = Flusher(self.session.queue, cold_limit_gbps(self.session)) if state == State.COLD else None
        begin, sampled = time.monotonic(), Sampled("", self._next_block)
        while self._good():
            sampled = sample_family(
                [candidate.name for candidate in self._good()],
                partial(self._measure, self._taker(flusher), self.session.queue_count),
                instances.decide,
                instances.share,
                seed=self.request.seed + self._instance,
                state=state,
                first_block=self._next_block,
                choose_batch=partial(self._choose_batch, state, instances.share),
            )
            self._next_block = sampled.next_block
            if sampled.stopped_by != NEXT_INSTANCE:
                break
            self._renew()
        self.sender.send("pass", state=state, instances=instances.taken(), seconds=time.monotonic() - begin)
        return sampled.stopped_by

    def _renew(self) -> None:
        """Make arrays and kernels anew: the next instance of the family."""
        self.beacon.show(None, "problem")
        for candidate in self.candidates:
            candidate.timed = _nothing  # what it holds of the old arrays is freed first
        self.session.release()
        self.prepared.renew()
        self._instance += 1
        checker = self._checker()
        for candidate in self._good():
            self._guard(candidate, "prepare", partial(checker.prepare, candidate))
        self.session.take_compilations()

    @contextmanager
    def _watch(self) -> Iterator[None]:
        with closing(MachineMonitor(self.device.device_class)) as monitor, self.rows.watched(monitor):
            yield

    def _taker(self, flusher: Flusher | None) -> SampleTaker:
        rules = Rules(self.pattern.metric, self.device.timer_resolution_ns, self.work["bytes_moved"])
        return SampleTaker(self.session, self.prepared.binding, self.rows, rules, flusher, self._instance)

    def _measure(
        self, taker: SampleTaker, queues: int, variant: str, *, state: str, block: int, order: int, batch: int
    ) -> float | None:
        index = self.request.variants.index(variant)
        self.beacon.show(index, "sample")
        try:
            value = taker.take(self.candidates[index], state=state, block=block, order=order, batch=batch)
        except BaseException as error:
            self.candidates[index].drop(*outcome("sample", error))
            return None
        self.session.forget_queues(queues)
        return value

    def _choose_batch(self, state: State, part: Sampling, times_ns: Mapping[str, float], block_s: float) -> int:
        """Chosen in the first instance, and the same in all."""
        if state not in self._batches:
            self._batches[state] = self._batch(state, part, times_ns, block_s)
        return self._batches[state]

    def _batch(self, state: State, part: Sampling, times_ns: Mapping[str, float], block_s: float) -> int:
        # in-out arrays are reset and caches are flushed before each sample, not before each execution
        if state == State.COLD or self.prepared.binding.initial:
            return 1
        least = batching.least_ns(self.pattern.metric, self.device.timer_resolution_ns)
        # enough blocks for a decision within half of the budget
        limit_s = part.budget_s / (2 * part.min_blocks)
        return batching.batch_size(times_ns, least, block_s=block_s, limit_s=limit_s)

    # ---- outcomes -----------------------------------------------------------------------------------------------

    def _guard(self, candidate: Candidate, stage: str, action: Callable[[], None]) -> None:
        """Run a step of one variant; what goes wrong ends that variant, not the family."""
        self.beacon.show(self.request.variants.index(candidate.name), stage)
        try:
            action()
        except BaseException as error:
            candidate.drop(*outcome(stage, error))

    def _send_case(self, candidate: Candidate) -> None:
        self.sender.send(
            "case",
            variant=candidate.name,
            status=candidate.status,
            reason=candidate.reason,
            stopped_by=self.stopped_by if candidate.status == Status.OK else "",
            kernels=json.dumps(candidate.kernels),
            **self.work,
        )


def _nothing() -> None:
    """The timed part of a variant that is not prepared."""


def run_family(request: Request, session: Session, device: DeviceInfo, sender: Sender, beacon: Beacon) -> None:
    """Measure one family and stream its rows."""
    FamilyRun(request, session, device, sender, beacon).run()
