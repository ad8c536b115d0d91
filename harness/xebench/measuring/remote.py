"""A family in another process, or in several ranks of MPI: like a local one, over a channel of messages.

For variants with environment variables of their own, for ranks, and for functions that are measured apart. The loop
over the family stays here, with its rows, the reference and every comparison.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol, TypeVar

import msgspec
import numpy as np

from xebench.errors import XebenchError
from xebench.measuring.device_worker import Lost
from xebench.measuring.messages import Done, Failed, Message, Ready
from xebench.measuring.place import Checked, Contents, Started
from xebench.session.recorder import MeasuredSample

T = TypeVar("T")

# ---- requests --------------------------------------------------------------------------------------------------------


class BeginProblem(Message, frozen=True):
    """Make a pattern's problem; answered by `Begun`.

    Attributes:
        source, pattern: file and name of the pattern.
        parameters: parameters of the problem.
        seed: seed of the data.
    """

    source: str
    pattern: str
    parameters: Mapping[str, Any]
    seed: int


class BeginFunctions(Message, frozen=True):
    """Make the arguments of functions; answered by `Begun`.

    Attributes:
        program: pickled instructions for importing the functions' module (`xebench.measuring.place_server.program`).
        functions: functions by name, and the function that makes their arguments, pickled.
        metric: device, span, wall or build.
        advice: see `xebench.measuring.local_functions.FunctionPlace`.
    """

    program: bytes
    functions: bytes
    metric: str
    advice: str


class Start(Message, frozen=True):
    """See `Place.start`; answered by `Started`. So for the others."""

    variant: str
    contents: Contents | None


class Reset(Message, frozen=True):
    """Restore what the variants of a problem update, before caches are flushed and `Sample` is sent."""


class Sample(Message, frozen=True):
    """See `Place.sample`; answered by `Sampled`. ``reset``: restore the arrays before the sample."""

    variant: str
    batch: int
    reset: bool
    traced: bool = False


class Check(Message, frozen=True):
    """Answered by `Checked`."""

    variant: str
    contents: Contents | None


class FindChanged(Message, frozen=True):
    """Answered by `Changed`."""


class Renew(Message, frozen=True):
    """Not answered but by `Done`."""

    data_set: int


class End(Message, frozen=True):
    """Not answered but by `Done`."""


class Identify(Message, frozen=True):
    """Request to a rank; answered by `RankIdentity`."""


Request = BeginProblem | BeginFunctions | Start | Reset | Sample | Check | FindChanged | Renew | End | Identify

# ---- answers, before `Done` ------------------------------------------------------------------------------------------


class Begun(Message, frozen=True):
    """The parameters that the problem really has."""

    parameters: Mapping[str, Any]


class Sampled(Message, frozen=True):
    """A sample."""

    measured: MeasuredSample


class Changed(Message, frozen=True):
    """Names of inputs."""

    names: Sequence[str]


class RankIdentity(Message, frozen=True):
    """The rank's number, the number of ranks, the MPI, and the device."""

    rank: int
    size: int
    library: str
    device: str


class Raised(Message, frozen=True):
    """The request raised this exception: pickled, since it may be the user's own."""

    error: bytes


Reply = Begun | Started | Sampled | Checked | Changed | RankIdentity | Raised
Answers = Ready | Done | Failed | Reply

# ---- receivers of requests -------------------------------------------------------------------------------------------


class Peers(Protocol):
    """One process, or several ranks.

    Attributes:
        is_alive: True if they accept requests.
        ranks: their identities; empty for a single process.
    """

    is_alive: bool

    @property
    def ranks(self) -> Sequence[RankIdentity]: ...

    def ask(self, requests: Sequence[Request]) -> Sequence[Reply | None]:
        """Send each a request, and return their answers, None for `Done` alone.

        Raises:
            Lost: one has ended.
            XebenchError: one has ended before, or fails alone.
            Exception: what all of them raised.
        """

    def close(self) -> None:
        """End them."""


class RemotePlace:
    """A family in a process with variables of its own, or in ranks (see `xebench.measuring.place.Place`).

    A sample of ranks lasts from the start of the first rank to the end of the last. Results have the rank as their
    first index.

    Args:
        peers: process, or processes of the ranks.
        family: request for the family's problem.
    """

    def __init__(self, peers: Peers, family: BeginProblem | BeginFunctions) -> None:
        self._peers = peers
        self._family = family

    @property
    def is_there(self) -> bool:
        """True if it can take requests."""
        return self._peers.is_alive

    def begin(self) -> Mapping[str, Any]:
        """See `xebench.measuring.place.Place`; so for all of these."""
        return self._all(self._family, Begun)[0].parameters

    def start(self, variant: str, contents: Contents | None) -> Started:
        """A variant's first call there."""
        own = self._each([Start(variant, part) for part in self._parts(contents)], Started)
        return msgspec.structs.replace(
            own[0],
            host_ns=max(each.host_ns for each in own),
            kernels=one_after_another([each.kernels for each in own]),
            devices=self._devices([each.devices for each in own]),
            results=self._whole([each.results for each in own]),
            changed=one_after_another([each.changed for each in own]),
            program=None,  # the driver may be another one with the process's variables
            commands=[command for each in own for command in each.commands],
            doubt=next((each.doubt for each in own if each.doubt), ""),
            beyond=one_after_another([each.beyond for each in own]),
            prepared_kernels=sum(each.prepared_kernels for each in own),
        )

    def sample(
        self, variant: str, batch: int, flush: Callable[[], None] | None = None, *, traced: bool = False
    ) -> MeasuredSample:
        """A sample there; caches are those of the same device, and flushed here."""
        if flush is not None:
            self._peers.ask([Reset()] * self._count)
            flush()
        own = self._all(Sample(variant, batch, reset=flush is None, traced=traced), Sampled)
        return self._measured([each.measured for each in own])

    def check(self, variant: str, contents: Contents | None) -> Checked:
        """A check there."""
        own = self._each([Check(variant, part) for part in self._parts(contents)], Checked)
        return msgspec.structs.replace(
            own[0],
            measured=self._measured([each.measured for each in own]),
            results=self._whole([each.results for each in own]),
            changed=one_after_another([each.changed for each in own]),
            beyond=one_after_another([each.beyond for each in own]),
        )

    def changed(self) -> Sequence[str]:
        """Changed inputs; none for a process that has ended, since nothing of it counts any more."""
        if not self.is_there:
            return ()
        return one_after_another([each.names for each in self._all(FindChanged(), Changed)])

    def renew(self, data_set: int = 0) -> None:
        """The next instance there."""
        self._peers.ask([Renew(data_set)] * self._count)

    def end(self) -> None:
        """The process stays for the next family."""
        with suppress(XebenchError, Lost):  # it has ended: there is nothing left
            self._peers.ask([End()] * self._count)

    @property
    def _count(self) -> int:
        return len(self._peers.ranks) or 1

    def _all(self, request: Request, kind: type[T]) -> list[T]:
        return self._each([request] * self._count, kind)

    def _each(self, requests: Sequence[Request], kind: type[T]) -> list[T]:
        replies = self._peers.ask(requests)
        for reply in replies:
            if not isinstance(reply, kind):
                raise XebenchError(f"{type(requests[0]).__name__} was answered by {type(reply).__name__}")
        return [reply for reply in replies if isinstance(reply, kind)]

    def _parts(self, contents: Contents | None) -> list[Contents | None]:
        """Each rank's parts of the arrays of all."""
        if contents is None or not self._peers.ranks:
            return [contents] * self._count
        ranks = range(self._count)
        return [{name: np.ascontiguousarray(array[rank]) for name, array in contents.items()} for rank in ranks]

    def _whole(self, parts: Sequence[Contents]) -> Contents:
        if not self._peers.ranks:
            return parts[0]
        return {name: np.stack([own[name] for own in parts]) for name in parts[0]}

    def _measured(self, parts: Sequence[MeasuredSample]) -> MeasuredSample:
        return MeasuredSample.of_ranks(parts) if self._peers.ranks else parts[0]

    def _devices(self, parts: Sequence[str | None]) -> str | None:
        """The ranks and their devices."""
        ranks = self._peers.ranks
        if not ranks:
            return parts[0]
        devices = one_after_another([[identity.device] for identity in ranks])
        who = f"{count_ranks(len(ranks))} of {ranks[0].library} on {' and '.join(devices)}"
        return "; ".join([who, *one_after_another([[words] for words in parts if words])])


def one_after_another(values: Sequence[Sequence[T]]) -> list[T]:
    """The entries of all ranks, each once, in the ranks' order."""
    result: list[T] = []
    for own in values:
        result += [value for value in own if value not in result]
    return result


def count_ranks(ranks: int) -> str:
    """Format a rank count, such as "2 ranks"."""
    return f"{ranks} rank{'s' if ranks > 1 else ''}"


def words_of(environment: Mapping[str, str]) -> str:
    """Variables as in a shell's assignment."""
    return " ".join(f"{name}={value}" for name, value in sorted(environment.items()))


def error_of(raised: Raised) -> BaseException:
    """The exception, as it was raised there."""
    error: BaseException = pickle.loads(raised.error)
    return error
