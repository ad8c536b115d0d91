"""Ranks of MPI as the worker has them that measures a family: all are asked the same, and one that ends ends all.

MPI's launcher starts them, and each connects to a socket of the worker, which asks and hears every one by itself: so
it knows which has failed, while others may wait for that one for ever.
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
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from xebench.children import process
from xebench.children.channel import Receiver, Sender, UnreadableMessage
from xebench.children.process_exit import how_it_ended
from xebench.errors import Unsupported, XebenchError, first_line, named
from xebench.measuring.bound_problem import Binding
from xebench.measuring.device_worker import START_TIMEOUT_S, Lost
from xebench.measuring.elsewhere import (
    Answers,
    BindingElsewhere,
    Call,
    InputsElsewhere,
    Returned,
    SessionElsewhere,
    words_of,
)
from xebench.measuring.messages import Failed
from xebench.measuring.mpi_launcher import find_launcher
from xebench.measuring.rank import Identity
from xebench.session.recorder import Measured
from xebench.vocabulary import Status

#: When one rank has failed, the others have so long to fail as well, or to be done; else they wait for it.
GRACE_S: Final = 5.0
#: When they have nothing more to do they end by themselves, and MPI cleans up.
_LEAVE_S: Final = 2.0
_LOOK_S: Final = 0.2
#: What MPICH and Intel's MPI print of a rank that a signal has ended, and what other statuses have beside its number.
_SIGNAL: Final = re.compile(r"\(signal (\d+)\)|KILLED BY SIGNAL: (\d+)")
_BY_SIGNAL: Final = 128

Array = npt.NDArray[Any]
T = TypeVar("T")


class _Rank:
    """The connection to one rank."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        pid = int.from_bytes(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 4), "little")
        self._pidfd = os.pidfd_open(pid)
        self.sender = Sender(connection.fileno())
        self.receiver: Receiver[Any] = Receiver(connection.fileno(), Answers)

    def fileno(self) -> int:
        return self._connection.fileno()

    def leave(self) -> None:
        """Tell it that there is nothing more to do."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """End it, whatever it is doing."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        os.close(self._pidfd)
        self._connection.close()


class RankProcesses:
    """Some ranks with some environment variables.

    Args:
        device: SYCL filter string: of the first rank.
        environment: variables that each sets.
        count: how many.

    Raises:
        Unsupported: there is no MPI.
        Lost: one ends before it has begun.
        XebenchError: they do not start.
    """

    def __init__(self, device: str, environment: Mapping[str, str], count: int) -> None:
        find_launcher()
        self._words = " with ".join(filter(None, (counted(count), words_of(environment))))
        self._ranks: list[_Rank] = []
        self.is_alive = True
        self._printed = os.memfd_create("xebench-ranks-output")
        with TemporaryDirectory(prefix="xebench-ranks-") as folder, socket.socket(socket.AF_UNIX) as listener:
            path = str(Path(folder) / "worker")
            listener.bind(path)
            listener.listen(count)
            arguments = (path, device, json.dumps(dict(environment)))
            rank = process.python_module("xebench.measuring.serve_rank", *arguments)
            self._launcher = process.start(
                process.python_module("xebench.measuring.mpi_launcher", device, str(count), *rank),
                output=self._printed,
                errors=self._printed,
            )
            self._meet(listener, count)
        self._hear("start", START_TIMEOUT_S)
        found: list[Identity] = self.call("identity")
        order = sorted(range(count), key=lambda number: found[number].rank)
        self._ranks, self.identities = [self._ranks[i] for i in order], [found[i] for i in order]
        if self.identities[0].size != count:
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

    def call(self, method: str, *arguments: Any) -> list[Any]:
        """What a method gives on each rank.

        Raises:
            Lost: a rank has ended.
            XebenchError: one alone has failed, after which all are ended.
            Exception: what the method raised on all of them.
        """
        return self.call_each(method, [arguments] * len(self._ranks))

    def call_each(self, method: str, arguments: Sequence[Sequence[Any]]) -> list[Any]:
        """Likewise, with arguments of each rank's own."""
        if not self.is_alive:
            raise XebenchError(f"the {self._words} have ended before")
        for rank, own in zip(self._ranks, arguments, strict=True):
            with suppress(BrokenPipeError):  # it has ended: that is heard next
                rank.sender.send(Call(method, pickle.dumps(tuple(own))))
        returned = self._hear(method, math.inf)  # the worker itself must not be silent for too long
        self._hear(method, math.inf)
        values = [pickle.loads(answer.value) for answer in returned]
        failures = [value for answer, value in zip(returned, values, strict=True) if answer.failed]
        if len(failures) == len(values):
            raise failures[0]
        if failures:
            self._fail_alone(returned)
        return values

    def _hear(self, at: str, timeout_s: float) -> list[Any]:
        """A message of every rank."""
        heard: dict[int, Any] = {}
        deadline = time.monotonic() + timeout_s
        while missing := [number for number in range(len(self._ranks)) if number not in heard]:
            for number in missing:
                with suppress(TimeoutError):
                    heard[number] = self._next(number)
                    if isinstance(heard[number], Returned) and heard[number].failed:
                        deadline = min(deadline, time.monotonic() + GRACE_S)
            if time.monotonic() > deadline:
                failed = [heard.get(number) for number in range(len(self._ranks))]
                if any(failed):
                    self._fail_alone(failed)
                self.close()
                raise XebenchError(f"the {self._words}: no answer for {timeout_s:g} s at {at}")
            if waiting := [self._ranks[number] for number in missing if number not in heard]:
                select.select(waiting, [], [], _LOOK_S)
        return [heard[number] for number in range(len(self._ranks))]

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
        number, answer = next((n, each) for n, each in enumerate(answers) if isinstance(each, Returned) and each.failed)
        self.close()
        error = pickle.loads(answer.value)
        kind = Unsupported if isinstance(error, Unsupported) else XebenchError
        raise kind(f"rank {number} alone: {first_line(error) if isinstance(error, XebenchError) else named(error)}")

    def _ended(self) -> Lost:
        with suppress(subprocess.TimeoutExpired):
            self._launcher.wait(GRACE_S)
        code = self._launcher.poll()
        printed = os.pread(self._printed, os.fstat(self._printed).st_size, 0).decode(errors="replace")
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


def counted(ranks: int) -> str:
    """Such as "2 ranks"."""
    return f"{ranks} rank{'s' if ranks > 1 else ''}"


def one_after_another(values: Sequence[Sequence[T]]) -> list[T]:
    """What any rank has, each once, in the ranks' order."""
    result: list[T] = []
    for own in values:
        result += [value for value in own if value not in result]
    return result


class SessionOfRanks(SessionElsewhere):
    """Stands for the sessions of the ranks: a sample lasts from the beginning of the first until the last is done."""

    def __init__(self, ranks: RankProcesses) -> None:
        super().__init__(ranks)
        self._of = ranks

    def measure(self, sample: Any, batch: int = 1) -> Measured:
        """Run one sample on all ranks, after a barrier."""
        return Measured.of_ranks(self._of.call("measure", sample.variant, batch))

    def take_kernels(self) -> list[dict[str, Any]]:
        """See `Session`: what any rank has launched."""
        return one_after_another(self._of.call("of", "session", "take_kernels"))

    def take_devices(self) -> str:
        """Which ranks they are, on what."""
        own = [words for words in self._of.call("of", "session", "take_devices") if words]
        devices = one_after_another([[identity.device] for identity in self._of.identities])
        who = f"{counted(len(self._of.identities))} of {self._of.identities[0].library} on {' and '.join(devices)}"
        return "; ".join([who, *one_after_another([[words] for words in own])])

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return lambda *arguments: self._of.call("of", "session", method, *arguments)[0]


class BindingOfRanks(BindingElsewhere):
    """Stands for the problem's arrays on the ranks; what is written and compared has the rank as its first index."""

    def __init__(self, ranks: RankProcesses, here: Binding) -> None:
        super().__init__(ranks, here)
        self._of = ranks

    def poison(self, contents: Mapping[str, Array]) -> None:
        """See `Binding`."""
        count = len(self._of.identities)
        own = [{name: np.ascontiguousarray(array[rank]) for name, array in contents.items()} for rank in range(count)]
        self._of.call_each("of", [("binding", "poison", each) for each in own])

    def results(self) -> dict[str, Array]:
        """See `Binding`."""
        return stacked(self._of.call("of", "binding", "results"))

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return lambda *arguments: self._of.call("of", "binding", method, *arguments)[0]


class InputsOfRanks(InputsElsewhere):
    """Stands for the inputs on the ranks."""

    def __init__(self, ranks: RankProcesses) -> None:
        super().__init__(ranks)
        self._of = ranks

    def changed(self) -> list[str]:
        """See `Inputs`: those that any rank has changed."""
        return one_after_another(self._of.call("of", "inputs", "changed")) if self._of.is_alive else []


def stacked(by_rank: Sequence[Mapping[str, Any]]) -> dict[str, Array]:
    """Arrays of all ranks, by name, with the rank as the first index."""
    return {name: np.stack([np.asarray(own[name]) for own in by_rank]) for name in by_rank[0]}
