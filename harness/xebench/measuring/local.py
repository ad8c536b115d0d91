"""A family on a session of this process: the variants of a problem, or functions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import numpy as np

from xebench.errors import Unsupported, XebenchError
from xebench.measuring.bound_problem import Binding
from xebench.measuring.input_check import Inputs, Sums
from xebench.measuring.place import Array, Checked, CompiledStage, Contents, Started
from xebench.measuring.results import arrays_of
from xebench.measuring.variant_run import start
from xebench.patterns.pattern import Pattern
from xebench.patterns.problem import Problem
from xebench.session.device_memory import DeviceMemory
from xebench.session.recorder import Measured
from xebench.session.session import Session
from xebench.vocabulary import metric_named

#: Types of parameters: what is swept, and what presets set.
PLAIN = bool, int, float, str


class ProblemPlace:
    """The variants of a pattern, on a problem of one size.

    Args:
        session: where they run.
        sums: of inputs on the device.
        pattern: has the variants.
        problem: on the host.
        parameters: of the problem; a variant receives those that it names.
    """

    is_there = True

    def __init__(
        self,
        session: Session,
        sums: Sums,
        pattern: Pattern,
        problem: Problem,
        parameters: Mapping[str, Any],
    ) -> None:
        self.session = session
        self._sums = sums
        self._pattern = pattern
        self._problem, self._parameters = problem, parameters
        self._samples: dict[str, Callable[[], Any]] = {}

    def begin(self) -> Mapping[str, Any]:
        """See `xebench.measuring.place.Place`; so for all of these."""
        self.session.records_direct_calls = metric_named(self._pattern.metric).on_device_clock
        self._bind()
        return plain(self._parameters)

    def _bind(self) -> None:
        self.binding = Binding(self._problem, self._parameters, DeviceMemory(self.session.queue))
        self._inputs = Inputs(self.binding, self._sums)

    def start(self, variant: str, contents: Contents | None) -> Started:
        """Compile and run it."""
        function, session = self._pattern.variants[variant].function, self.session
        session.take_compilations()
        self._fill(contents)
        with self._inputs_kept() as changed:
            session.begin()
            begin = time.perf_counter_ns()
            self._samples[variant] = start(function, session, self.binding.bound, self._parameters)
            session.wait()
            host_ns = time.perf_counter_ns() - begin
            compiled, kernels, devices = _compiled(session), session.take_kernels(), session.take_devices()
        self._queues = session.queue_count
        return Started(host_ns, compiled, kernels, devices, self._results(contents), changed)

    def reset(self) -> None:
        """Set back what variants update."""
        self.binding.reset()

    def sample(
        self, variant: str, batch: int, flush: Callable[[], None] | None = None, *, reset: bool = True
    ) -> Measured:
        """Set arrays back, flush, measure; ``reset``: whether the first is still to be done."""
        if variant not in self._samples:
            self.start(variant, None)
            reset = True
        if reset:
            self.reset()
        if flush is not None:
            flush()
        measured = self.session.measure(self._samples[variant], batch)
        self.session.forget_queues(self._queues)
        return measured

    def check(self, variant: str, contents: Contents | None) -> Checked:
        """Run it on outputs that were overwritten."""
        self._fill(contents)
        with self._inputs_kept() as changed:
            measured = self.session.measure(self._samples[variant])
        self.session.forget_queues(self._queues)
        return Checked(measured, self._results(contents), changed)

    def changed(self) -> Sequence[str]:
        """Those of this process."""
        return self._inputs.changed()

    def renew(self) -> None:
        """Free everything, then make it anew, so that the allocator has another place for it."""
        self.end()
        self._bind()

    def end(self) -> None:
        """Free everything."""
        self._samples.clear()  # what they hold of the arrays is freed first
        self.session.release()
        for name in ("binding", "_inputs"):
            vars(self).pop(name, None)

    def _fill(self, contents: Contents | None) -> None:
        if contents:
            self.binding.poison(contents)
        self.binding.reset()

    def _results(self, contents: Contents | None) -> dict[str, Array]:
        return {} if contents is None else self.binding.results()

    @contextmanager
    def _inputs_kept(self) -> Iterator[list[str]]:
        """Whatever a variant does in here to inputs, the next one finds them as they were; gives what it changed."""
        changed: list[str] = []
        try:
            yield changed
        except BaseException:
            with suppress(Exception):  # why it failed says more
                self._inputs.changed()
            raise
        changed += self._inputs.changed()


def plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a problem as plain values."""
    values = {name: value.item() if isinstance(value, np.generic) else value for name, value in parameters.items()}
    return {name: value for name, value in values.items() if isinstance(value, PLAIN)}


def _compiled(session: Session) -> list[CompiledStage]:
    return [CompiledStage(one.stage, one.host_ns, one.cached) for one in session.take_compilations()]


class FunctionPlace:
    """Functions of a script.

    Args:
        session: where they run; what it records of direct calls is as before when they end.
        functions: by name.
        metric: device, span or wall.
        setup: makes the functions' arguments anew for every instance, of the session; None: they take none.
        advice: what to tell beside an error of the first call that is ours.
    """

    is_there = True

    def __init__(
        self,
        session: Session,
        functions: Mapping[str, Callable[..., Any]],
        metric: str,
        setup: Callable[[Session], Any] | None = None,
        advice: str = "",
    ) -> None:
        self._session = session
        self._functions = functions
        self._metric = metric
        self._setup = setup
        self._advice = advice
        self._recorded = session.records_direct_calls
        self._calls: dict[str, Callable[[], Any]] = {}
        self._arguments: tuple[Any, ...] = ()

    def begin(self) -> Mapping[str, Any]:
        """See `xebench.measuring.place.Place`; so for all of these."""
        self._session.records_direct_calls = metric_named(self._metric).on_device_clock
        self._session.take_compilations(), self._session.take_kernels()  # of what was done with it before
        self._make_arguments()
        return {}

    def _make_arguments(self) -> None:
        if self._setup is not None:
            made = self._setup(self._session)
            self._arguments = made if isinstance(made, tuple) else (made,)

    def start(self, variant: str, contents: Contents | None) -> Started:
        """Call it; its results are what it returns."""
        self._calls[variant] = partial(self._functions[variant], *self._arguments)
        try:
            first = self.check(variant, contents)
        except Unsupported:
            raise
        except XebenchError as error:
            raise XebenchError(f"{error} ({self._advice})" if self._advice else str(error)) from error
        session = self._session
        compiled, kernels, devices = _compiled(session), session.take_kernels(), session.take_devices()
        self._queues = session.queue_count
        return Started(first.measured.host_ns, compiled, kernels, devices, first.results)

    def reset(self) -> None:
        """Nothing: nobody tells what functions update."""

    def sample(
        self, variant: str, batch: int, flush: Callable[[], None] | None = None, *, reset: bool = True
    ) -> Measured:
        """Flush, measure."""
        if variant not in self._calls:
            self.start(variant, None)
        if flush is not None:
            flush()
        measured = self._session.measure(self._calls[variant], batch)
        self._session.forget_queues(self._queues)
        return measured

    def check(self, variant: str, contents: Contents | None) -> Checked:
        """Call it once more."""
        results: list[Any] = []
        measured = self._session.measure(lambda: results.append(self._calls[variant]()))
        return Checked(measured, {} if contents is None else arrays_of(results.pop()))

    def changed(self) -> Sequence[str]:
        """None: nobody tells which arrays are inputs."""
        return ()

    def renew(self) -> None:
        """Free everything, then make it anew."""
        self._free()
        self._make_arguments()

    def end(self) -> None:
        """Free what was made; the session is as before."""
        self._calls.clear()
        self._arguments = ()
        self._session.records_direct_calls = self._recorded

    def _free(self) -> None:
        self._calls.clear()
        self._arguments = ()
        self._session.release()
