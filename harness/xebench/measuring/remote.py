"""A family in another process, or in several ranks of MPI: like a local one, over a channel of messages.

For variants with environment variables of their own, for ranks, and for functions that are measured apart. The loop
over the family stays here, with its rows, the reference and every comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec
import numpy as np

from xebench.errors import XebenchError
from xebench.measuring.device_worker import Lost
from xebench.measuring.place import Array, Checked, Contents, Started
from xebench.measuring.sent_results import ReceivedResults
from xebench.session.recorder import MeasuredSample

T = TypeVar("T")


@dataclass(frozen=True)
class BeginProblem:
    """A family of which a place makes the problem.

    Attributes:
        source, pattern: file and name of the pattern.
        parameters: parameters of the problem.
        seed: seed of the data.
    """

    source: str
    pattern: str
    parameters: Mapping[str, Any]
    seed: int


@dataclass(frozen=True)
class BeginFunctions:
    """Functions of which a place makes the arguments.

    Attributes:
        program: pickled instructions for importing the functions' module (`xebench.measuring.worker.program`).
        functions: functions by name, and the function that makes their arguments, pickled.
        metric: device, span, wall or build.
        advice: see `xebench.measuring.local_functions.FunctionPlace`.
    """

    program: bytes
    functions: bytes
    metric: str
    advice: str


class RankIdentity(NamedTuple):
    """The rank's number, the number of ranks, the MPI, and the device."""

    rank: int
    size: int
    library: str
    device: str


class Peers(Protocol):
    """One process, or several ranks.

    Attributes:
        is_alive: True if they accept requests.
        ranks: their identities; empty for a single process.
    """

    @property
    def is_alive(self) -> bool: ...

    @property
    def ranks(self) -> Sequence[RankIdentity]: ...

    def call(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of each one's place, with the arguments of each, and return what they return.

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
        family: problem, or functions, of the family.
    """

    def __init__(self, peers: Peers, family: BeginProblem | BeginFunctions) -> None:
        self._peers = peers
        self._family = family
        self._received = [ReceivedResults() for _ in range(self._count)]
        self._stacked: dict[str, tuple[list[Array], Array]] = {}

    @property
    def is_there(self) -> bool:
        """True if it can take requests."""
        return self._peers.is_alive

    def begin(self) -> Mapping[str, Any]:
        """See `xebench.measuring.place.Place`; so for all of these."""
        self._received = [ReceivedResults() for _ in range(self._count)]
        parameters: Mapping[str, Any] = self._all("begin", self._family)[0]
        return parameters

    def start(self, variant: str, contents: Contents | None) -> Started:
        """A variant's first call there."""
        own: list[Started] = self._peers.call("start", [(variant, part) for part in self._parts(contents)])
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
            preparation_ns=max(each.preparation_ns for each in own),
            scratch_bytes=sum(each.scratch_bytes for each in own),
        )

    def sample(
        self, variant: str, batch: int, flush: Callable[[], None] | None = None, *, traced: bool = False
    ) -> MeasuredSample:
        """A sample there; caches are those of the same device, and flushed here."""
        if flush is not None:
            self._all("reset")
            flush()
        return self._measured(self._all("sample", variant, batch, flush is None, traced))

    def check(self, variant: str, contents: Contents | None) -> Checked:
        """A check there."""
        own: list[Checked] = self._peers.call("check", [(variant, part) for part in self._parts(contents)])
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
        return one_after_another(self._all("changed"))

    def renew(self, data_set: int = 0) -> None:
        """The next instance there."""
        self._all("renew", data_set)

    def end(self) -> None:
        """The process stays for the next family."""
        with suppress(XebenchError, Lost):  # it has ended: there is nothing left
            self._all("end")

    @property
    def _count(self) -> int:
        return len(self._peers.ranks) or 1

    def _all(self, method: str, *arguments: Any) -> list[Any]:
        return self._peers.call(method, [arguments] * self._count)

    def _parts(self, contents: Contents | None) -> list[Contents | None]:
        """Each rank's parts of the arrays of all."""
        if contents is None or not self._peers.ranks:
            return [contents] * self._count
        ranks = range(self._count)
        return [{name: array[rank] for name, array in contents.items()} for rank in ranks]

    def _whole(self, sent: Sequence[Contents]) -> Contents:
        parts = [received.arrays(own) for received, own in zip(self._received, sent, strict=True)]
        if not self._peers.ranks:
            return parts[0]
        return {name: self._stack(name, [own[name] for own in parts]) for name in parts[0]}

    def _stack(self, name: str, parts: list[Array]) -> Array:
        """The arrays of all ranks as one; the same one for the same arrays, so that it is compared once."""
        known, whole = self._stacked.get(name, ([], None))
        if whole is None or [*map(id, known)] != [*map(id, parts)]:
            whole = np.stack(parts)
            if not any(part.flags.writeable for part in parts):
                whole.setflags(write=False)
                self._stacked[name] = parts, whole
        return whole

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
