"""Rounds one after another, with a manager that does nothing but spend time."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import pytest

from xebench.measuring.case_rows import CaseResult, fixed_columns
from xebench.measuring.messages import Instance
from xebench.measuring.sampling import Sampling
from xebench.patterns.declaration import PatternInfo, VariantInfo
from xebench.patterns.plan import Family
from xebench.records.claim import Claim
from xebench.results.analysis.moderation import NOTHING, Prior
from xebench.runner.family_progress import FamilyProgress
from xebench.runner.resource_limits import RunBudget
from xebench.runner.round_plan import Round, RoundPlan
from xebench.runner.rounds import Rounds
from xebench.vocabulary import State, Status, StopReason

DEVICE = {"device": "opencl:cpu:0", "device_class": "cpu"}


def family(name: str) -> Family:
    variants = (VariantInfo("a", "naive", (), ""), VariantInfo("b", "optimized", (Claim("faster"),), ""))
    return Family(PatternInfo(name, "f", "g", "l", (), "device", {"smoke": {}}, {}, variants, "p.py"), "smoke", {}, {})


class FakeManager:
    """Each instance of a family has the next speed-up of its script and takes half a second; a round a second more."""

    device = DEVICE

    def __init__(self, sampling: Sampling, scripts: dict[str, list[float]], stopped_by: dict[str, str]) -> None:
        self.sampling, self.scripts, self.stopped_by = sampling, scripts, stopped_by
        self.now = 0.0
        self.asked: list[tuple[str, Round]] = []
        self.upcoming: list[list[str]] = []
        self.known: dict[str, FamilyProgress] = {}

    def prior(self, metric: str, state: str) -> Prior:
        return NOTHING

    def progress_of(self, family: Family) -> FamilyProgress | None:
        return self.known.get(family.title())

    def run_family(self, family: Family, planned: Round, budget_s: float, upcoming: Sequence[Family]) -> None:
        name = family.title()
        self.upcoming.append([family.pattern.name for family in upcoming])
        self.asked.append((name, planned))
        fixed = fixed_columns(family, DEVICE, seed=1)
        known = self.known.setdefault(name, FamilyProgress(family, fixed, self.sampling, 0))
        known.begin(planned)
        last = StopReason.BUDGET if planned.sampling_s >= known.rest_s else StopReason.ROUND
        ended = self.stopped_by.get(name, last)
        result = CaseResult(Status.INTERRUPTED, "cut") if ended == "cut" else CaseResult(Status.OK, "", ended)
        for variant in "ab":
            known.finish(variant, result)
        taken = [self.scripts[name].pop(0) for _ in range(planned.instances or 6) if self.scripts[name]]
        for speedup in taken:
            logs = {"b": [math.log(speedup)] * 10}
            known.add(Instance(number=0, state=State.HOT, speedups=logs, blocks=10, seconds=0.5))
        sampled_s = 0.5 * len(taken)
        known.end(sampled_s + 1.0)
        self.now += sampled_s + 1.0


class Told:
    """What progress is told."""

    def __init__(self) -> None:
        self.begun: list[tuple[int, int, str, float | None]] = []
        self.over: list[tuple[str, list[tuple[str, str]]]] = []

    def say(self, text: str) -> None: ...
    def stage(self, text: str) -> None: ...
    def variant(self, name: str) -> None: ...

    def family(self, done: int, total: int, name: str, left_s: float | None = None) -> None:
        self.begun.append((done, total, name, left_s))

    def finished(self, name: str, results: Sequence[tuple[str, str]]) -> None:
        self.over.append((name, list(results)))


def rounds_of(
    budget_s: float | None, scripts: dict[str, list[float]], **stopped_by: str
) -> tuple[Rounds, FakeManager, Told]:
    sampling = Sampling(budget_s=math.inf if budget_s else 9.0, few_instances=3)
    manager, told = FakeManager(sampling, scripts, stopped_by), Told()
    clock = lambda: manager.now  # noqa: E731
    fake: Any = manager
    rounds = RoundPlan(sampling, 6.0, budget_s)
    families = [family(name) for name in scripts]
    budget = RunBudget(budget_s, clock)
    return Rounds(families, fake, rounds, budget, told, held=nullcontext, clock=clock), manager, told


def test_time_goes_to_the_claim_that_is_open_and_what_is_sure_is_told_at_once() -> None:
    noisy = [0.7, 1.4, 0.8, 1.5, 0.9, 1.6] * 4
    run, manager, told = rounds_of(25.0, {"sure": [2.0] * 60, "open": noisy})
    unfinished = run.run()
    assert [name for name, _ in manager.asked][:2] == ["sure", "open"]
    later = [name for name, _ in manager.asked][2:]
    assert later and set(later) == {"open"}
    assert told.over[0] == ("sure", [("b", "2.00x")])
    assert [name for name, _ in told.over] == ["sure", "open"], "each is told once, what stays open at the end"
    assert manager.now <= 25.0
    assert (unfinished.never, unfinished.cut_off, unfinished.wide) == ([], 0, 2)


def test_what_the_time_is_not_enough_for_is_named() -> None:
    run, manager, told = rounds_of(2.0, {"slow": [2.0] * 9, "next": [2.0] * 9, "last": [2.0] * 9})
    unfinished = run.run()
    assert [name for name, _ in manager.asked] == ["slow"], "the half second that is left is too short for another"
    assert [one.pattern.name for one in unfinished.never] == ["next", "last"]
    assert unfinished.wide == 1
    assert [name for name, _ in told.over] == ["slow"]


def test_a_family_that_was_cut_off_or_is_known_has_no_more_rounds() -> None:
    run, manager, _ = rounds_of(60.0, {"cut": [], "known": [2.0] * 3}, cut="cut", known=StopReason.PRECISION)
    unfinished = run.run()
    assert [name for name, _ in manager.asked] == ["cut", "known"]
    assert (unfinished.never, unfinished.cut_off, unfinished.wide) == ([], 1, 0)


def test_others_come_before_families_whose_pattern_had_one_cut_off() -> None:
    run, manager, _ = rounds_of(60.0, {"cut": [], "cut size=2": [2.0] * 9, "known": [2.0] * 3}, cut="cut")
    pattern = run.families[0].pattern
    run.families = [run.families[0], Family(pattern, "smoke", {"size": 2}, {}), run.families[2]]
    run.run()
    assert [name for name, _ in manager.asked][:3] == ["cut", "known", "cut size=2"]


def test_without_a_budget_all_have_their_turn_and_the_time_left_is_estimated() -> None:
    run, manager, told = rounds_of(None, {"one": [2.0] * 6, "two": [2.0] * 6}, two=StopReason.PRECISION)
    manager.stopped_by["one"] = StopReason.MAX_BLOCKS
    run.run()
    assert [name for name, _ in manager.asked] == ["one", "two"]
    assert manager.upcoming[0] == [], "on a CPU device no core is free to make data meanwhile"
    assert [left_s for *_, left_s in told.begun] == [None, pytest.approx(2.0 * 3)]
    assert [(done, total) for done, total, *_ in told.begun] == [(0, 2), (1, 2)]


def test_beside_a_gpu_the_manager_is_told_which_families_are_likely_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(8))
    run, manager, _ = rounds_of(None, {"one": [2.0] * 6, "two": [2.0] * 6})
    monkeypatch.setattr(manager, "device", {**DEVICE, "device_class": "gpu"})
    run.run()
    assert [name for name, _ in manager.asked] == ["one", "two"] * 3
    assert manager.upcoming == [["two"], ["one"]] * 2 + [["two"], []]
