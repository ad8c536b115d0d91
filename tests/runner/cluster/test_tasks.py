"""Families as tasks, with a budget for the run: shares, what is given up, what is measured again. No scheduler."""

from __future__ import annotations

import queue
from concurrent.futures import Future
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from xebench.patterns.declaration import PatternInfo, VariantInfo
from xebench.patterns.plan import Family
from xebench.patterns.registry import portable_source
from xebench.runner.cluster.order import FamilyOrder, FamilyResult
from xebench.runner.cluster.tasks import LATE_S, Tasks
from xebench.runner.resource_limits import RunBudget
from xebench.vocabulary import Status


def family(name: str) -> Family:
    variants = (VariantInfo("a", "naive", (), ""),)
    return Family(
        PatternInfo(name, "f", "g", "l", (), "device", {"smoke": {}}, {}, variants, portable_source(__file__)),
        "smoke",
        {},
        {},
    )


class Cluster:
    """Stands for scheduler, workers, folder and progress: two devices that take their shares.

    Args:
        stuck: the second one never answers.
    """

    address = "here"
    device_class = "cpu"

    def __init__(self, *, stuck: bool = False) -> None:
        self.stuck, self.now = stuck, 0.0
        self.free = [0.0, 0.0]
        self.news: queue.PriorityQueue[Any] = queue.PriorityQueue()
        self.asked: list[FamilyOrder] = []
        self.given_up: list[tuple[str, str]] = []

    def get(self, timeout: float) -> list[Any]:
        if self.news.empty():
            self.now += timeout
            raise queue.Empty
        self.now, number, future = self.news.get()
        return ["done", number, "", future]

    def submit(self, order: Any, asked: FamilyOrder, device_class: str) -> Future[FamilyResult]:
        self.asked.append(asked)
        future: Future[FamilyResult] = Future()
        device = self.free.index(min(self.free))
        if device == 0 or not self.stuck:
            assert asked.share_s is not None
            self.free[device] = self.now + asked.share_s
            future.set_result(FamilyResult({"host": "h"}, (), 0, 0, (), wide=1))
            self.news.put((self.free[device], asked.number, future))
        else:
            self.free[device] = 1e9  # it never answers
        return future

    def run(self, names: str, seconds: float) -> Tasks:
        scheduler: Any = SimpleNamespace(
            submit=self.submit, news=self, check=lambda: None, cancel=lambda futures: None, address="here"
        )
        workers: Any = SimpleNamespace(
            look=lambda: False, note_gone=lambda: None, device_class="cpu", device_count=lambda: 2
        )
        folder: Any = SimpleNamespace(
            take=lambda family, result: None,
            give_up=lambda family, status, why: self.given_up.append((family.pattern.name, str(status))),
        )
        progress: Any = SimpleNamespace(family=lambda *told: None, finished=lambda *told: None)
        signals: Any = SimpleNamespace(held=nullcontext)
        budget = RunBudget(seconds, clock=lambda: self.now)
        order: Any = None
        tasks = Tasks([family(name) for name in names], scheduler, order, workers, folder, progress, signals, budget)
        tasks.run()
        return tasks


def test_devices_share_the_time_and_the_last_family_ends_with_it() -> None:
    cluster = Cluster()
    tasks = cluster.run("abcde", 60.0)
    assert [(one.number, one.share_s) for one in cluster.asked][:2] == [(0, 20.0), (1, 30.0)]
    assert len(cluster.asked) == 5
    assert cluster.now == pytest.approx(60.0), "no second is left, and none is taken beyond the budget"
    assert (tasks.lacking, tasks.wide, cluster.given_up) == (0, 5, [])


def test_a_worker_that_does_not_keep_to_its_share_is_not_waited_for() -> None:
    cluster = Cluster(stuck=True)
    tasks = cluster.run("abc", 60.0)
    assert cluster.now == pytest.approx(60.0 + LATE_S, abs=0.5)
    assert cluster.given_up == [("b", str(Status.INTERRUPTED))]
    assert (tasks.lacking, tasks.wide) == (1, 2)
