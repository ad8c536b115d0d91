"""Measure every pair with every tool, within a limit of time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import asdict
from functools import partial
from itertools import groupby
from typing import Any, Protocol

from tools.studies.noise.instruments.best_of import best_of
from tools.studies.noise.instruments.observation import Observation, Program
from tools.studies.noise.instruments.pyperf_runner import Pyperf
from tools.studies.noise.instruments.pytest_bench import pytest_benchmark
from tools.studies.noise.instruments.xebench import xebench
from tools.studies.noise.known_pairs import KnownPair, Plan, repetition_pairs
from tools.studies.noise.load import background_load
from tools.studies.noise.rules import BEST_OF, PRECISIONS, PYPERF, PYTEST, XEBENCH
from tools.studies.noise.subject import ROUNDS, ROUNDS_AGAIN, Subject

Row = dict[str, Any]
Say = Callable[[str], None]


class Tool(Protocol):
    """Compares two programs within a number of seconds."""

    def __call__(self, first: Program, second: Program, budget_s: float) -> Observation: ...


class Study:
    """The tools on one subject.

    Args:
        subject: What is measured.
        device_class: gpu or cpu.
        plan: How much to measure.
    """

    def __init__(self, subject: Subject, device_class: str, plan: Plan) -> None:
        self._subject = subject
        self._device_class = device_class
        self._plan = plan
        self._pyperf = Pyperf()

    def repetitions(self, say: Say, clock: Callable[[], float] = time.monotonic) -> Iterator[list[Row]]:
        """For each repetition its rows of the study's table: one for each pair and tool, in the order of measurement;
        without the truth.

        The subject is calibrated before, and a little more in each repetition.

        Args:
            say: Told how far the study is.
            clock: Seconds.
        """
        begin, source = clock(), random.Random(self._plan.seed)
        self._subject.measure_lengths(ROUNDS, source)
        for done in range(self._plan.repetitions):
            spent = clock() - begin
            if done and spent * (done + 1) / done > self._plan.limit_s:
                say(f"ended after {done} repetitions: the next would pass the limit of {self._plan.limit_s:g} s")
                return
            self._subject.measure_lengths(ROUNDS_AGAIN, source)
            yield list(self._repetition(self._plan.first + done))
            say(f"repetition {done + 1} of {self._plan.repetitions}, {clock() - begin:.0f} s")

    def _repetition(self, number: int) -> Iterator[Row]:
        for condition, pairs in groupby(repetition_pairs(number, self._plan.seed), lambda pair: pair.condition):
            if condition not in self._plan.conditions:
                continue
            with background_load(self._plan.seed + number) if condition == "load" else nullcontext():
                for pair in pairs:
                    yield from self._pair(pair)

    def _pair(self, pair: KnownPair) -> Iterator[Row]:
        tools = self._tools(pair)
        order = random.Random(pair.seed).sample(sorted(tools), len(tools))
        programs = self._subject.programs(pair)
        alone = self._subject.alone(programs[0]), self._subject.alone(programs[1])
        for position, name in enumerate(order):
            begin = time.monotonic()
            observation = tools[name](*(programs if name in PRECISIONS else alone), self._plan.seconds_per_pair)
            yield {
                **asdict(pair),
                "tool": name,
                "position": position,
                "seconds": time.monotonic() - begin,
                **observation.row(),
            }

    def _tools(self, pair: KnownPair) -> Mapping[str, Tool]:
        ours = partial(xebench, wall_ns=self._subject.wall_ns, seed=pair.seed)
        arms = {name: partial(ours, precision=precision) for name, precision in PRECISIONS.items()}
        if pair.alone:
            return {XEBENCH: arms[XEBENCH]}
        return {**arms, PYTEST: pytest_benchmark, PYPERF: self._pyperf, BEST_OF: best_of}
