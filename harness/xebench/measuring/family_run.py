"""A worker's part of a run: measure the families that the manager requests, and send rows and outcomes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial

import psutil

from xebench.measuring import messages
from xebench.measuring.bound_problem import host_view, require_memory
from xebench.measuring.case_rows import CaseResult, Work
from xebench.measuring.checksums import Sums
from xebench.measuring.correctness import Expected
from xebench.measuring.data_sets import WITH_REFERENCE, DataSets, seed_of
from xebench.measuring.family import FamilyLoop, Listener, Plan
from xebench.measuring.local import ProblemPlace
from xebench.measuring.machine_monitor import RoundClock
from xebench.measuring.made_beside import MadeBeside
from xebench.measuring.messages import InstanceSpeedups, MeasureFamily, Stage
from xebench.measuring.odd_size import tried_at_odd_size
from xebench.measuring.place import CacheFlusher, VariantRun, outcome
from xebench.measuring.places import FamilyPlaces, Pool
from xebench.measuring.prepare import find_pattern, make_problem, require_device
from xebench.measuring.problem_store import PART, Data, ProblemStore, second_of
from xebench.measuring.remote import BeginProblem
from xebench.measuring.result_rules import ResultRules
from xebench.measuring.samples import RowStream
from xebench.session.device_memory import Flusher
from xebench.session.session import Session
from xebench.system.children.worker import ActivityPage, Parent, Sender
from xebench.system.runtime import DeviceInfo
from xebench.system.runtime.devices import describe
from xebench.system.runtime.machine import spare_cores
from xebench.vocabulary import RoundPart, State, Status


class _ToManager(Listener):
    """Shows the manager what is worked at, and sends it what it plans by."""

    def __init__(self, names: list[str], sender: Sender, activity: ActivityPage) -> None:
        self._names, self._sender, self._activity = names, sender, activity

    def at(self, variant: str | None, stage: Stage) -> None:
        self._sender.end_if_closed()  # before the next step is shown: it is not to blame
        self._activity.show(None if variant is None else self._names.index(variant), stage)

    def checked(self, variant: str) -> None:
        self._sender.send(messages.VariantChecked(variant))

    def sampled(self, state: State, instances: InstanceSpeedups, seconds: float) -> None:
        self._sender.send(messages.StateSampled(state, instances, seconds))


@dataclass
class FamilyRun:
    """One family on one session.

    Attributes:
        request: request to measure.
        session: session on the device.
        device: description of the device.
        sender: receiver of rows and results.
        activity: page that shows the current work.
        sums: checksums of inputs on the device.
        pool: processes for variants that do not run in this one.
        store: store of problems and references made before.
        flusher: function that returns the flusher of the device's caches, made on first use.
        beside: maker of the next families' data in the background; None without a free core.
        tried: patterns already tried at an odd size.
    """

    request: MeasureFamily
    session: Session
    device: DeviceInfo
    sender: Sender
    activity: ActivityPage
    sums: Sums
    pool: Pool
    store: ProblemStore
    flusher: Callable[[], CacheFlusher]
    beside: MadeBeside | None = None
    tried: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        request = self.request
        self.pattern = find_pattern(request.source, request.pattern)
        self._seeds = [seed_of(request.seed, number) for number in range(WITH_REFERENCE)]
        self.rows = RowStream(self.sender, request.case_ids, request.first_sample, compiled=request.compiled)
        self.variants = [VariantRun(self.pattern.variants[name]) for name in request.variants]
        self.work: Work | None = None
        self.data_sets: int | None = None
        self.stopped_by = ""
        self._results_note: str | None = None
        self._clock = RoundClock()
        self._listener = _ToManager(list(request.variants), self.sender, self.activity)
        self._places: FamilyPlaces | None = None

    def run(self) -> None:
        """Measure, and send a row for every case, whatever happens to it."""
        try:
            require_device(self.pattern, self.request.parameters, self.device)
            family = self._prepare()
            self._have_next_made()
            family.measure()
            if not self.request.first_instance:
                family.trace()
            self.stopped_by = family.stopped_by
        except BaseException as error:
            _, stage = self.activity.read()
            for variant in self.variants:
                variant.drop(*outcome(stage, error))
        finally:
            self._clock.enter(RoundPart.ENDING)
            self.rows.flush()
            for variant in self.variants:
                self._send_case(variant)
            self._try_odd_size()
            self._listener.at(None, Stage.IDLE)
            self.session.release()
            if self._places is not None:
                self._places.end()
            self.sender.send(messages.RoundSeconds(self._clock.seconds()))

    def _prepare(self) -> FamilyLoop:
        """Make the problem, upload it, and compute its reference."""
        request, device = self.request, self.device
        self._listener.at(None, Stage.PROBLEM)
        self._clock.enter(RoundPart.MAKING)
        if self.beside is not None:
            self.beside.take(request, self._seeds)
        data = self.store.get(self.pattern, request.parameters, request.seed)
        problem = data.problem
        self.sender.send(messages.Made())
        self.work = Work.of(problem)
        counts = {variant.variant.ranks for variant in self.variants}
        processes = 1 + max(counts)  # this one, too, has the arrays
        require_memory(problem, device.global_memory_bytes, device.max_alloc_bytes, processes)
        self._listener.at(None, Stage.REFERENCE)
        expected = {ranks: self._expected(data, ranks) for ranks in counts}
        self.sender.send(messages.Made())
        second = None
        if request.first_instance or request.last or request.sampling.round_instances > 1:
            second = second_of(self.store, self.pattern, request.parameters, request.seed, counts)
        self.sender.send(messages.Made(all_made=True))
        if second is not None:
            expected = {ranks: replace(own, other=self._expected(second, ranks)) for ranks, own in expected.items()}
        self._results_note = next((note for own in expected.values() if (note := own.note())), None)
        kept = [one.problem for one in (data, second) if one is not None]
        self.data_sets = len(kept)
        problems = DataSets(partial(make_problem, self.pattern, request.parameters), request.seed, kept)
        here = ProblemPlace(self.session, self.sums, self.pattern, problems, request.parameters)
        elsewhere = BeginProblem(request.source, request.pattern, request.parameters, request.seed)
        with self._clock.during(RoundPart.UPLOADING):
            first = request.first_instance % self.data_sets
            self._places = FamilyPlaces(here, here.begin(first), self.pool, elsewhere, first)
        if set(request.variants) <= set(request.compiled):
            self.session.load_builds()
        plan = Plan(
            self.pattern.metric,
            request.sampling,
            self.pattern.baseline_variant.name,
            request.seed,
            compared=request.compared,
            bytes_moved=self.work.bytes_moved,
            in_batches=not here.binding.initial and not any(counts),
            first_block=request.first_block,
            first_instance=request.first_instance,
            last=request.last,
            earlier=request.earlier,
            priors=request.priors,
            data_sets=self.data_sets,
        )
        return FamilyLoop(
            plan,
            self.variants,
            self._places,
            expected,
            self.rows,
            device,
            make_flusher=self.flusher,
            listener=self._listener,
            clock=self._clock,
        )

    def _expected(self, data: Data, ranks: int) -> Expected:
        """The results that variants must write, with the pattern's own rules for them."""
        parameters = self.request.parameters
        rules = ResultRules.of(self.pattern, host_view(data.problem, parameters))
        return replace(data.expected(self.pattern, parameters, ranks), rules=rules)

    def _have_next_made(self) -> None:
        if self.beside is not None:
            self.beside.begin(self.request.upcoming, self._seeds)

    def _try_odd_size(self) -> None:
        """Look at an odd size once for each pattern, when its cases are sent: a crash there costs none of them."""
        request, name = self.request, self.pattern.name
        if request.first_instance or name in self.tried:
            return
        of_family = request.parameters, request.seed, self.variants
        with self._clock.during(RoundPart.CHECKING):
            found = tried_at_odd_size(self.session, self.sums, self.pattern, *of_family)
        self.tried.add(name)
        for variant in self.variants:
            if variant.name in found:
                self._send_case(variant, found[variant.name])

    def _send_case(self, variant: VariantRun, odd_size: str | None = None) -> None:
        stopped_by = self.stopped_by if variant.status == Status.OK else ""
        result = CaseResult(
            variant.status,
            variant.reason,
            stopped_by,
            kernels=json.dumps(variant.kernels),
            error_ulp=variant.error_ulp,
            tolerance_used=variant.tolerance_used,
            rtol=self.pattern.rtol,
            atol=self.pattern.atol,
            first_commands=variant.first_commands,
            sampled_commands=variant.sampled_commands,
            prepared_kernels=variant.prepared_kernels,
            work=self.work,
            devices=variant.devices,
            data_sets=self.data_sets,
            program=variant.program,
            doubt=variant.doubt or None,
            error_text=variant.error_text or None,
            odd_size=odd_size,
            results_note=self._results_note,
            traced=None if variant.traced is None else json.dumps(variant.traced),
            switches_found=json.dumps(variant.switches) if variant.switches else None,
        )
        self.sender.send(messages.CaseOver(variant.name, result))


def measuring(session: Session, device: str, parent: Parent) -> Callable[[MeasureFamily], None]:
    """The function that measures the manager's families on a session."""
    store = ProblemStore(PART * min(parent.memory_limit_bytes, psutil.virtual_memory().available))
    flusher = cache(partial(Flusher, session.queue))
    spare = spare_cores(is_cpu=session.device.is_cpu)
    beside = MadeBeside(store, spare) if spare else None
    known = session, describe(session.device), parent.answers, parent.activity
    shared = *known, Sums(session.queue), Pool(device), store, flusher, beside, set[str]()
    return lambda request: FamilyRun(request, *shared).run()
