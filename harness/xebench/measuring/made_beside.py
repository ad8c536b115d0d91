"""Data of the next families, made by other processes while this one samples.

They open no device. What they make lies in files in memory, which the worker maps: nothing is copied.
"""

from __future__ import annotations

import math
import mmap
import os
import pickle
import sys
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from xebench.measuring.device_worker import NO_DEVICE, start_worker
from xebench.measuring.messages import Call, Done, OfFamily, Returned, Upcoming, pickled, unpickled
from xebench.measuring.prepare import find_pattern, make_problem
from xebench.measuring.printed import Printed
from xebench.measuring.problem_store import Data, ProblemStore, problem_key
from xebench.measuring.remote import BeginProblem
from xebench.patterns.problem import Problem
from xebench.system.children.worker import WorkerEnded, WorkerHung, WorkerProcess

#: Niceness of the processes: they use only idle cores.
NICENESS: Final = 19
#: Alignment of arrays in the file, in bytes.
ALIGNED: Final = 4096


class DataMade(NamedTuple):
    """A file with the data.

    Attributes:
        pid, descriptor: owner and descriptor of the file.
        sizes: sizes in bytes of its parts, each at a multiple of `ALIGNED`: a pickle and its buffers.
        output: what the pattern's code has printed.
    """

    pid: int
    descriptor: int
    sizes: Sequence[int]
    output: str


class DataMaker:
    """The part of another process: it makes data, on idle cores only."""

    def __init__(self) -> None:
        os.nice(NICENESS)
        self._held: list[int] = []

    def make(self, asked: BeginProblem) -> DataMade:
        """Put the fields of a problem, and the expected results by the number of ranks, into a file."""
        while self._held:  # the worker has mapped it, or has no use for it
            os.close(self._held.pop())
        printed = Printed()
        pattern = find_pattern(asked.source, asked.pattern)
        data = Data(make_problem(pattern, asked.parameters, asked.seed))
        counts = {variant.ranks for variant in pattern.variants.values()}
        made = vars(data.problem), {ranks: data.expected(pattern, asked.parameters, ranks) for ranks in counts}
        buffers: list[pickle.PickleBuffer] = []
        head = pickle.dumps(made, protocol=5, buffer_callback=buffers.append)
        parts = [memoryview(head), *(buffer.raw() for buffer in buffers)]
        self._held.append(os.memfd_create("xebench-problem"))
        with open(self._held[0], "wb", closefd=False) as file:
            for part in parts:
                file.seek(-(-file.tell() // ALIGNED) * ALIGNED)
                file.write(part)
        return DataMade(os.getpid(), self._held[0], [part.nbytes for part in parts], printed.take())


class MadeBeside:
    """Has data of the next families made by other processes, and puts them into a store.

    Args:
        store: store that receives the data.
        processes: number of processes; each makes the data of one family at a time.

    Attributes:
        store: the store.
    """

    def __init__(self, store: ProblemStore, processes: int) -> None:
        self.store = store
        self._idle: list[WorkerProcess[Any] | None] = [None] * processes  # each starts when it is needed
        self._busy: dict[Hashable, tuple[BeginProblem, WorkerProcess[Any]]] = {}  # by `problem_key`
        self._outputs: dict[Hashable, str] = {}

    def close(self) -> None:
        """End the processes."""
        for process in (*self._idle, *(process for _, process in self._busy.values())):
            if process is not None:
                process.close()

    def begin(self, families: Sequence[Upcoming], seeds: Sequence[int]) -> None:
        """Request the first data that the store lacks of each family, as far as processes are idle.

        Args:
            families: families in the order in which they are likely to come.
            seeds: seeds of their data.
        """
        for key in list(self._busy):
            self._take(key, 0.0)
        for family in families:
            pattern = find_pattern(family.source, family.pattern)
            lacking = [seed for seed in seeds if not self.store.has(pattern, family.parameters, seed)]
            if lacking and self._idle:
                key = problem_key(pattern, family.parameters, lacking[0])
                if key not in self._busy:
                    asked = BeginProblem(family.source, family.pattern, family.parameters, lacking[0])
                    self._busy[key] = asked, self._ask(asked)

    def take(self, family: OfFamily, seeds: Sequence[int]) -> None:
        """Put those of a family's data into the store that were requested, and print what their code has printed.

        Waits until they are made.
        """
        pattern = find_pattern(family.source, family.pattern)
        for seed in seeds:
            if (key := problem_key(pattern, family.parameters, seed)) in self._busy:
                self._take(key, math.inf)
            sys.stdout.write(self._outputs.pop(key, ""))

    def _ask(self, asked: BeginProblem) -> WorkerProcess[Any]:
        process = self._idle.pop()
        if process is None:
            limit = int(self.store.limit_bytes)  # with more it would take memory of the family that is sampled
            process = start_worker(NO_DEVICE, memory_limit_bytes=limit)
        process.ask(Call("make", pickled((asked,))))
        return process

    def _take(self, key: Hashable, timeout_s: float) -> None:
        """Put data into the store if they are made within this time."""
        asked, process = self._busy[key]
        try:
            while not isinstance(answer := process.listen(timeout_s), Done):
                if isinstance(answer, Returned) and not answer.raised:  # else this process meets the same error
                    self._put(asked, unpickled(answer))
        except WorkerHung:
            return
        except (WorkerEnded, OSError):  # the system may not let one process open a file of another
            process.close()  # this process makes what it needs, and finds out what is wrong with it
        else:
            self._idle.append(process)
        del self._busy[key]

    def _put(self, asked: BeginProblem, made: DataMade) -> None:
        pattern = find_pattern(asked.source, asked.pattern)
        problem, expected = _read(made)
        data = Data(Problem.__new__(Problem))
        vars(data.problem).update(problem)
        for ranks, own in expected.items():
            data.keep(pattern, asked.parameters, ranks, own)
        self.store.put(pattern, asked.parameters, asked.seed, data)
        self._outputs[problem_key(pattern, asked.parameters, asked.seed)] = made.output


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
