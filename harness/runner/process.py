"""A worker process as its manager sees it: start, ask, listen, and tell how it ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

from harness.runner.beacon import Beacon
from harness.runner.messages import Receiver, Sender


class WorkerDied(Exception):
    """The worker ended without finishing; the message says how."""


class WorkerHung(Exception):
    """The worker said nothing for too long."""


class WorkerProcess:
    """One worker on one device.

    Args:
        device: SYCL filter string.
    """

    def __init__(self, device: str) -> None:
        self.beacon = Beacon.create()
        requests_in, requests_out = os.pipe()
        answers_in, answers_out = os.pipe()
        descriptors = (requests_in, answers_out, self.beacon.descriptor)
        # Native libraries print to standard output and error; what they said last explains a crash.
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  (closed in close())
        self._process = subprocess.Popen(
            [sys.executable, "-m", "harness.runner.worker", *map(str, descriptors), device],
            pass_fds=descriptors,
            stdin=subprocess.DEVNULL,
            stdout=self._said,
            stderr=self._said,
        )
        os.close(requests_in)
        os.close(answers_out)
        self._descriptors = (requests_out, answers_in)
        self._sender, self._receiver = Sender(requests_out), Receiver(answers_in)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def ask(self, kind: str, **content: Any) -> None:
        """Send a request; a dead worker shows at the next :meth:`listen`."""
        with contextlib.suppress(BrokenPipeError):
            self._sender.send(kind, **content)

    def listen(self, timeout_s: float) -> Mapping[str, Any]:
        """The worker's next message.

        Raises:
            WorkerHung: nothing came within ``timeout_s``.
            WorkerDied: the process ended.
        """
        try:
            message = self._receiver.receive(timeout_s)
        except TimeoutError:
            raise WorkerHung(f"no answer for {timeout_s:g} s") from None
        if message is None:
            raise WorkerDied(self._epitaph())
        return message

    def _epitaph(self) -> str:
        code = self._process.wait()
        how = f"exit status {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
        said = self.last_words()
        return f"{how} ({said})" if said else how

    def last_words(self) -> str:
        """The last line that the process printed, shortened."""
        self._said.seek(0)
        lines = [line.strip() for line in self._said.read().decode(errors="replace").splitlines() if line.strip()]
        return lines[-1][:160] if lines else ""

    def close(self) -> None:
        """End the process, whatever it is doing."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._said.close()
        self.beacon.close()
