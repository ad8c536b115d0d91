"""A place in other processes, with peers that answer at once: what each is asked, and what is made of the replies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from xebench.errors import XebenchError

pytestmark = pytest.mark.device  # importing the messages loads dpctl


class FakePeers:
    """Answer by a function of the method, its arguments and the number of the peer; all of them as another process."""

    is_alive = True

    def __init__(self, answer: Callable[[str, tuple[Any, ...], int], Any], ranks: int = 0) -> None:
        from xebench.measuring.remote import RankIdentity

        self.ranks: Sequence[Any] = [RankIdentity(n, ranks, "MPI 5", "opencl:cpu:0") for n in range(ranks)]
        self.asked: list[str] = []
        self._answer = answer

    def call(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        self.asked.append(method)
        return [through_the_channel(self._answer(method, own, number)) for number, own in enumerate(arguments)]

    def close(self) -> None:
        self.is_alive = False


def through_the_channel(value: Any) -> Any:
    import os

    from xebench.measuring.messages import Returned, WorkerMessage, pickled, unpickled
    from xebench.system.children.worker import Receiver, Sender

    reading, writing = os.pipe()
    try:
        Sender(writing).send(Returned(pickled(value)))
        receiver: Receiver[Any] = Receiver(reading, WorkerMessage)
        answer: Any = receiver.receive(1.0)
        return unpickled(answer)
    finally:
        os.close(reading)
        os.close(writing)


def place(peers: FakePeers) -> Any:
    from xebench.measuring.remote import BeginProblem, RemotePlace

    return RemotePlace(peers, BeginProblem("file.py", "pattern", {"n": 8}, 1))


def measured(begin_ns: int) -> Any:
    from xebench.records.events import EventTimes
    from xebench.session.recorder import MeasuredSample

    return MeasuredSample(100, 0, [[EventTimes(None, 10, 20, "kernel", "k", 0)]], begin_ns=begin_ns)


def echo(method: str, arguments: tuple[Any, ...], number: int) -> Any:
    """Results are what stood in the outputs, plus one."""
    from xebench.measuring.place import Checked

    if method == "check":
        results = {name: array + 1 for name, array in (arguments[1] or {}).items()}
        return Checked(measured(7 * number), results, [f"x{number}"])
    return measured(7 * number) if method == "sample" else None


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.complex64, np.bool_])
def test_arrays_keep_type_and_shape_on_the_way(dtype: Any) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype)
    found = through_the_channel({"y": array})["y"]
    assert found.dtype == dtype and found.tolist() == array.tolist()


def test_an_exception_arrives_as_it_was_raised() -> None:
    from xebench.measuring.messages import Returned, pickled, unpickled

    with pytest.raises(KeyError, match="7"):
        unpickled(Returned(pickled(KeyError("7")), raised=True))


def test_one_process_has_what_the_variant_writes() -> None:
    checked = place(FakePeers(echo)).check("v", {"y": np.zeros(3)})
    assert checked.results["y"].tolist() == [1, 1, 1]
    assert checked.changed == ["x0"]
    assert checked.measured == measured(0)


def test_ranks_have_each_their_part_and_are_measured_together() -> None:
    checked = place(FakePeers(echo, ranks=2)).check("v", {"y": np.array([[1, 2], [3, 4]])})
    assert checked.results["y"].tolist() == [[2, 3], [4, 5]], "the rank is the first index"
    assert checked.changed == ["x0", "x1"]
    assert checked.measured.host_ns == 107, "from the beginning of the first until the last is done"
    assert [command.mpi_rank for command in checked.measured.events] == [0, 1]


def test_caches_are_flushed_between_setting_back_and_the_sample() -> None:
    peers = FakePeers(echo)
    there = place(peers)
    there.sample("v", 2)
    assert peers.asked == ["sample"], "hot ones cost one message"
    there.sample("v", 1, lambda: peers.asked.append("flush"))
    assert peers.asked[1:] == ["reset", "flush", "sample"]


def test_a_place_that_is_lost_has_changed_nothing() -> None:
    peers = FakePeers(lambda method, arguments, number: ["x"])
    assert place(peers).changed() == ["x"]
    peers.close()
    assert place(peers).changed() == () and not place(peers).is_there


def test_another_process_has_the_same_problem_or_is_refused() -> None:
    from xebench.measuring.places import FamilyPlaces
    from xebench.measuring.remote import BeginProblem
    from xebench.patterns.pattern import Variant

    peers = FakePeers(lambda method, arguments, number: {"n": 16})
    pool: Any = SimpleNamespace(get=lambda environment, ranks: peers)
    family = BeginProblem("file.py", "pattern", {"n": 16}, 1)
    variant = Variant("v", "naive", print, (), (), "", {"A": "1"})
    home: Any = object()
    there = FamilyPlaces(home, {"n": 16}, pool, family)
    assert there.of(variant) is there.of(variant) is not home
    assert there.of(Variant("w", "naive", print, (), (), "")) is home
    with pytest.raises(XebenchError, match=r"the problem has {'n': 16} there, {'n': 8} here"):
        FamilyPlaces(home, {"n": 8}, pool, family).of(variant)
