"""Problems, their references and second data sets, kept in a worker: each is made once for all families and visits.

Families differ in axes that many problem functions do not name, patterns share such functions, and a family is visited
several times.

Both are written into the same arrays in turn. So whatever is kept is stale when a variant is checked: results, pointers
with what was computed of them, and answers on the host. Further ones have no reference: they are only timed.

Data of the next family are made by another process while this one samples. It opens no device. What it makes lies in a
file in memory, which the worker maps: nothing is copied.
"""

from __future__ import annotations

import math
import mmap
import os
import pickle
from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from xebench.measuring.bound_problem import host_view
from xebench.measuring.correctness import Expected, expected_of
from xebench.measuring.data_sets import seed_of
from xebench.measuring.device_worker import NO_DEVICE, start_worker
from xebench.measuring.messages import Call, Done, Returned, Upcoming, pickled, unpickled
from xebench.measuring.place import accepted_parameters
from xebench.measuring.prepare import check_parameters, find_pattern, make_problem
from xebench.measuring.random_numbers import Maker
from xebench.patterns.pattern import Pattern
from xebench.patterns.problem import InOut, Problem
from xebench.system.children.worker import WorkerEnded, WorkerHung, WorkerProcess

#: Share of a worker's memory limit for the store.
PART: Final = 0.25


class Data:
    """A problem with the references that were computed of it.

    Attributes:
        problem: problem on the host, with read-only arrays.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._expected: dict[Hashable, Expected] = {}

    def expected(self, pattern: Pattern, parameters: Mapping[str, Any], ranks: int = 0) -> Expected:
        """The results that a variant with so many ranks must write; computed once.

        Raises:
            UnusableReference: the reference cannot serve.
        """
        key = _of_reference(pattern, parameters, ranks)
        if key not in self._expected:
            view = host_view(self.problem, parameters)
            self._expected[key] = expected_of(pattern, view, self.problem, ranks)
        return self._expected[key]

    def keep(self, pattern: Pattern, parameters: Mapping[str, Any], ranks: int, expected: Expected) -> None:
        """Take what another process has computed."""
        self._expected[_of_reference(pattern, parameters, ranks)] = expected

    @property
    def nbytes(self) -> int:
        """Host memory that its arrays occupy."""
        fields = (field.initial if isinstance(field, InOut) else field for field in self.problem.fields.values())
        own = sum(field.nbytes for field in fields if isinstance(field, np.ndarray))
        return own + sum(expected.nbytes for expected in self._expected.values())

    def can_be_shared(self) -> bool:
        """True if no variant can change it for another family, as it could change lists."""
        fields = self.problem.fields.values()
        return all(isinstance(field, np.ndarray | InOut) or _is_hashable(field) for field in fields)


class ProblemStore:
    """Keeps the most recent problems, as far as memory allows.

    Args:
        limit_bytes: memory limit in addition to data in use.
        device: see `make_problem`.
    """

    def __init__(self, limit_bytes: float, device: Maker | None = None) -> None:
        self.limit_bytes = limit_bytes
        self._device = device
        self._kept: OrderedDict[Hashable, Data] = OrderedDict()

    def get(self, pattern: Pattern, parameters: Mapping[str, Any], seed: int) -> Data:
        """The data of a family, made if they are missing.

        Args:
            pattern: pattern of the family.
            parameters: parameters of the family.
            seed: seed of the data.

        Raises:
            PatternError: see `make_problem`.
        """
        key = _of_problem(pattern, parameters, seed)
        if key not in self._kept:
            self._make_room()
            data = Data(self.make(pattern, parameters, seed))
            if not data.can_be_shared():
                return data
            self._kept[key] = data
        self._kept.move_to_end(key)
        data = self._kept[key]
        check_parameters(data.problem, parameters)
        self._make_room()
        return data

    def make(self, pattern: Pattern, parameters: Mapping[str, Any], seed: int) -> Problem:
        """A problem that is not kept; see `make_problem`."""
        return make_problem(pattern, parameters, seed, self._device)

    def has(self, pattern: Pattern, parameters: Mapping[str, Any], seed: int) -> bool:
        """True if these data are in the store."""
        return _of_problem(pattern, parameters, seed) in self._kept

    def put(self, pattern: Pattern, parameters: Mapping[str, Any], seed: int, data: Data) -> None:
        """Take what another process has made, where no variant can change it for another family."""
        if data.can_be_shared():
            self._make_room()
            self._kept[_of_problem(pattern, parameters, seed)] = data

    def _make_room(self) -> None:
        """Remove the least recently used data, until the rest is within the limit."""
        sizes = {key: data.nbytes for key, data in self._kept.items()}
        while sum(sizes.values()) > self.limit_bytes:
            key, _ = self._kept.popitem(last=False)
            del sizes[key]


def _of_problem(pattern: Pattern, parameters: Mapping[str, Any], seed: int) -> Hashable:
    assert pattern.make_problem is not None
    return pattern.make_problem, _values(accepted_parameters(pattern.make_problem, parameters)), seed


def _of_reference(pattern: Pattern, parameters: Mapping[str, Any], ranks: int) -> Hashable:
    # a reference sees every parameter, including those that the problem's function does not name
    return pattern.make_reference, pattern.rtol, pattern.atol, _values(parameters), ranks


def _values(parameters: Mapping[str, Any]) -> str:
    """Parameters as a key that distinguishes 1, 1.0 and True."""
    return repr(sorted(parameters.items()))


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def second_of(
    store: ProblemStore, pattern: Pattern, parameters: Mapping[str, Any], seed: int, ranks: Collection[int]
) -> Data | None:
    """The second data of a family, of the seed that follows; None where a pattern refuses that, or memory is short."""
    with suppress(Exception):
        second = store.get(pattern, parameters, seed_of(seed, 1))
        for count in ranks:
            second.expected(pattern, parameters, count)
        return second
    return None


#: Niceness of the process: it uses only idle cores.
NICENESS: Final = 19
#: Alignment of arrays in the file, in bytes.
ALIGNED: Final = 4096


@dataclass(frozen=True)
class Asked:
    """A family's problems with their references.

    Attributes:
        source, pattern: file and name of the pattern.
        parameters: parameters of the family.
        seeds: seed of each problem.
        ranks: numbers of ranks that need references; 0 for no ranks.
    """

    source: str
    pattern: str
    parameters: Mapping[str, Any]
    seeds: Sequence[int]
    ranks: Sequence[int]


class DataMade(NamedTuple):
    """A file with the data.

    Attributes:
        pid, descriptor: owner and descriptor of the file.
        sizes: sizes in bytes of its parts, each at a multiple of `ALIGNED`: a pickle and its buffers.
    """

    pid: int
    descriptor: int
    sizes: Sequence[int]


class DataMaker:
    """The other process's part: it makes data, on idle cores only."""

    def __init__(self) -> None:
        os.nice(NICENESS)
        self._held: list[int] = []

    def make(self, asked: Asked) -> DataMade:
        """Put the fields of each problem, and the expected results by the number of ranks, into a file."""
        while self._held:  # the worker has mapped it, or has no use for it
            os.close(self._held.pop())
        pattern = find_pattern(asked.source, asked.pattern)
        made = []
        for seed in asked.seeds:
            data = Data(make_problem(pattern, asked.parameters, seed))
            expected = {ranks: data.expected(pattern, asked.parameters, ranks) for ranks in asked.ranks}
            made.append((vars(data.problem), expected))
        buffers: list[pickle.PickleBuffer] = []
        head = pickle.dumps(made, protocol=5, buffer_callback=buffers.append)
        parts = [memoryview(head), *(buffer.raw() for buffer in buffers)]
        self._held.append(os.memfd_create("xebench-problem"))
        with open(self._held[0], "wb", closefd=False) as file:
            for part in parts:
                file.seek(-(-file.tell() // ALIGNED) * ALIGNED)
                file.write(part)
        return DataMade(os.getpid(), self._held[0], [part.nbytes for part in parts])


class MadeBeside:
    """Requests one family's data at a time from another process, and puts them into a store.

    Args:
        store: store that receives the data.

    Attributes:
        store: the store.
    """

    def __init__(self, store: ProblemStore) -> None:
        self.store = store
        self._process: WorkerProcess[Any] | None = None
        self._asked: Asked | None = None
        self._has_ended = False

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.close()

    def begin(self, family: Upcoming, seeds: Sequence[int]) -> None:
        """Request the first of a family's data that the store lacks, unless others are still being made."""
        self._take(0.0)
        pattern = find_pattern(family.source, family.pattern)
        lacking = [seed for seed in seeds if not self.store.has(pattern, family.parameters, seed)]
        if not lacking or self._asked is not None or self._has_ended:
            return
        if self._process is None:
            limit = int(self.store.limit_bytes)  # with more it would take memory of the family that is sampled
            self._process = start_worker(NO_DEVICE, memory_limit_bytes=limit)
        ranks = sorted({variant.ranks for variant in pattern.variants.values()})
        self._asked = Asked(family.source, family.pattern, family.parameters, lacking[:1], ranks)
        self._process.ask(Call("make", pickled((self._asked,))))

    def take(self, source: str, pattern: str) -> None:
        """Put a pattern's data into the store if they were requested; waits until they are made."""
        if self._asked is not None and (self._asked.source, self._asked.pattern) == (source, pattern):
            self._take(math.inf)

    def _take(self, timeout_s: float) -> None:
        if self._asked is None or self._process is None:
            return
        try:
            while not isinstance(answer := self._process.listen(timeout_s), Done):
                if isinstance(answer, Returned) and not answer.raised:  # else this process meets the same error
                    self._put(self._asked, unpickled(answer))
        except WorkerHung:
            return
        except (WorkerEnded, OSError):  # the system may not let one process open a file of another
            self._has_ended = True  # this process makes what it needs, and finds out what is wrong with it
        self._asked = None

    def _put(self, asked: Asked, made: DataMade) -> None:
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
