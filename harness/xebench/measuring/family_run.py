"""A worker's part of a run: measure the instances that the manager requests, and send rows and records."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial

import psutil
from msgspec import structs

from xebench.measuring.bound_problem import host_view, require_memory
from xebench.measuring.case_rows import CaseResult, Work
from xebench.measuring.checksums import Sums
from xebench.measuring.correctness import Expected
from xebench.measuring.data_sets import WITH_REFERENCE, DataSets, seed_of
from xebench.measuring.family import FamilyLoop, Plan
from xebench.measuring.local import ProblemPlace
from xebench.measuring.machine_monitor import RoundClock
from xebench.measuring.made_beside import MadeBeside
from xebench.measuring.messages import Finished, FinishFamily, Instance, MeasureInstance, Stage, Step
from xebench.measuring.odd_size import tried_at_odd_sizes
from xebench.measuring.place import CacheFlusher, VariantRun, outcome
from xebench.measuring.places import FamilyPlaces, Pool
from xebench.measuring.prepare import find_pattern, require_device
from xebench.measuring.printed import OUTPUT, Printed
from xebench.measuring.problem_store import PART, Data, ProblemStore, second_of
from xebench.measuring.races import RaceFinder
from xebench.measuring.remote import BeginProblem
from xebench.measuring.result_rules import ResultRules
from xebench.measuring.samples import RowStream
from xebench.patterns.problem import Problem
from xebench.session.device_memory import Flusher
from xebench.session.session import Session
from xebench.system.children.worker import ActivityPage, Parent, Sender
from xebench.system.runtime import DeviceInfo
from xebench.system.runtime.devices import describe
from xebench.system.runtime.machine import spare_cores
from xebench.vocabulary import RoundPart


@dataclass
class FamilyRun:
    """One family on one session, from its first instance in a round to its last.

    Attributes:
        request: request for the first instance.
        session: session on the device.
        device: description of the device.
        sender: receiver of rows.
        activity: page that shows the current work.
        sums: checksums of inputs on the device.
        pool: processes for variants that do not run in this one.
        store: store of problems and references made before.
        flusher: function that returns the flusher of the device's caches, made on first use.
        beside: maker of the next families' data in the background; None without a free core.
        tried: patterns already tried at an odd size.
    """

    request: MeasureInstance
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
        self._printed = Printed()
        self.pattern = find_pattern(request.source, request.pattern)
        self._seeds = [seed_of(request.seed, number) for number in range(WITH_REFERENCE)]
        self.rows = RowStream(self.sender, request.case_ids, request.first_sample, compiled=request.compiled)
        self.variants = [VariantRun(self.pattern.variants[name]) for name in request.variants]
        self._clock = RoundClock()
        self._work: Work | None = None
        self._results_note: str | None = None
        self._expected: dict[int, Expected] = {}
        self._places: FamilyPlaces | None = None
        self._loop: FamilyLoop | None = None

    def measure(self, request: MeasureInstance) -> Instance:
        """Measure an instance; what goes wrong with a variant, or with all of them, is in their results."""
        instance = Instance(number=request.number, state=request.state, enough=False)
        try:
            if self._loop is None:
                require_device(self.pattern, request.parameters, self.device)
                self._loop = self._prepare()
                if self.beside is not None:
                    self.beside.begin(request.upcoming, self._seeds)
            elif request.number and self._loop.data_sets == 1:
                with self._clock.during(RoundPart.MAKING):
                    self._loop.data_sets = self._make_second()
            instance = self._loop.measure(request.number, request.state, request.limits)
        except BaseException as error:
            _, stage = self.activity.read()
            for variant in self.variants:
                variant.drop(*outcome(stage, error))
        self._clock.enter(RoundPart.ENDING)
        self.rows.flush()
        return structs.replace(instance, parts=self._clock.take(), results=self._results())

    def finish(self, *, first: bool) -> Finished:
        """Release the family.

        Args:
            first: True to trace the variants before, and to try the first family of a pattern at odd sizes.
        """
        odd_sizes: Mapping[str, str] = {}
        if first and self._loop is not None:
            self._loop.trace()
            self.rows.flush()
            if self.pattern.name not in self.tried:
                self.tried.add(self.pattern.name)
                self.show(None, Stage.IDLE)
                with self._clock.during(RoundPart.CHECKING):
                    self._find_races()
                    odd_sizes = self._try_odd_sizes()
        results = self._results(odd_sizes)
        if self._loop is not None:
            self._loop.close()
        self.session.release()
        if self._places is not None:
            self._places.end()
        self._clock.enter(RoundPart.ENDING)
        return Finished(results, self._clock.take())

    def show(self, variant: str | None, stage: Stage) -> None:
        """Show the next step."""
        self.sender.end_if_closed()  # before the step is shown: it is not to blame
        self._printed.begin(variant)
        self.activity.show(None if variant is None else list(self.pattern.variants).index(variant), stage)
        if stage != Stage.SAMPLE:  # of samples the rows are a sign of life
            self.sender.send(Step(variant, stage))

    def _prepare(self) -> FamilyLoop:
        """Make the problem, upload it, and compute its reference."""
        request, device = self.request, self.device
        self.show(None, Stage.PROBLEM)
        self._clock.enter(RoundPart.MAKING)
        if self.beside is not None:
            self.beside.take(request, self._seeds)
        data = self.store.get(self.pattern, request.parameters, request.seed)
        problem = data.problem
        self._work = Work.of(problem)
        counts = {variant.variant.ranks for variant in self.variants}
        processes = 1 + max(counts)  # this one, too, has the arrays
        require_memory(problem, device.global_memory_bytes, device.max_alloc_bytes, processes)
        self.show(None, Stage.REFERENCE)
        self._expected = {ranks: self._expected_of(data, ranks) for ranks in counts}
        data_sets = self._make_second() if request.number else 1
        self._results_note = self._results_note or self._note()
        problems = DataSets(self._problem, request.seed, [problem])
        here = ProblemPlace(self.session, self.sums, self.pattern, problems, request.parameters)
        elsewhere = BeginProblem(request.source, request.pattern, request.parameters, request.seed)
        with self._clock.during(RoundPart.UPLOADING):
            first = request.number % data_sets
            self._places = FamilyPlaces(here, here.begin(first), self.pool, elsewhere, first)
        if set(request.variants) <= set(request.compiled):
            self.session.load_builds()
        plan = Plan(
            self.pattern.metric,
            self.pattern.baseline_variant.name,
            request.seed,
            compared=request.compared,
            bytes_moved=self._work.bytes_moved,
            in_batches=not here.binding.initial and not any(counts),
            first_block=request.first_block,
            data_sets=data_sets,
        )
        return FamilyLoop(
            plan,
            self.variants,
            self._places,
            self._expected,
            self.rows,
            device,
            make_flusher=self.flusher,
            show=self.show,
            clock=self._clock,
        )

    def _problem(self, seed: int) -> Problem:
        return self.store.get(self.pattern, self.request.parameters, seed).problem

    def _make_second(self) -> int:
        """Make the second data, as far as that is possible; return the number of data sets."""
        request = self.request
        self.show(None, Stage.PROBLEM)
        second = second_of(self.store, self.pattern, request.parameters, request.seed, self._expected)
        if second is None:
            return 1
        for ranks, own in self._expected.items():
            own.other = self._expected_of(second, ranks)
        self._results_note = self._note()
        return WITH_REFERENCE

    def _note(self) -> str | None:
        return next((note for own in self._expected.values() if (note := own.note())), None)

    def _expected_of(self, data: Data, ranks: int) -> Expected:
        """The results that variants must write, with the pattern's own rules for them."""
        parameters = self.request.parameters
        rules = ResultRules.of(self.pattern, host_view(data.problem, parameters))
        return replace(data.expected(self.pattern, parameters, ranks), rules=rules)

    def _find_races(self) -> None:
        """Call each variant of this process once more, with a look at its kernels."""
        assert self._places is not None
        for run in self.variants:
            if run.can_be_called():
                finder = RaceFinder(self.session)
                with suppress(Exception), self.session.observing(finder.look):
                    self._places.of(run.variant).sample(run.name, 1)
                run.facts["races"] = "; ".join(finder.found) or None

    def _try_odd_sizes(self) -> Mapping[str, str]:
        """Try odd sizes once for each pattern; what happens there is to the blame of no variant."""
        of_family = self.request.parameters, self.request.seed, self.variants
        return tried_at_odd_sizes(self.session, self.sums, self.pattern, *of_family)

    def _results(self, odd_sizes: Mapping[str, str] = {}) -> dict[str, CaseResult]:
        return {variant.name: self._result(variant, odd_sizes.get(variant.name)) for variant in self.variants}

    def _result(self, variant: VariantRun, odd_size: str | None) -> CaseResult:
        facts = {
            **variant.facts,
            "kernels": json.dumps(variant.kernels),
            "rtol": max((own.rtol for own in self._expected.values()), default=self.pattern.rtol),
            "atol": max((own.atol for own in self._expected.values()), default=self.pattern.atol),
            "devices": variant.devices,
            "data_sets": None if self._loop is None else self._loop.data_sets,
            "doubt": variant.doubt or None,
            "error_text": variant.error_text or None,
            "output": self._output(variant.name) or None,
            "odd_size": odd_size,
            "results_note": self._results_note,
            "traced": None if variant.traced is None else json.dumps(variant.traced),
            "switches_found": json.dumps(variant.switches) if variant.switches else None,
        }
        known = {name: value for name, value in facts.items() if value is not None}
        # another program than before is an unknown one
        return CaseResult(
            variant.status, variant.reason, "", work=self._work, facts={**known, "program": variant.program}
        )

    def _output(self, variant: str) -> str:
        """The output of a variant, after that of the problem and the reference for the first one."""
        of_all = self._printed.take() if variant == self.variants[0].name else ""
        return of_all + self._printed.by_variant.get(variant, "")


class Families:
    """Measures families on a session, one after another, as requested.

    Args:
        session: session on the device.
        device: SYCL filter string, for further processes.
        parent: connection to the run.
    """

    def __init__(self, session: Session, device: str, parent: Parent) -> None:
        store = ProblemStore(PART * min(parent.memory_limit_bytes, psutil.virtual_memory().available))
        spare = spare_cores(is_cpu=session.device.is_cpu)
        self._activity = parent.activity
        self._shared = (
            session,
            describe(session.device),
            parent.answers,
            parent.activity,
            Sums(session.queue),
            Pool(device, OUTPUT),
            store,
            cache(partial(Flusher, session.queue)),
            MadeBeside(store, spare) if spare else None,
            set[str](),
        )
        self._family: FamilyRun | None = None

    def answer(self, request: MeasureInstance | FinishFamily) -> Instance | Finished:
        """Measure an instance, or release the family."""
        if isinstance(request, MeasureInstance):
            self._family = self._family or FamilyRun(request, *self._shared)
            answer: Instance | Finished = self._family.measure(request)
        elif self._family is None:
            return Finished({}, {})
        else:
            answer = self._family.finish(first=request.first)
            self._family = None
        self._activity.show(None, Stage.IDLE)
        return answer
