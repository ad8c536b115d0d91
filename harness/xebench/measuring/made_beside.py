"""Data of the next family, made by another process while this one samples (`xebench.measuring.problem_maker`)."""

from __future__ import annotations

import math
import mmap
import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from xebench.measuring.device_worker import start_worker
from xebench.measuring.messages import Done, Upcoming
from xebench.measuring.prepare import find_pattern
from xebench.measuring.problem_maker import ALIGNED, Answers, DataMade, MakeData
from xebench.measuring.problem_store import Data, ProblemStore
from xebench.patterns.problem import Problem
from xebench.system.children.programs import Program
from xebench.system.children.worker import WorkerEnded, WorkerHung, WorkerProcess


class MadeBeside:
    """Requests one family's data at a time from another process, and puts them into a store.

    Args:
        device: SYCL filter string, for the process's environment; it does not open it.
        store: takes the data.

    Attributes:
        store: that one.
    """

    def __init__(self, device: str, store: ProblemStore) -> None:
        self._device = device
        self.store = store
        self._process: WorkerProcess[Any] | None = None
        self._asked: MakeData | None = None
        self._has_ended = False

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.close()

    def begin(self, family: Upcoming, seeds: Sequence[int]) -> None:
        """Have a family's data made, unless they are there, or others are being made still."""
        self._take(0.0)
        pattern = find_pattern(family.source, family.pattern)
        known = all(self.store.has(pattern, family.parameters, seed) for seed in seeds)
        if known or self._asked is not None or self._has_ended:
            return
        if self._process is None:
            limit = int(self.store.limit_bytes)  # with more it would take memory of the family that is sampled
            self._process = start_worker(self._device, Program.MAKE_PROBLEMS, Answers, memory_limit_bytes=limit)
        ranks = sorted({variant.ranks for variant in pattern.variants.values()})
        self._asked = MakeData(family.source, family.pattern, family.parameters, seeds, ranks)
        self._process.ask(self._asked)

    def take(self, source: str, pattern: str) -> None:
        """Put a pattern's data into the store if they were requested; waits until they are made."""
        if self._asked is not None and (self._asked.source, self._asked.pattern) == (source, pattern):
            self._take(math.inf)

    def _take(self, timeout_s: float) -> None:
        if self._asked is None or self._process is None:
            return
        try:
            while not isinstance(answer := self._process.listen(timeout_s), Done):
                if isinstance(answer, DataMade):
                    self._put(self._asked, answer)
        except WorkerHung:
            return
        except (WorkerEnded, OSError):  # the system may not let one process open a file of another
            self._has_ended = True  # this process makes what it needs, and finds out what is wrong with it
        self._asked = None

    def _put(self, asked: MakeData, made: DataMade) -> None:
        pattern = find_pattern(asked.source, asked.pattern)
        for seed, (problem, expected) in zip(asked.seeds, _read(made), strict=True):
            data = Data(Problem.__new__(Problem))
            vars(data.problem).update(problem)
            for ranks, own in expected.items():
                data.keep(pattern, asked.parameters, ranks, own)
            self.store.put(pattern, asked.parameters, seed, data)


def _read(made: DataMade) -> Any:
    with Path(f"/proc/{made.pid}/fd/{made.descriptor}").open("rb") as file:
        whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def parts() -> Iterator[memoryview]:
        begin = 0
        for size in made.sizes:
            yield whole[begin : begin + size]
            begin += -(-size // ALIGNED) * ALIGNED

    head, *buffers = parts()
    return pickle.loads(head, buffers=buffers)
