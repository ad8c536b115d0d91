"""The places in which the variants of a family run, as the loop over them (`xebench.measuring.family`) sees them.

A place is a session in this process (`xebench.measuring.local`), or stands for one in another process or for several
ranks of MPI (`xebench.measuring.remote`).

A variant's run is how it was started there, what became of it, and why it dropped out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import msgspec
import numpy.typing as npt

from xebench.errors import Refused, Unsupported, XebenchError, describe_error, first_line, whole_text
from xebench.measuring.array_check import UnusableReference
from xebench.measuring.device_worker import Lost
from xebench.patterns.pattern import Variant
from xebench.patterns.registry import portable_text
from xebench.session.recorder import MeasuredSample
from xebench.vocabulary import Status

Array = npt.NDArray[Any]

#: The part of numpy's messages that names an array which cannot be written.
READ_ONLY: Final = "read-only"


@dataclass
class VariantRun:
    """A variant: its kernels and devices once it was started, its status and the reason for it.

    Attributes:
        variant, status, reason: the variant and its outcome.
        error_text: whole text of its error, if the reason has only the first line.
        kernels, devices, switches: see `Started`.
        facts: findings by column of the table `cases`, such as those of `xebench.measuring.checks`.
        program: key of its requests to the device; None if unknown.
        doubt: reason to doubt its times, with its cure; "" if there is none.
        traced: facts of its traced execution (`traced_facts`); None if there was none.
    """

    variant: Variant
    status: Status = Status.OK
    reason: str = ""
    error_text: str = ""
    kernels: list[dict[str, Any]] = field(default_factory=list)
    devices: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    program: str | None = None
    switches: Mapping[str, str] = field(default_factory=dict)
    doubt: str = ""
    traced: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """The variant's name."""
        return self.variant.name

    def is_good(self) -> bool:
        """True if the variant has not dropped out."""
        return self.status == Status.OK

    def can_be_called(self) -> bool:
        """True if it is good, and runs in a process without ranks or variables of its own: this one can call it."""
        return self.is_good() and not self.variant.ranks and not self.variant.environment

    def drop(self, status: Status, reason: str, error_text: str = "") -> None:
        """Take the variant out, for the first reason that there is."""
        if self.status == Status.OK:
            self.status, self.reason, self.error_text = status, portable_text(reason), portable_text(error_text)


def start(
    function: Callable[..., Any],
    session: Any,
    bound: Any,
    parameters: Mapping[str, Any],
    prepared: Callable[[], None] | None = None,
) -> Callable[[], Any]:
    """Run a variant for the first time, and return the function that its samples call.

    If the variant returns a function, this is the sample, and the work before was its preparation. Otherwise the whole
    variant is the sample.

    Args:
        function: function of the variant.
        session: session where it runs.
        bound: problem on the device.
        parameters: parameters of the problem; the variant receives those that it names.
        prepared: callback after a preparation.
    """
    session.parameters = parameters
    whole = partial(function, session, bound, **accepted_parameters(function, parameters))
    with session.watching():
        sample: Any = whole()
        if not callable(sample):
            return whole
        if prepared is not None:
            prepared()
        sample()
    return sample  # type: ignore[no-any-return]


def outcome(stage: str, error: BaseException) -> tuple[Status, str, str]:
    """Status, reason in one line, and whole text of an exception; the text is "" if the line has all of it.

    A worker ignores the signals that end a run, so ``SystemExit`` and ``KeyboardInterrupt`` are the pattern's own too.
    """
    status, reason = _status_and_reason(stage, error)
    cause = error.__cause__ if isinstance(error, XebenchError) else None
    text = whole_text(cause or error)
    return status, reason, "" if text in reason else text


def _status_and_reason(stage: str, error: BaseException) -> tuple[Status, str]:
    text = first_line(error)
    if isinstance(error, Unsupported):
        return Status.SKIPPED, text
    if isinstance(error, Refused):
        return Status.REFUSED, text
    if isinstance(error, MemoryError):
        return Status.REFUSED, "the host has too little memory for this problem"
    if isinstance(error, XebenchError | UnusableReference | Lost):
        return error.status if isinstance(error, Lost) else Status.ERROR, f"{stage}: {text}"
    if isinstance(error, ValueError) and READ_ONLY in text:
        return Status.ERROR, f"{stage}: {text}: arrays of p.host belong to the problem: change a copy"
    return Status.ERROR, f"{stage}: {describe_error(error)}"


def accepted_parameters(function: Callable[..., Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of ``parameters`` that the function has as parameters."""
    names = inspect.signature(function).parameters
    return {name: value for name, value in parameters.items() if name in names}


#: Arrays by name; of ranks, with the rank as the first index.
Contents = Mapping[str, Array]


class CompiledStage(NamedTuple):
    """One stage of making a kernel (`numba_sycl.kernel_store.Compilation`)."""

    stage: str
    host_ns: int
    cached: bool

    @classmethod
    def taken(cls, session: Any) -> list[CompiledStage]:
        """Those of a session since they were taken last."""
        return [cls(one.stage, one.host_ns, one.cached) for one in session.take_compilations()]


class Started(msgspec.Struct, frozen=True):
    """A variant's first call in an instance.

    Attributes:
        host_ns: host time of the call.
        compilations: stages of making its kernels.
        kernels: identities of the kernels that it launched.
        devices: devices of its queues; None if it uses only the session's own.
        results: written or returned results; empty if not requested.
        changed: inputs that it changed, restored afterwards.
        beyond: arrays that it overran at the end.
        program: equal for variants with equal requests to the device (`xebench.session.transcript`);
            None if unknown.
        switches: the state of each of its environment variables (`xebench.session.switches`).
        commands: kind and name of each command that it submitted after its preparation.
        prepared_kernels: number of kernels that its preparation submitted.
        preparation_ns: host time of its preparation, without the making of kernels.
        scratch_bytes: device memory that its preparation allocated and keeps.
        doubt: reason to doubt its times, with its cure; "" if there is none.
    """

    host_ns: int
    compilations: Sequence[CompiledStage]
    kernels: Sequence[dict[str, Any]]
    devices: str | None
    results: Contents
    changed: Sequence[str] = ()
    program: str | None = None
    switches: Mapping[str, str] = {}
    commands: Sequence[tuple[str, str]] = ()
    prepared_kernels: int = 0
    preparation_ns: int = 0
    scratch_bytes: int = 0
    doubt: str = ""
    beyond: Sequence[str] = ()


class Checked(msgspec.Struct, frozen=True):
    """A call among or after the samples; see `Started`."""

    measured: MeasuredSample
    results: Contents
    changed: Sequence[str] = ()
    beyond: Sequence[str] = ()


T = TypeVar("T")


class Place(Protocol):
    """A place in which variants run. It raises whatever a variant raises.

    Attributes:
        is_there: True if variants can still run there.
    """

    @property
    def is_there(self) -> bool: ...

    def begin(self) -> Mapping[str, Any]:
        """Make the first instance: arrays, or arguments; gives the parameters that the problem really has."""

    def start(self, variant: str, contents: Contents | None) -> Started:
        """Call a variant for the first time in this instance, which compiles it.

        Args:
            variant: name of the variant.
            contents: contents of the outputs before the call; None to leave them and return no results.
        """

    def sample(
        self, variant: str, batch: int, flush: Callable[[], None] | None = None, *, traced: bool = False
    ) -> MeasuredSample:
        """Take one sample of several executions.

        Args:
            variant: name of the variant, which is started if needed.
            batch: number of executions.
            flush: callback after the arrays are reset, before the clock starts.
            traced: True for one execution whose host calls are timed, which is no sample.
        """

    def check(self, variant: str, contents: Contents | None) -> Checked:
        """Call a started variant once more, as a sample does; see `start`."""

    def changed(self) -> Sequence[str]:
        """Inputs that were changed since the last call; they are put back."""

    def renew(self, data_set: int = 0) -> None:
        """Make the next instance: new arrays and kernels, with these data."""

    def end(self) -> None:
        """Release arrays and kernels."""


class Places(Protocol):
    """The places of one family."""

    def of(self, variant: Variant) -> Place:
        """The place in which a variant runs; a place that has ended is replaced."""

    def changed(self) -> Sequence[str]:
        """Inputs that were changed in any of them since the last call."""

    def renew(self, data_set: int = 0) -> None:
        """Make the next instance in all of them, with these data."""


@dataclass(frozen=True)
class OnePlace:
    """All variants run in the same one, which is not replaced."""

    place: Place

    def of(self, variant: Variant) -> Place:
        """See `Places`."""
        return self.place

    def changed(self) -> Sequence[str]:
        """See `Places`."""
        return self.place.changed()

    def renew(self, data_set: int = 0) -> None:
        """See `Places`."""
        self.place.renew(data_set)


class CacheFlusher(Protocol):
    """Empties the device's caches (`xebench.session.device_memory.Flusher`).

    Attributes:
        covers: True if it certainly empties them.
        limit_gbps: bandwidth that only a cache can exceed.
    """

    covers: bool
    limit_gbps: float

    def flush(self) -> None:
        """Return when they are empty."""
