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
    """Answer by a function of the request and the number of the peer; messages go through their encoding."""

    is_alive = True

    def __init__(self, reply: Callable[[Any, int], Any], ranks: int = 0) -> None:
        from xebench.measuring.remote import RankIdentity

        self.ranks: Sequence[Any] = [RankIdentity(n, ranks, "MPI 5", "opencl:cpu:0") for n in range(ranks)]
        self.asked: list[str] = []
        self._reply = reply

    def ask(self, requests: Sequence[Any]) -> list[Any]:
        self.asked.append(type(requests[0]).__name__)
        return [self._reply(through_the_channel(request), number) for number, request in enumerate(requests)]

    def close(self) -> None:
        self.is_alive = False


def through_the_channel(message: Any) -> Any:
    import os

    from xebench.measuring.remote import Answers, Request
    from xebench.system.children.worker import Receiver, Sender

    reading, writing = os.pipe()
    try:
        Sender(writing).send(message)
        return Receiver(reading, Request | Answers).receive(1.0)
    finally:
        os.close(reading)
        os.close(writing)


def place(peers: FakePeers) -> Any:
    from xebench.measuring.remote import BeginProblem, RemotePlace

    return RemotePlace(peers, BeginProblem("file.py", "pattern", {"n": 8}, 1))


def measured(begin_ns: int) -> Any:
    from xebench.results.analysis.metrics import EventTimes
    from xebench.session.recorder import MeasuredSample

    return MeasuredSample(100, 0, [[EventTimes(None, 10, 20, "kernel", "k", 0)]], begin_ns=begin_ns)


def echo(request: Any, number: int) -> Any:
    """Results are what stood in the outputs, plus one."""
    from xebench.measuring import remote
    from xebench.measuring.place import Checked

    if isinstance(request, remote.Check):
        results = {name: array + 1 for name, array in (request.contents or {}).items()}
        return through_the_channel(Checked(measured(7 * number), results, [f"x{number}"]))
    if isinstance(request, remote.Sample):
        return through_the_channel(remote.Sampled(measured(7 * number)))
    return None


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.complex64, np.bool_])
def test_arrays_keep_type_and_shape_on_the_way(dtype: Any) -> None:
    from xebench.measuring.remote import Check

    contents = {"y": np.arange(6).reshape(2, 3).astype(dtype)}
    found = through_the_channel(Check("v", contents)).contents["y"]
    assert found.dtype == dtype and found.tolist() == contents["y"].tolist()


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
    assert peers.asked == ["Sample"], "hot ones cost one message"
    there.sample("v", 1, lambda: peers.asked.append("flush"))
    assert peers.asked[1:] == ["Reset", "flush", "Sample"]


def test_a_place_that_is_lost_has_changed_nothing_and_an_odd_reply_is_an_error() -> None:
    peers = FakePeers(echo)
    with pytest.raises(XebenchError, match="FindChanged was answered by NoneType"):
        place(peers).changed()
    peers.close()
    assert place(peers).changed() == () and not place(peers).is_there


def test_another_process_has_the_same_problem_or_is_refused() -> None:
    from xebench.measuring.places import FamilyPlaces
    from xebench.measuring.remote import BeginProblem, Begun
    from xebench.patterns.pattern import Variant

    peers = FakePeers(lambda request, number: Begun({"n": 16}))
    pool: Any = SimpleNamespace(get=lambda environment, ranks: peers)
    family = BeginProblem("file.py", "pattern", {"n": 16}, 1)
    variant = Variant("v", "naive", print, (), (), "", {"A": "1"})
    home: Any = object()
    there = FamilyPlaces(home, {"n": 16}, pool, family)
    assert there.of(variant) is there.of(variant) is not home
    assert there.of(Variant("w", "naive", print, (), (), "")) is home
    with pytest.raises(XebenchError, match=r"the problem has {'n': 16} there, {'n': 8} here"):
        FamilyPlaces(home, {"n": 8}, pool, family).of(variant)
