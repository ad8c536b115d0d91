"""Where the variants of a family run: in the worker, in a process with variables of theirs, or in ranks of MPI."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from xebench.errors import XebenchError
from xebench.measuring.bound_problem import Binding
from xebench.measuring.device_worker import Lost
from xebench.measuring.elsewhere import (
    BindingElsewhere,
    FamilyHere,
    InputsElsewhere,
    Process,
    SessionElsewhere,
    words_of,
)
from xebench.measuring.ranks import BindingOfRanks, InputsOfRanks, RankProcesses, SessionOfRanks


@dataclass(frozen=True)
class Place:
    """Where variants run: here, or in another process or several.

    Attributes:
        session, binding, inputs: what stands for those of that place.
        process: that place; None for here.
    """

    session: Any
    binding: Any
    inputs: Any
    process: Process | RankProcesses | None = None

    @property
    def is_there(self) -> bool:
        """Whether variants can run there still."""
        return self.process is None or self.process.is_alive


class Places:
    """The processes of a worker, by their variables and number; they live as long as it does.

    Args:
        device: SYCL filter string.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        self._processes: dict[tuple[int, str], Process | RankProcesses] = {}

    def begin(self, environment: Mapping[str, str], ranks: int, family: FamilyHere, here: Binding) -> Place:
        """A family's place in a process with these variables, or in so many ranks, started where there is none.

        Raises:
            Unsupported: there is no MPI.
            Lost: it does not start.
            XebenchError: it gives up.
        """
        key = ranks, words_of(environment)
        process = self._processes.get(key)
        if process is None or not process.is_alive:
            start = partial(RankProcesses, count=ranks) if ranks else Process
            process = self._processes[key] = start(self._device, environment)
        process.call("begin", family)
        if isinstance(process, RankProcesses):
            return Place(SessionOfRanks(process), BindingOfRanks(process, here), InputsOfRanks(process), process)
        return Place(SessionElsewhere(process), BindingElsewhere(process, here), InputsElsewhere(process), process)

    def end(self) -> None:
        """Let go of the family that is over."""
        for process in self._processes.values():
            with suppress(XebenchError, Lost):  # it has ended: there is nothing left
                process.call("end")

    def close(self) -> None:
        """End all processes."""
        for process in self._processes.values():
            process.close()
