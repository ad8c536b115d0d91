"""A worker on a device, for its callers: it starts when it is needed, and again after it was lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from xebench.errors import BrokenEnvironment, NoDevice, XebenchError, describe_error
from xebench.measuring.messages import Call, Done, Failed, Message, Returned, WorkerMessage, pickled, unpickled
from xebench.patterns.registry import is_builtin
from xebench.system.children import Program
from xebench.system.children.worker import WorkerEnded, WorkerHung, WorkerKilled, WorkerProcess
from xebench.vocabulary import Status

#: Device of a worker that opens none: it only makes data.
NO_DEVICE: Final = ""

# Starting the stack takes seconds; on a loaded machine a multiple of that.
START_TIMEOUT_S: Final = 300.0

# Messages of a worker stay in the pipe after its end.
REST_TIMEOUT_S: Final = 1.0

#: Statuses of the cases that a worker was lost with, where it has not crashed.
_STATUSES: Final = {WorkerHung: Status.TIMEOUT, WorkerKilled: Status.INTERRUPTED}


@dataclass(eq=False)
class Lost(Exception):
    """A worker ended, or gave up, before it answered.

    Attributes:
        how: way in which it ended, or reason why it gave up.
        status: status of the unfinished cases.
        variant: running variant; None during a step that all variants need.
        stage: current stage; empty if it gave up.
        silent_s: seconds of silence if it was silent for too long, else None.
    """

    how: str
    status: Status
    variant: str | None = None
    stage: str = ""
    silent_s: float | None = None

    def __str__(self) -> str:
        return f"{self.stage}: {self.how}" if self.stage else self.how


class DeviceWorker:
    """The current worker process, which may replace an earlier one.

    Args:
        start: starts one in which these variables are set, which answers `Ready` when it accepts requests.
    """

    def __init__(self, start: Callable[[Mapping[str, str]], WorkerProcess[WorkerMessage]]) -> None:
        self._start = start
        self._environment: dict[str, str] = {}
        self._process: WorkerProcess[WorkerMessage] | None = None
        self._sources: set[str] = set()
        self._set_aside: dict[frozenset[tuple[str, str]], tuple[WorkerProcess[WorkerMessage], set[str]]] = {}

    def use(self, environment: Mapping[str, str], source: str) -> None:
        """Set these variables in the process of the next request; it must not have run a stranger's file.

        A process that has run the code of a user's file is ended when another file, or other variables, are wanted:
        whatever a file does to its process ends with that process. One of the project's own files is kept meanwhile,
        with the problems and kernels that it has made.

        Args:
            environment: the variables.
            source: the pattern file whose code the process will run.
        """
        others = self._sources - {source}
        strangers = others and not all(map(is_builtin, (source, *others)))
        if environment != self._environment or strangers:
            if self._process is not None and all(map(is_builtin, self._sources)):
                self._set_aside[frozenset(self._environment.items())] = self._process, self._sources
                self._process, self._sources = None, set()
            self.close()
            self._environment = dict(environment)
            kept = frozenset(environment.items())
            if is_builtin(source) and kept in self._set_aside:
                self._process, self._sources = self._set_aside.pop(kept)
        self._sources.add(source)

    @property
    def is_running(self) -> bool:
        """True if there is a process, which was not lost."""
        return self._process is not None

    @property
    def is_shared(self) -> bool:
        """True if the process runs, or has run, the code of several files: a failure may be another file's."""
        return len(self._sources) > 1

    def ready(self) -> WorkerProcess[WorkerMessage]:
        """The worker process, started when there is none.

        Raises:
            BrokenEnvironment: it does not start.
            NoDevice: there is no such device.
            XebenchError: it has failed before it accepted requests.
        """
        if self._process is None:
            self._process = self._start(self._environment)
            try:
                answer = self._process.listen(START_TIMEOUT_S)
            except WorkerEnded as end:
                self.close()
                raise BrokenEnvironment(f"a worker process did not start: {end}; try 'xebench doctor'") from None
            if isinstance(answer, Failed):
                self.close()
                error = NoDevice if answer.exit_code == NoDevice.exit_code else XebenchError
                raise error(f"the worker failed: {answer.reason}")
        return self._process

    def answers(
        self,
        request: Message,
        variants: Sequence[str] = (),
        *,
        silence_s: Callable[[], float],
        look: Callable[[str | None, str, float], None] = lambda variant, stage, limit_s: None,
    ) -> Iterator[WorkerMessage]:
        """Send a request, and yield the worker's answers until it is done.

        Args:
            request: request to send.
            variants: variants of the request, in the order of the activity page's numbers.
            silence_s: function that returns the longest silence in seconds; called before each answer.
            look: callback with the current variant, the stage and these seconds, called a few times per second during
                silence.

        Raises:
            Lost: it ended, was silent for too long, or gave up.
            XebenchError: see `ready`.
        """
        process = self.ready()

        def listen(limit_s: float) -> WorkerMessage:
            return process.listen(limit_s, lambda: look(*process.activity.read(variants), limit_s))

        process.ask(request)
        try:
            while not isinstance(answer := listen(limit_s := silence_s()), Done | Failed):
                yield answer
        except WorkerEnded as end:
            variant, stage = process.activity.read(variants)
            self.close()
            silent_s = limit_s if isinstance(end, WorkerHung) else None
            raise Lost(str(end), _STATUSES.get(type(end), Status.CRASHED), variant, stage, silent_s) from None
        if isinstance(answer, Failed):
            self.close()
            raise Lost(answer.reason, Status.ERROR)

    def call(
        self, method: str, *, look: Callable[[str | None, str, float], None] = lambda variant, stage, limit_s: None
    ) -> Any:
        """Call a method of the worker (`xebench.measuring.worker.Worker`), and return what it returns.

        Args:
            method: name of the method.
            look: see `answers`.

        Raises:
            Lost: the worker was lost, or the method has raised an exception.
            XebenchError: see `ready`.
        """
        [answer] = [*self.answers(Call(method, pickled(())), silence_s=lambda: START_TIMEOUT_S, look=look)]
        assert isinstance(answer, Returned)
        try:
            return unpickled(answer)
        except Exception as error:
            raise Lost(describe_error(error), Status.ERROR) from error

    def self_test(self) -> list[str]:
        """Test the device: a line for each check that failed; a crash or a hang is a failure like any other.

        Raises:
            XebenchError: see `ready`.
        """
        try:
            return [*self.call("self_test")]
        except Lost as lost:
            return [f"self-test: {lost.how}"]

    def rest(self) -> Iterator[WorkerMessage]:
        """End the worker, and yield the messages that it had sent before."""
        if self._process is not None:
            self._process.kill()
            with suppress(WorkerEnded):
                while True:
                    yield self._process.listen(REST_TIMEOUT_S)

    def close_if_large(self) -> None:
        """End the worker if it has grown: drivers keep memory of contexts and kernels, and become slow without any."""
        if self._process is not None and self._process.is_large:
            self.close()

    def close_all(self) -> None:
        """End the worker, and those that are kept."""
        self.close()
        while self._set_aside:
            self._set_aside.popitem()[1][0].close()

    def close(self) -> None:
        """End the worker of the next request."""
        self._sources.clear()
        if self._process is not None:
            self._process.close()
            self._process = None


def start_worker(
    device: str,
    environment: Mapping[str, str] | None = None,
    *,
    handler: str = Program.WORKER,
    memory_limit_bytes: int | None = None,
    poll: Callable[[], object] = lambda: None,
    output: int | None = None,
) -> WorkerProcess[WorkerMessage]:
    """Start a worker.

    Args:
        device: SYCL filter string, or `NO_DEVICE`.
        environment: variables set before the SYCL runtime is loaded.
        handler: module that answers requests (`xebench.measuring.serve`).
        memory_limit_bytes: memory limit of the worker; None for no limit.
        poll: callback, called a few times per second while listening.
        output: see `WorkerProcess`.
    """
    arguments = (handler, device, json.dumps(dict(environment or {})))
    return WorkerProcess(
        Program.SERVE, arguments, WorkerMessage, memory_limit_bytes=memory_limit_bytes, poll=poll, output=output
    )
