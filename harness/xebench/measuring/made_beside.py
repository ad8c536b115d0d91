"""Data of the next family, made by another process while this one samples: the process, and what asks it.

It opens no device. What it makes lies in a file in memory, which the worker maps: nothing is copied.
"""

from __future__ import annotations

import math
import mmap
import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from xebench.measuring.device_worker import start_worker
from xebench.measuring.messages import Done, Failed, Message, Ready, Upcoming
from xebench.measuring.prepare import find_pattern, make_problem
from xebench.measuring.problem_store import Data, ProblemStore
from xebench.patterns.problem import Problem
from xebench.system.children import Program
from xebench.system.children.worker import Parent, WorkerEnded, WorkerHung, WorkerProcess

#: It takes the time of cores that are free.
NICENESS: Final = 19
#: Where an array may begin in the file.
ALIGNED: Final = 4096


class MakeData(Message, frozen=True):
    """A family's problems with their references.

    Attributes:
        source, pattern: the pattern's file, and its name.
        parameters: of the family.
        seeds: of each problem.
        ranks: for which the references are; 0 for none.
    """

    source: str
    pattern: str
    parameters: Mapping[str, Any]
    seeds: Sequence[int]
    ranks: Sequence[int]


class DataMade(Message, frozen=True):
    """They were made; there is no such message where that failed, as it will for whoever needs them.

    Attributes:
        pid, descriptor: of the file.
        sizes: bytes of what lies in it, each at a multiple of `ALIGNED`: a pickle, and its buffers.
    """

    pid: int
    descriptor: int
    sizes: Sequence[int]


Request = MakeData

Answers = Ready | Done | Failed | DataMade


def prepare(device: str, parent: Parent) -> Callable[[MakeData], None]:
    """Return the function that makes the requested problems."""
    os.nice(NICENESS)
    held: list[int] = []

    def answer(request: MakeData) -> None:
        while held:  # the worker has mapped it, or has no use for it
            os.close(held.pop())
        with suppress(Exception):
            made = _made(request)
            held.append(os.memfd_create("xebench-problem"))
            parent.answers.send(DataMade(os.getpid(), held[0], _write(held[0], made)))

    return answer


def _made(request: MakeData) -> Any:
    """Of each problem what it is made of, and what is expected, by how many ranks."""
    pattern = find_pattern(request.source, request.pattern)
    made = []
    for seed in request.seeds:
        data = Data(make_problem(pattern, request.parameters, seed))
        made.append((vars(data.problem), {n: data.expected(pattern, request.parameters, n) for n in request.ranks}))
    return made


def _write(descriptor: int, value: Any) -> list[int]:
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    parts = [memoryview(head), *(buffer.raw() for buffer in buffers)]
    with open(descriptor, "wb", closefd=False) as file:
        for part in parts:
            file.seek(-(-file.tell() // ALIGNED) * ALIGNED)
            file.write(part)
    return [part.nbytes for part in parts]


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
