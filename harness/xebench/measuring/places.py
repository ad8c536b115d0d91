"""The places of a family's variants: the worker, a process with variables of their own, or ranks of MPI.

MPI's launcher starts the ranks, and each connects to a socket of the worker. The worker sends requests to each rank
and receives its answers separately. So it detects which rank has failed, while others may wait for that one for ever.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import re
import select
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from xebench.errors import Unsupported, XebenchError, describe_error, first_line
from xebench.measuring.device_worker import START_TIMEOUT_S, DeviceWorker, Lost, start_worker
from xebench.measuring.messages import Call, Done, Failed, Ready, Returned, WorkerMessage, pickled, unpickled
from xebench.measuring.place import Place
from xebench.measuring.remote import BeginProblem, Peers, RankIdentity, RemotePlace, count_ranks, words_of
from xebench.measuring.serve import LAUNCH, RANK
from xebench.patterns.pattern import Variant
from xebench.system.children import Program, process
from xebench.system.children.process import how_it_ended
from xebench.system.children.worker import Receiver, Sender, UnreadableMessage
from xebench.system.runtime.mpi import find_launcher
from xebench.vocabulary import Status

#: Seconds that the other ranks have to fail or finish after one failed; later they are waiting for it.
GRACE_S: Final = 5.0
#: When they have nothing more to do they end by themselves, and MPI cleans up.
_LEAVE_S: Final = 2.0

_LOOK_S: Final = 0.2
#: What MPICH and Intel's MPI print of a rank that a signal has ended, and what other statuses have beside its number.
_SIGNAL: Final = re.compile(r"\(signal (\d+)\)|KILLED BY SIGNAL: (\d+)")

_BY_SIGNAL: Final = 128


class _Rank:
    """The connection to one rank."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        pid = int.from_bytes(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 4), "little")
        self._pidfd = os.pidfd_open(pid)
        self.sender = Sender(connection.fileno())
        self.receiver: Receiver[Any] = Receiver(connection.fileno(), WorkerMessage)

    def fileno(self) -> int:
        return self._connection.fileno()

    def leave(self) -> None:
        """Send that there is nothing more to do."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """End it, whatever it is doing."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        os.close(self._pidfd)
        self._connection.close()


class RankProcesses:
    """The processes of a variant's ranks.

    Args:
        device: SYCL filter string of the first rank's device.
        environment: variables that each rank sets.
        count: number of ranks.
        output: see `start_worker`.

    Raises:
        Unsupported: there is no MPI.
        Lost: a rank ended before it began.
        XebenchError: the ranks do not start.
    """

    def __init__(self, device: str, environment: Mapping[str, str], count: int, output: int | None = None) -> None:
        find_launcher()
        self._words = " with ".join(filter(None, (count_ranks(count), words_of(environment))))
        self._ranks: list[_Rank] = []
        self.ranks: Sequence[RankIdentity] = ()
        self.is_alive = True
        self._printed = os.memfd_create("xebench-ranks-output") if output is None else os.dup(output)
        self._printed_before = os.fstat(self._printed).st_size
        with TemporaryDirectory(prefix="xebench-ranks-") as folder, socket.socket(socket.AF_UNIX) as listener:
            path = str(Path(folder) / "worker")
            listener.bind(path)
            listener.listen(count)
            variables = json.dumps(dict(environment))
            rank = process.python_module(Program.SERVE, RANK, path, device, variables)
            self._launcher = process.start(
                process.python_module(Program.SERVE, LAUNCH, device, variables, str(count), *rank),
                output=self._printed,
                errors=self._printed,
            )
            self._meet(listener, count)
        self._hear("start", START_TIMEOUT_S)
        found: list[RankIdentity] = self.call("identity", [()] * count)
        order = sorted(range(count), key=lambda number: found[number].rank)
        self._ranks, self.ranks = [self._ranks[i] for i in order], [found[i] for i in order]
        if self.ranks[0].size != count:
            self.close()
            raise XebenchError(
                f"{self._words}: each is alone: {find_launcher()} is not of mpi4py's MPI, {found[0].library}"
            )

    def _meet(self, listener: socket.socket, count: int) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        listener.settimeout(_LOOK_S)
        while len(self._ranks) < count:
            with suppress(TimeoutError):
                self._ranks.append(_Rank(listener.accept()[0]))
                continue
            if self._launcher.poll() is not None or time.monotonic() > deadline:
                raise self._ended()

    def call(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """See `Peers`.

        Raises:
            Lost: a rank has ended.
            XebenchError: one alone has failed, after which all are ended.
            Exception: what all of them raised.
        """
        if not self.is_alive:
            raise XebenchError(f"the {self._words} have ended before")
        for rank, own in zip(self._ranks, arguments, strict=True):
            with suppress(BrokenPipeError):  # it has ended: that is heard next
                rank.sender.send(Call(method, pickled(own)))
        replies = self._hear(method, math.inf)  # the worker itself must not be silent for too long
        if len({reply.raised for reply in replies}) > 1:
            self._fail_alone(replies)
        return [unpickled(reply) for reply in replies]

    def _hear(self, at: str, timeout_s: float) -> list[Any]:
        """The message that each rank sends before it is done or ready; None for a rank that sends none."""
        heard: dict[int, Any] = {}
        done: set[int] = set()
        deadline = time.monotonic() + timeout_s
        while missing := [number for number in range(len(self._ranks)) if number not in done]:
            for number in missing:
                with suppress(TimeoutError):
                    message = self._next(number)
                    if isinstance(message, Done | Ready):
                        done.add(number)
                        continue
                    heard[number] = message
                    if isinstance(message, Returned) and message.raised:
                        deadline = min(deadline, time.monotonic() + GRACE_S)
            if time.monotonic() > deadline:
                if any(message.raised for message in heard.values()):
                    self._fail_alone([heard.get(number) for number in range(len(self._ranks))])
                self.close()
                raise XebenchError(f"the {self._words}: no answer for {timeout_s:g} s at {at}")
            if waiting := [self._ranks[number] for number in missing if number not in done | heard.keys()]:
                select.select(waiting, [], [], _LOOK_S)
        return [heard.get(number) for number in range(len(self._ranks))]

    def _next(self, number: int) -> Any:
        try:
            message = self._ranks[number].receiver.receive(0)
        except (UnreadableMessage, ConnectionError) as error:
            message = Failed(first_line(error), 1)
        if message is None:
            raise self._ended()
        if isinstance(message, Failed):
            self.close()
            raise XebenchError(f"the {self._words}: rank {number}: {message.reason}")
        return message

    def _fail_alone(self, answers: Sequence[Any]) -> None:
        """Some ranks have failed and others not: what these have sent or wait for would meet the next variant."""
        number, raised = next((n, each) for n, each in enumerate(answers) if each is not None and each.raised)
        self.close()
        error = pickle.loads(raised.value.data)
        kind = Unsupported if isinstance(error, Unsupported) else XebenchError
        raise kind(
            f"rank {number} alone: {first_line(error) if isinstance(error, XebenchError) else describe_error(error)}"
        )

    def _ended(self) -> Lost:
        with suppress(subprocess.TimeoutExpired):
            self._launcher.wait(GRACE_S)
        code = self._launcher.poll()
        size = os.fstat(self._printed).st_size - self._printed_before
        printed = os.pread(self._printed, size, self._printed_before).decode(errors="replace")
        self.close()
        if code is None:
            return Lost(f"the {self._words}: one has ended", Status.CRASHED)
        return Lost(f"the {self._words}: one {how_it_ended(status_of(code, printed), printed)}", Status.CRASHED)

    def close(self) -> None:
        """End all of them."""
        if not self.is_alive:
            return
        self.is_alive = False
        for rank in self._ranks:
            rank.leave()
        with suppress(subprocess.TimeoutExpired):
            self._launcher.wait(_LEAVE_S)
        for rank in self._ranks:
            rank.close()
        process.end(self._launcher, _LEAVE_S)
        os.close(self._printed)


def status_of(code: int, printed: str) -> int:
    """The exit status of the rank that ended first, as `subprocess` has it, from that of MPI's launcher."""
    signals = [int(one or other) for one, other in _SIGNAL.findall(printed)]
    if signals:  # the launcher kills the others
        return -next((number for number in signals if number != signal.SIGKILL), signal.SIGKILL)
    return _BY_SIGNAL - code if _BY_SIGNAL < code < _BY_SIGNAL + signal.NSIG else code


class RemoteProcess:
    """A worker that is a place for this process (`xebench.measuring.remote.Peers`).

    Args:
        device: SYCL filter string.
        environment: variables that it has.
        name: its name, at the head of the error when it ends.
        patience_s: seconds without an answer after which it is ended.
        output: see `start_worker`.

    Raises:
        XebenchError: it does not start, or gives up.
    """

    ranks: Sequence[RankIdentity] = ()

    def __init__(
        self,
        device: str,
        environment: Mapping[str, str],
        name: str = "",
        patience_s: float = math.inf,
        output: int | None = None,
    ) -> None:
        self._name = name or f"the process with {words_of(environment)}:"
        self._patience_s = patience_s
        self._worker = DeviceWorker(lambda _: start_worker(device, environment, output=output))
        try:
            self._worker.ready()
        except XebenchError as error:
            raise XebenchError(f"{self._name.rstrip(':')}: {error}") from None

    @property
    def is_alive(self) -> bool:
        """True if it accepts requests."""
        return self._worker.is_running

    def call(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """See `Peers`."""
        if not self.is_alive:
            raise XebenchError(f"{self._name.rstrip(':')} has ended before")
        try:
            (own,) = arguments
            request = Call(method, pickled(own))
            answers = [*self._worker.answers(request, silence_s=lambda: self._patience_s)]
        except Lost as lost:
            gave = "gave " if lost.silent_s is not None else ""
            status = Status.ERROR if lost.status == Status.INTERRUPTED else lost.status
            raise Lost(f"{self._name} {gave}{lost.how}", status) from None
        return [unpickled(answer) for answer in answers if isinstance(answer, Returned)]

    def close(self) -> None:
        """End the process."""
        self._worker.close()


class Pool:
    """The processes of a worker, by their variables and number; they live as long as it does.

    Args:
        device: SYCL filter string.
        output: see `start_worker`.
    """

    def __init__(self, device: str, output: int | None = None) -> None:
        self._device, self._output = device, output
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
            self._peers[key] = (
                RankProcesses(self._device, environment, ranks, self._output)
                if ranks
                else RemoteProcess(self._device, environment, output=self._output)
            )
        return self._peers[key]

    def close(self) -> None:
        """End all processes."""
        for peers in self._peers.values():
            peers.close()


class FamilyPlaces:
    """The places of a family: this process, and those of a pool (`xebench.measuring.place.Places`).

    Args:
        home: place in this process.
        parameters: parameters of its problem; the other places must have the same.
        pool: pool of processes.
        family: request for the family's problem.
        data_set: number of the first instance's data set.
    """

    def __init__(
        self, home: Place, parameters: Mapping[str, Any], pool: Pool, family: BeginProblem, data_set: int = 0
    ) -> None:
        self._home = home
        self._parameters = parameters
        self._pool = pool
        self._family = family
        self._elsewhere: dict[tuple[int, str], RemotePlace] = {}
        self._data_set = data_set

    def of(self, variant: Variant) -> Place:
        """The place in this process, unless a variant needs variables of its own, or ranks."""
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
        """See `xebench.measuring.place.Places`; the next call of a variant detects that its process has ended."""
        self._data_set = data_set
        for place in self._elsewhere.values():
            with suppress(XebenchError, Lost):
                place.renew(data_set)
        self._home.renew(data_set)

    def end(self) -> None:
        """Release the family's arrays and kernels."""
        self._home.end()
        for place in self._elsewhere.values():
            place.end()
