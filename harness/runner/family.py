"""Run one family in the worker: build the problem, check every variant, sample them side by side, check again."""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from harness.analysis import hygiene, stopping
from harness.analysis.intervals import log_ratios
from harness.errors import TooLarge, Unsupported, XebenchError
from harness.patterns.pattern import Pattern, Variant
from harness.patterns.registry import load_file
from harness.runner.beacon import Beacon
from harness.runner.binding import Binding, check_memory, host_view
from harness.runner.memory import DeviceMemory
from harness.runner.messages import Sender
from harness.runner.recorder import CommandTimes
from harness.runner.rows import RowStream
from harness.runner.sampler import Sampling, sample_family
from harness.runner.session import Session
from harness.runner.validation import UnusableReference, check_reference, difference, poison_for
from harness.runtime import DeviceInfo, missing


@dataclass(frozen=True)
class Request:
    """What the manager asks for: one family of cases.

    ``variants`` are names in the order of the beacon's indices; ``case_ids`` has a key for each.
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


@dataclass
class _Candidate:
    """A variant on its way: its timed part once prepared, and why it dropped out."""

    variant: Variant
    timed: Callable[[], Any] = field(default=lambda: None)
    status: str = "ok"
    reason: str = ""
    kernels: list[dict[str, Any]] = field(default_factory=list)

    def drop(self, status: str, reason: str) -> None:
        """Take the variant out, for the first reason that there is."""
        if self.status == "ok":
            self.status, self.reason = status, reason


class _SampleFailed(Exception):
    """A variant that was found right failed while it was sampled."""

    def __init__(self, candidate: _Candidate, error: Exception) -> None:
        super().__init__(str(error))
        self.candidate = candidate
        self.error = error


def _outcome(stage: str, error: Exception) -> tuple[str, str]:
    """Status and reason of what an exception ended."""
    text = str(error).strip().partition("\n")[0]
    if isinstance(error, Unsupported):
        return "skipped", text
    if isinstance(error, TooLarge):
        return "refused", text
    if isinstance(error, MemoryError):
        return "refused", "the host has too little memory for this problem"
    if isinstance(error, XebenchError | UnusableReference):
        return "error", f"{stage}: {text}"
    return "error", f"{stage}: {type(error).__name__}: {text}"


_loaded: dict[str, list[Pattern]] = {}


def find_pattern(source: str, name: str) -> Pattern:
    """The pattern of a file; files are executed once per process, so their kernels are compiled once.

    Raises:
        PatternError: the file cannot be read.
    """
    if source not in _loaded:
        _loaded[source] = load_file(Path(source))
    return next(pattern for pattern in _loaded[source] if pattern.name == name)


class FamilyRun:
    """One family on one session; see :func:`run_family`."""

    def __init__(self, request: Request, session: Session, device: DeviceInfo, sender: Sender, beacon: Beacon) -> None:
        self.request = request
        self.session = session
        self.device = device
        self.sender = sender
        self.beacon = beacon
        self.pattern = find_pattern(request.source, request.pattern)
        self.numbers = {**request.sizes, **request.axes}
        self.rows = RowStream(sender, request.case_ids, request.first_sample)
        self.candidates = [_Candidate(self.pattern.variants[name]) for name in request.variants]
        self.work: dict[str, Any] = {}
        self._earlier_starts: set[int] = set()
        self._earlier_end_ns: int | None = None

    def run(self) -> None:
        """Measure, and send a row for every case, whatever happens to it."""
        stopped_by = ""
        try:
            self._check_device()
            binding, expected = self._prepare_problem()
            for candidate in self.candidates:
                self._check_in(candidate, binding, expected)
            stopped_by = self._sample_all(binding)
            for candidate in self.candidates:
                if candidate.status == "ok":
                    self._guard(candidate, "recheck", partial(self._verify, candidate, binding, expected))
        except Exception as error:
            for candidate in self.candidates:
                candidate.drop(*_outcome(self.beacon.read()[1], error))
        finally:
            self.rows.flush()
            for candidate in self.candidates:
                self._send_case(candidate, stopped_by)
            self.beacon.show(None, "idle")
            self.session.release()

    # ---- preparation --------------------------------------------------------------------------------------------

    def _check_device(self) -> None:
        """What every variant needs; raises Unsupported before anything is allocated."""
        limits = ("work_group_size", "sub_group_size")
        numbers = {name: self.request.axes[name] for name in limits if name in self.request.axes}
        reason = missing(self.device, self.pattern.requires, **numbers)
        if reason:
            raise Unsupported(reason)

    def _prepare_problem(self) -> tuple[Binding, dict[str, Any]]:
        self.beacon.show(None, "problem")
        make_problem, make_reference = self.pattern.make_problem, self.pattern.make_reference
        assert make_problem is not None and make_reference is not None
        problem = make_problem(np.random.default_rng(self.request.seed), **_accepted(make_problem, self.numbers))
        self.work = {
            "bytes_moved": problem.bytes_moved,
            "operations": problem.operations,
            "operation_kind": problem.operation_kind,
        }
        check_memory(problem, self.device.global_memory_bytes, self.device.max_alloc_bytes)
        self.beacon.show(None, "reference")
        binding = Binding(problem, self.numbers, DeviceMemory(self.session.queue))
        expected = make_reference(host_view(problem, self.numbers))
        return binding, check_reference(expected, binding.declared, binding.initial)

    def _check_in(self, candidate: _Candidate, binding: Binding, expected: Mapping[str, Any]) -> None:
        """Prepare a variant, run it once, and compare every element with the reference."""

        def first_call() -> None:
            reason = missing(self.device, candidate.variant.requires)
            if reason:
                raise Unsupported(reason)
            self._poison(binding, expected)
            self.session.begin()
            begin = time.perf_counter_ns()
            self._start(candidate, binding)
            self.session.wait()
            host_ns = time.perf_counter_ns() - begin
            self.rows.add_compilations(candidate.variant.name, self.session.take_compilations(), host_ns)
            candidate.kernels = self.session.take_kernels()
            self._compare(candidate, binding, expected)

        self._guard(candidate, "check", first_call)
        self.session.take_compilations()
        self.sender.send("progress", variant=candidate.variant.name, stage="checked", status=candidate.status)

    def _start(self, candidate: _Candidate, binding: Binding) -> None:
        function, bound = candidate.variant.function, binding.bound
        options = _accepted(function, self.request.axes)
        prepared = function(self.session, bound, **options)
        if callable(prepared):
            candidate.timed = prepared
            prepared()
        else:
            candidate.timed = lambda: function(self.session, bound, **options)

    def _verify(self, candidate: _Candidate, binding: Binding, expected: Mapping[str, Any]) -> None:
        self._poison(binding, expected)
        self.session.measure(candidate.timed)
        self._compare(candidate, binding, expected)

    @staticmethod
    def _poison(binding: Binding, expected: Mapping[str, Any]) -> None:
        binding.poison({name: poison_for(values) for name, values in expected.items()})
        binding.reset()

    def _compare(self, candidate: _Candidate, binding: Binding, expected: Mapping[str, Any]) -> None:
        results = binding.results()
        differences = [
            difference(name, results[name], expected[name], self.pattern.rtol, self.pattern.atol) for name in expected
        ]
        found = [text for text in differences if text]
        if found:
            candidate.drop("wrong", "; ".join(found))

    # ---- sampling -----------------------------------------------------------------------------------------------

    def _sample_all(self, binding: Binding) -> str:
        """Sample the good variants together; one that fails drops out and the others begin again."""
        sampling = Sampling(**self.request.sampling)
        first_block = self.request.first_block
        while good := [candidate for candidate in self.candidates if candidate.status == "ok"]:
            try:
                return self._sample(good, binding, sampling, first_block)
            except _SampleFailed as failure:
                failure.candidate.drop(*_outcome("sample", failure.error))
                first_block += sampling.max_blocks + sampling.max_warmup_blocks
        return ""

    def _sample(self, good: Sequence[_Candidate], binding: Binding, sampling: Sampling, first_block: int) -> str:
        by_name = {candidate.variant.name: candidate for candidate in good}
        baseline = self.pattern.baseline_variant.name
        limits = stopping.Limits(sampling.precision, sampling.budget_s, sampling.max_blocks, sampling.min_blocks)
        queues = self.session.queue_count

        def measure(variant: str, *, state: str, block: int, order: int) -> float:
            self.beacon.show(self.request.variants.index(variant), "sample")
            binding.reset()
            try:
                host_ns, commands = self.session.measure(by_name[variant].timed)
            except Exception as error:
                raise _SampleFailed(by_name[variant], error) from error
            self.session.forget_queues(queues)
            return self._record(variant, state, block + first_block, order, host_ns, commands)

        def decide(values: Mapping[str, Sequence[float]], elapsed_s: float) -> str | None:
            blocks = len(next(iter(values.values())))
            return stopping.decide(_log_speedups(values, baseline), blocks=blocks, elapsed_s=elapsed_s, limits=limits)

        return sample_family(
            list(by_name),
            measure,
            decide,
            sampling,
            seed=self.request.seed,
            end_of_block=lambda *_: self.rows.flush(),
        )

    def _record(
        self, name: str, state: str, block: int, order: int, host_ns: int, commands: Sequence[CommandTimes]
    ) -> float:
        times = [command.hygienic() for command in commands]
        flags = hygiene.flags(
            times,
            host_ns=host_ns,
            resolution_ns=self.device.timer_resolution_ns,
            earlier_starts=self._earlier_starts,
            earlier_end_ns=self._earlier_end_ns,
        )
        self._earlier_starts = {event.start_ns for event in times}
        self._earlier_end_ns = max((event.end_ns for event in times), default=self._earlier_end_ns)
        device_ns, span_ns = hygiene.union_ns(times), hygiene.span_ns(times)
        metrics = {"device": device_ns, "span": span_ns, "wall": host_ns}
        self.rows.add_sample(
            name,
            {
                "block": block,
                "order": order,
                "state": state,
                "host_ns": host_ns,
                "device_ns": device_ns,
                "span_ns": span_ns,
                "queue_ns": hygiene.queue_ns(times),
                "valid": hygiene.is_valid(flags, self.pattern.metric),
                "flags": ",".join(flags),
            },
            commands,
        )
        return float(metrics[self.pattern.metric] or 0)

    # ---- outcomes -----------------------------------------------------------------------------------------------

    def _guard(self, candidate: _Candidate, stage: str, action: Callable[[], None]) -> None:
        """Run a step of one variant; what goes wrong ends that variant, not the family."""
        self.beacon.show(self.request.variants.index(candidate.variant.name), stage)
        try:
            action()
        except Exception as error:
            candidate.drop(*_outcome(stage, error))

    def _send_case(self, candidate: _Candidate, stopped_by: str) -> None:
        self.sender.send(
            "case",
            variant=candidate.variant.name,
            status=candidate.status,
            reason=candidate.reason,
            stopped_by=stopped_by if candidate.status == "ok" else "",
            kernels=json.dumps(candidate.kernels),
            **self.work,
        )


def run_family(request: Request, session: Session, device: DeviceInfo, sender: Sender, beacon: Beacon) -> None:
    """Measure one family and stream its rows."""
    FamilyRun(request, session, device, sender, beacon).run()


def _accepted(function: Callable[..., Any], numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Those of ``numbers`` that the function names among its parameters."""
    parameters = inspect.signature(function).parameters
    return {name: value for name, value in numbers.items() if name in parameters}


def _log_speedups(values: Mapping[str, Sequence[float]], baseline: str) -> list[Any]:
    """The log speed-up of each variant in each block; without a baseline, the logarithms of the times."""
    usable = {name: np.array(series) for name, series in values.items() if all(value > 0 for value in series)}
    if baseline not in usable:
        return [np.log(series) for series in usable.values()]
    others = [series for name, series in usable.items() if name != baseline]
    return [log_ratios(usable[baseline], series) for series in others] or [np.log(usable[baseline])]
