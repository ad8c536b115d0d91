"""A process that makes problems and their references for a worker, which samples another family meanwhile.

It opens no device. What it makes lies in a file in memory, which the worker maps: nothing is copied.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from xebench.measuring.messages import Done, Failed, Message, Ready
from xebench.measuring.prepare import find_pattern, make_problem
from xebench.measuring.problem_store import Data
from xebench.system.children.parent import Parent

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
