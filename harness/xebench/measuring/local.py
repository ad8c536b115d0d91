"""A family on a session of this process: the variants of a problem."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import Any

import numpy as np

from xebench.errors import TooLarge
from xebench.measuring.bound_problem import Binding
from xebench.measuring.checksums import HostCopies, Inputs, Sums
from xebench.measuring.data_sets import DataSets
from xebench.measuring.place import Array, Checked, CompiledStage, Contents, Started, start
from xebench.measuring.programs import Programs
from xebench.measuring.spacers import Spacers
from xebench.patterns.pattern import Pattern
from xebench.patterns.problem import PLAIN
from xebench.session import switches
from xebench.session.device_memory import DeviceMemory, was_overrun
from xebench.session.recorder import MeasuredSample
from xebench.session.session import Session
from xebench.vocabulary import metric_named


class ProblemPlace:
    """The variants of a pattern, on the problems of one size.

    Args:
        session: session where they run.
        sums: checksums of inputs on the device.
        pattern: pattern with the variants.
        problems: problems on the host.
        parameters: parameters of the problem; a variant receives those that it names.
    """

    is_there = True

    def __init__(
        self, session: Session, sums: Sums, pattern: Pattern, problems: DataSets, parameters: Mapping[str, Any]
    ) -> None:
        self.session = session
        self._sums, self._pattern, self._metric = sums, pattern, metric_named(pattern.metric)
        self._problems, self._parameters = problems, parameters
        self._samples: dict[str, Callable[[], Any]] = {}
        self._programs, self._copies = Programs(), HostCopies(sums)
        self._modules: dict[str, set[str]] = {}
        self._spacers = Spacers(session.queue)

    def begin(self, data_set: int = 0) -> Mapping[str, Any]:
        """See `xebench.measuring.place.Place`; so for all of these."""
        self.session.records_direct_calls = self._metric.on_device_clock
        self._bind(data_set)
        given = self._parameters.items()
        values = ((name, value.item() if isinstance(value, np.generic) else value) for name, value in given)
        return {name: value for name, value in values if isinstance(value, PLAIN)}

    def _bind(self, data_set: int) -> None:
        problem, memory = self._problems[data_set], DeviceMemory(self.session.queue)
        self._spacers.add()
        try:
            self.binding = Binding(problem, self._parameters, memory)
        except TooLarge:  # the device is full: the problem needs the memory of the spacers
            self._spacers.clear()
            self.binding = Binding(problem, self._parameters, memory)
        self._inputs = Inputs(self.binding, self._sums)

    def start(self, variant: str, contents: Contents | None) -> Started:
        """Compile and run it."""
        session = self.session
        session.take_compilations(), session.take_scratch()
        self.reset()
        self._poison(contents)
        self._spacers.add()
        with self._inputs_kept() as changed:
            begin = time.perf_counter_ns()
            asked = {**self._pattern.environment, **self._pattern.variants[variant].environment}
            lookup: AbstractContextManager[dict[str, str]]
            lookup = switches.looked_up(asked, session.queue) if asked else nullcontext({})
            with (
                lookup as found,
                self._programs.noting(session, self._pattern.metric) as noted,
            ):
                session.begin()
                prepared_kernels, preparation_ns, doubt = 0, 0, ""
                compiled: list[CompiledStage] = []

                def prepared() -> None:
                    nonlocal prepared_kernels, preparation_ns, doubt
                    session.wait()
                    compiled.extend(CompiledStage.taken(session))
                    preparation_ns = time.perf_counter_ns() - begin - sum(stage.host_ns for stage in compiled)
                    prepared_kernels = sum(kind == "kernel" for kind, _ in session.commands)
                    doubt = session.doubt
                    session.begin()

                function = self._pattern.variants[variant].function
                self._samples[variant] = start(function, session, self.binding.bound, self._parameters, prepared)
                session.wait()
            host_ns = time.perf_counter_ns() - begin
            compiled += CompiledStage.taken(session)
            kernels, devices = session.take_kernels(), session.take_devices()
        self._modules[variant] = session.take_launched()
        self._queues, program = session.queue_count, self._programs.of(noted)
        results, scratch = self._results(contents), session.take_scratch()
        return Started(
            *(host_ns, compiled, kernels, devices, results, changed, program, found),
            session.commands,
            prepared_kernels,
            max(0, preparation_ns),
            sum(array.nbytes for array in scratch),
            doubt or session.doubt,
            self._beyond(contents, scratch),
        )

    def reset(self) -> None:
        """Set back what variants update."""
        self.binding.reset()

    def sample(
        self,
        variant: str,
        batch: int,
        flush: Callable[[], None] | None = None,
        *,
        reset: bool = True,
        traced: bool = False,
    ) -> MeasuredSample:
        """Set arrays back, flush, measure; ``reset``: whether the first is still to be done."""
        if variant not in self._samples:  # another one has ended the process that it was prepared in
            self.start(variant, None)
        if reset:
            self.reset()
        if flush is not None:
            flush()
        session, timed = self.session, self._samples[variant]
        measured = session.trace(timed) if traced else session.measure(timed, batch)
        session.forget_queues(self._queues)
        if new := session.take_launched() - self._modules[variant]:
            self._modules[variant] |= new
            measured = replace(measured, kernels=[one for one in session.take_kernels() if one["spirv_sha256"] in new])
        return measured

    def check(self, variant: str, contents: Contents | None) -> Checked:
        """Call the variant once more, on poisoned outputs."""
        with self._inputs_kept() as changed:
            self._poison(contents)
            measured = self.sample(variant, 1)
        return Checked(measured, self._results(contents), changed, self._beyond(contents))

    def changed(self) -> Sequence[str]:
        """Return the inputs that changed in this process."""
        return self._inputs.changed()

    def renew(self, data_set: int = 0) -> None:
        """Free everything, then allocate and build or load again, so that the allocator chooses another place."""
        self.end()
        self.session.load_builds()
        self._bind(data_set)

    def end(self) -> None:
        """Free everything."""
        self._programs.end()
        self._samples.clear()  # what they hold of the arrays is freed first
        self.session.release()
        for name in ("binding", "_inputs"):
            vars(self).pop(name, None)
        self._spacers.clear()

    def _poison(self, contents: Contents | None) -> None:
        if contents:
            self.binding.poison(contents)

    def _beyond(self, contents: Contents | None, scratch: Sequence[Any] = ()) -> list[str]:
        """The arrays behind whose end something was written."""
        if contents is None:
            return []
        own = [f"{array.shape} of session.alloc" for array in scratch if was_overrun(array)]
        return [*self.binding.written_beyond(), *own]

    def _results(self, contents: Contents | None) -> dict[str, Array]:
        if contents is None:
            return {}
        written = self.binding.written().items()
        return {name: self._copies.of(name, array, self.binding.read) for name, array in written}

    @contextmanager
    def _inputs_kept(self) -> Iterator[list[str]]:
        """Detect changed inputs, to name the variant that changed them; restore them also after an exception."""
        changed: list[str] = []
        try:
            yield changed
        except BaseException:
            with suppress(Exception):  # why it failed says more
                self.changed()
            raise
        changed += self.changed()
