"""The programs of a family: variants that send the same requests and machine code to the device are one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

from numba_sycl.device_kernel import DeviceKernel
from xebench.dpex.binaries import native_code
from xebench.session.session import Session
from xebench.session.transcript import Transcript
from xebench.vocabulary import Metric


class _Program:
    """The requests of a variant to its device, with the code of its kernels."""

    def __init__(self, transcript: Transcript) -> None:
        self.steps, self._kernels = transcript.steps, tuple(transcript.kernels)
        sources = [(kernel.compiled.sha256, kernel.compiled.name, kernel.build_options) for kernel in self._kernels]
        self.key = hashlib.sha256(f"{self.steps} {sources}".encode()).hexdigest()

    @cached_property
    def machine_code(self) -> tuple[str, ...]:
        """The machine code of each kernel; code that the driver does not hand out equals no other."""
        return tuple(_code_of(kernel) for kernel in self._kernels)


def _code_of(kernel: DeviceKernel) -> str:
    return native_code(kernel) or f"unknown {id(kernel)}"


class Programs:
    """The programs of a family."""

    def __init__(self) -> None:
        self._known: list[_Program] = []
        self._over = False

    def end(self) -> None:
        """End the first instance: later calls are not recorded, and no kernel is kept."""
        self._known.clear()
        self._over = True

    @contextmanager
    def noting(self, session: Session, metric: str) -> Iterator[Transcript | None]:
        """Note a variant's first call; nothing where the host's own work is part of what is measured."""
        if self._over or metric != Metric.DEVICE:
            yield None
        else:
            with session.transcribing() as transcript:
                yield transcript

    def of(self, transcript: Transcript | None) -> str | None:
        """The key of a program, shared with an earlier equal one; None if that is unknown."""
        if transcript is None or transcript.lost or not transcript.kernels:
            return None
        own = _Program(transcript)
        for other in self._known:
            if other.steps == own.steps and (other.key == own.key or other.machine_code == own.machine_code):
                return other.key
        self._known.append(own)
        return own.key
