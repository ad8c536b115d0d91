"""A variant in a worker's hands: how it is started, what became of it, and why it dropped out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from xebench.errors import TooLarge, Unsupported, XebenchError, describe_error, first_line
from xebench.measuring.comparison import UnusableReference
from xebench.measuring.device_worker import Lost
from xebench.patterns.pattern import Variant
from xebench.patterns.registry import portable_text
from xebench.vocabulary import Status

#: What numpy says of an array that cannot be written, in each of its messages.
READ_ONLY: Final = "read-only"


@dataclass
class VariantRun:
    """A variant: its kernels and devices once it was started, its status and the reason for it.

    ``error_ulp`` is the largest error of its results so far, ``program`` what it asks of the device; None where it is
    not known. ``switches`` are those that were looked up.
    """

    variant: Variant
    status: Status = Status.OK
    reason: str = ""
    kernels: list[dict[str, Any]] = field(default_factory=list)
    devices: str | None = None
    error_ulp: float | None = None
    program: str | None = None
    switches: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The variant's name."""
        return self.variant.name

    def is_good(self) -> bool:
        """True if nothing speaks against it."""
        return self.status == Status.OK

    def drop(self, status: Status, reason: str) -> None:
        """Take the variant out, for the first reason that there is."""
        if self.status == Status.OK:
            self.status, self.reason = status, portable_text(reason)


def start(
    function: Callable[..., Any],
    session: Any,
    bound: Any,
    parameters: Mapping[str, Any],
    prepared: Callable[[Callable[[], Any]], None] | None = None,
) -> Callable[[], Any]:
    """Run a variant for the first time; what every later sample of it calls.

    If it returns a function that is the sample, and what it did before was its preparation; else all of it is.

    Args:
        function: the variant's.
        session: where it runs.
        bound: its problem on the device.
        parameters: of the problem; it receives those that it names.
        prepared: told what the samples call, when there was a preparation, and it is over.
    """
    whole = partial(function, session, bound, **accepted_parameters(function, parameters))
    with session.watching():
        sample: Any = whole()
        if not callable(sample):
            return whole
        if prepared is not None:
            prepared(sample)
        sample()
    return sample  # type: ignore[no-any-return]


def outcome(stage: str, error: BaseException) -> tuple[Status, str]:
    """Status and reason of what anything raised ended.

    A worker ignores the signals that end a run, so ``SystemExit`` and ``KeyboardInterrupt`` are the pattern's own too.
    """
    text = first_line(error)
    if isinstance(error, Unsupported):
        return Status.SKIPPED, text
    if isinstance(error, TooLarge):
        return Status.REFUSED, text
    if isinstance(error, MemoryError):
        return Status.REFUSED, "the host has too little memory for this problem"
    if isinstance(error, XebenchError | UnusableReference | Lost):
        return error.status if isinstance(error, Lost) else Status.ERROR, f"{stage}: {text}"
    if isinstance(error, ValueError) and READ_ONLY in text:
        return Status.ERROR, f"{stage}: {text}: arrays of p.host belong to the problem: change a copy"
    return Status.ERROR, f"{stage}: {describe_error(error)}"


def accepted_parameters(function: Callable[..., Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Those of ``parameters`` that the function names among its own."""
    names = inspect.signature(function).parameters
    return {name: value for name, value in parameters.items() if name in names}
