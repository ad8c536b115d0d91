"""Variants with environment variables of their own run in a process that has them, one for each set of variables.

The worker that measures a family keeps such processes beside itself, and takes samples here and there in the order of
its blocks. A process has the session, the arrays and the kernels of its variants; what it measured comes back as if it
had been measured here.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from xebench.children.parent import Parent
from xebench.children.worker import WorkerDied, WorkerEnded, WorkerProcess
from xebench.dpex import direct_calls
from xebench.errors import XebenchError, named
from xebench.measuring.bound_problem import Binding
from xebench.measuring.device_worker import START_TIMEOUT_S, Lost, start_worker
from xebench.measuring.input_check import Inputs, Sums
from xebench.measuring.messages import Done, Failed, Message, Ready
from xebench.measuring.prepare import find_pattern, make_problem
from xebench.measuring.variant_run import start
from xebench.session.device_memory import DeviceMemory
from xebench.session.recorder import Measured
from xebench.session.session import Session
from xebench.vocabulary import Status, metric_named


class Call(Message, frozen=True):
    """Call a method of `Here`; its name and the pickled arguments."""

    method: str
    arguments: bytes


class Returned(Message, frozen=True):
    """What the method gave, pickled, and whether that is an exception."""

    value: bytes
    failed: bool = False


Request = Call
Answers = Ready | Done | Failed | Returned


@dataclass(frozen=True)
class FamilyHere:
    """What a process needs to know to make a family's problem: the same data as anywhere else.

    Attributes:
        source, pattern: of the pattern's file, and its name.
        numbers: sizes and axes.
        axes: the point on the axes.
        seed: of the data.
    """

    source: str
    pattern: str
    numbers: Mapping[str, Any]
    axes: Mapping[str, Any]
    seed: int


# ---- in the process that has the variables -----------------------------------------------------------------------


class Here:
    """A family in this process."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._sums = Sums(session.queue)
        self._samples: dict[str, Callable[[], Any]] = {}

    def begin(self, family: FamilyHere) -> None:
        """Make the family's problem and put it on the device, in place of what was there."""
        self.end()
        self._family, self._pattern = family, find_pattern(family.source, family.pattern)
        self.session.records_direct_calls = metric_named(self._pattern.metric).on_device_clock
        problem = make_problem(self._pattern, family.numbers, family.seed)
        self.binding = Binding(problem, family.numbers, DeviceMemory(self.session.queue))
        self.inputs = Inputs(self.binding, self._sums)

    def end(self) -> None:
        """Let go of the family's arrays and kernels."""
        self._samples.clear()
        self.session.release()
        for name in ("binding", "inputs"):
            vars(self).pop(name, None)

    def start(self, variant: str) -> None:
        """Run a variant for the first time."""
        function = self._pattern.variants[variant].function
        self._samples[variant] = start(function, self.session, self.binding.bound, self._family.axes)
        self._queues = self.session.queue_count

    def measure(self, variant: str, batch: int) -> Measured:
        """Run a sample of it; the first time in a process that came for one that has ended, it is started before."""
        if variant not in self._samples:
            self.start(variant)
            self.binding.reset()
        measured = self.session.measure(self._samples[variant], batch)
        self.session.forget_queues(self._queues)
        return measured

    def of(self, part: str, method: str, *arguments: Any) -> Any:
        """Call a method of the session, the binding or the inputs."""
        return getattr(getattr(self, part), method)(*arguments)


def prepare(device: str, parent: Parent) -> Callable[[Call], None]:
    """A session on a device; gives the function that answers calls."""
    here = Here(Session.on(device))
    direct_calls.install()
    return answering(here, parent)


def answering(here: Here, parent: Parent) -> Callable[[Call], None]:
    """A function that answers calls of its methods."""

    def answer(call: Call) -> None:
        try:
            returned = Returned(pickle.dumps(getattr(here, call.method)(*pickle.loads(call.arguments))))
        except BaseException as error:
            returned = Returned(_pickled(error), failed=True)
        parent.answers.send(returned)

    return answer


def _pickled(error: BaseException) -> bytes:
    try:
        text = pickle.dumps(error)
        pickle.loads(text)  # of some exceptions only this fails
        return text
    except Exception:
        return pickle.dumps(XebenchError(named(error)))


# ---- in the worker that measures the family ----------------------------------------------------------------------


def words_of(environment: Mapping[str, str]) -> str:
    """Variables as a shell is told them."""
    return " ".join(f"{name}={value}" for name, value in sorted(environment.items()))


class Process:
    """A process with some environment variables."""

    def __init__(self, device: str, environment: Mapping[str, str]) -> None:
        self._words = words_of(environment)
        self._process: WorkerProcess[Any] = start_worker(device, __name__, Answers, environment=environment)
        self.is_alive = True
        self._listen(START_TIMEOUT_S)

    def call(self, method: str, *arguments: Any) -> Any:
        """What a method of `Here` gives.

        Raises:
            Lost: the process ends.
            XebenchError: it has ended before.
            Exception: what the method raised.
        """
        if not self.is_alive:
            raise XebenchError(f"the process with {self._words} has ended before")
        self._process.ask(Call(method, pickle.dumps(arguments)))
        returned = self._listen(math.inf)  # the worker itself must not be silent for too long
        self._listen(math.inf)
        value = pickle.loads(returned.value)
        if returned.failed:
            raise value
        return value

    def _listen(self, timeout_s: float) -> Any:
        try:
            answer = self._process.listen(timeout_s)
        except WorkerEnded as end:
            self.close()
            status = Status.CRASHED if isinstance(end, WorkerDied) else Status.ERROR
            raise Lost(f"the process with {self._words}: {end}", status) from None
        if isinstance(answer, Failed):
            self.close()
            raise XebenchError(f"the process with {self._words}: {answer.reason}")
        return answer

    def close(self) -> None:
        """End the process."""
        if self.is_alive:
            self.is_alive = False
            self._process.close()


class Asked(Protocol):
    """What runs variants elsewhere: a process, or several that do the same.

    Attributes:
        is_alive: whether it can be asked.
    """

    is_alive: bool

    def call(self, method: str, *arguments: Any) -> Any:
        """What a method of `Here` gives there."""


class SessionElsewhere:
    """Stands for the session of such a process."""

    def __init__(self, process: Asked) -> None:
        self._process = process

    def start(self, variant: str) -> Callable[[], Any]:
        """Run a variant for the first time; what `measure` takes."""
        self._process.call("start", variant)
        return _Sample(variant)

    def measure(self, sample: Any, batch: int = 1) -> Measured:
        """Run one sample there."""
        measured: Measured = self._process.call("measure", sample.variant, batch)
        return measured

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return lambda *arguments: self._process.call("of", "session", method, *arguments)


@dataclass(frozen=True)
class _Sample:
    variant: str

    def __call__(self) -> None:
        raise AssertionError("it runs elsewhere")


class BindingElsewhere:
    """Stands for the problem's arrays in such a process; what is the same everywhere is that of the binding here."""

    def __init__(self, process: Asked, here: Binding) -> None:
        self._process, self._here = process, here

    @property
    def fills(self) -> Mapping[str, Any]:
        """See `Binding`."""
        return self._here.fills

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return lambda *arguments: self._process.call("of", "binding", method, *arguments)


class InputsElsewhere:
    """Stands for the inputs in such a process."""

    def __init__(self, process: Asked) -> None:
        self._process = process

    def changed(self) -> list[str]:
        """See `Inputs`; of a process that has ended none, since nothing of it counts any more."""
        names: list[str] = self._process.call("of", "inputs", "changed") if self._process.is_alive else []
        return names
