"""Where the variants of a family run: in the worker, in a process with variables of theirs, or in ranks of MPI."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from xebench.errors import XebenchError
from xebench.measuring.device_worker import START_TIMEOUT_S, Lost, start_worker
from xebench.measuring.messages import Done, Failed
from xebench.measuring.place import Place
from xebench.measuring.ranks import RankProcesses
from xebench.measuring.remote import (
    Answers,
    BeginProblem,
    Peers,
    Raised,
    RankIdentity,
    RemotePlace,
    Reply,
    Request,
    error_of,
    words_of,
)
from xebench.patterns.pattern import Variant
from xebench.system.children.programs import Program
from xebench.system.children.worker import WorkerDied, WorkerEnded, WorkerHung, WorkerProcess
from xebench.vocabulary import Status


class RemoteProcess:
    """A process that measures for this one (`xebench.measuring.remote.Peers`).

    Args:
        device: SYCL filter string.
        environment: variables that it has.
        name: of it, at the head of what is told when it ends.
        patience_s: seconds without an answer after which it is ended.

    Raises:
        Lost: it does not start.
        XebenchError: it gives up.
    """

    ranks: Sequence[RankIdentity] = ()

    def __init__(
        self,
        device: str,
        environment: Mapping[str, str],
        name: str = "",
        patience_s: float = math.inf,
    ) -> None:
        self._name = name or f"the process with {words_of(environment)}:"
        self._patience_s = patience_s
        self._process: WorkerProcess[Any] = start_worker(device, Program.SERVE_PLACE, Answers, environment=environment)
        self.is_alive = True
        self._listen(START_TIMEOUT_S)

    def ask(self, requests: Sequence[Request]) -> list[Reply | None]:
        """See `Peers`."""
        if not self.is_alive:
            raise XebenchError(f"{self._name.rstrip(':')} has ended before")
        reply = None
        for request in requests:
            self._process.ask(request)
            while not isinstance(answer := self._listen(self._patience_s), Done):
                reply = answer
        if isinstance(reply, Raised):
            raise error_of(reply)
        return [reply]

    def _listen(self, timeout_s: float) -> Any:
        try:
            answer = self._process.listen(timeout_s)
        except WorkerEnded as end:
            self.close()
            if isinstance(end, WorkerHung):
                raise Lost(f"{self._name} gave {end}", Status.TIMEOUT) from None
            status = Status.CRASHED if isinstance(end, WorkerDied) else Status.ERROR
            raise Lost(f"{self._name} {end}", status) from None
        if isinstance(answer, Failed):
            self.close()
            raise XebenchError(f"{self._name} {answer.reason}")
        return answer

    def close(self) -> None:
        """End the process."""
        if self.is_alive:
            self.is_alive = False
            self._process.close()


class Pool:
    """The processes of a worker, by their variables and number; they live as long as it does.

    Args:
        device: SYCL filter string.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        self._peers: dict[tuple[int, str], Peers] = {}

    def get(self, environment: Mapping[str, str], ranks: int) -> Peers:
        """A process with these variables, or so many ranks, started where there is none.

        Raises:
            Unsupported: there is no MPI.
            Lost: it does not start.
            XebenchError: it gives up.
        """
        key = ranks, words_of(environment)
        if key not in self._peers or not self._peers[key].is_alive:
            start = (
                RankProcesses(self._device, environment, ranks) if ranks else RemoteProcess(self._device, environment)
            )
            self._peers[key] = start
        return self._peers[key]

    def close(self) -> None:
        """End all processes."""
        for peers in self._peers.values():
            peers.close()


class FamilyPlaces:
    """The places of a family: this process, and those of a pool (`xebench.measuring.place.Places`).

    Args:
        home: the place in this process.
        parameters: that its problem has; those of the others must be the same.
        pool: of processes.
        family: what they are to make.
    """

    def __init__(self, home: Place, parameters: Mapping[str, Any], pool: Pool, family: BeginProblem) -> None:
        self._home = home
        self._parameters = parameters
        self._pool = pool
        self._family = family
        self._elsewhere: dict[tuple[int, str], RemotePlace] = {}
        self._data_set = 0

    def of(self, variant: Variant) -> Place:
        """In this process, unless a variant needs variables of its own, or ranks."""
        if not variant.environment and not variant.ranks:
            return self._home
        key = variant.ranks, json.dumps(dict(variant.environment), sort_keys=True)
        if key not in self._elsewhere or not self._elsewhere[key].is_there:
            place = RemotePlace(self._pool.get(variant.environment, variant.ranks), self._family)
            found = place.begin()
            if found != self._parameters:
                raise XebenchError(f"the problem has {found} there, {self._parameters} here: only its seed may decide")
            if self._data_set:
                place.renew(self._data_set)
            self._elsewhere[key] = place
        return self._elsewhere[key]

    def changed(self) -> list[str]:
        """See `xebench.measuring.place.Places`."""
        places = (self._home, *self._elsewhere.values())
        return list(dict.fromkeys(name for place in places for name in place.changed()))

    def renew(self, data_set: int = 0) -> None:
        """See `xebench.measuring.place.Places`; a process that ends at it is found out when its variant is called."""
        self._data_set = data_set
        for place in self._elsewhere.values():
            with suppress(XebenchError, Lost):
                place.renew(data_set)
        self._home.renew(data_set)

    def end(self) -> None:
        """Let go of the family."""
        self._home.end()
        for place in self._elsewhere.values():
            place.end()
