"""Measure every pair with every tool, within a limit of time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import asdict
from functools import partial
from itertools import groupby
from typing import Any, Final, Protocol

import numpy as np

from numba_sycl import device_func, kernel
from numba_sycl import kernel_api as kapi
from tools.studies import background_load
from tools.studies.noise.instruments import Observation, Program, Pyperf, best_of, pytest_benchmark, xebench
from tools.studies.noise.known_pairs import EXCESSES, Calibration, KnownPair, Plan, fit_line, repetition_pairs
from tools.studies.noise.tallies import BEST_OF, PRECISIONS, PYPERF, PYTEST, XEBENCH
from xebench.results.analysis.intervals import log_ratios, speedup
from xebench.results.analysis.statistics import Floats
from xebench.session.device_memory import DeviceMemory
from xebench.session.session import Session
from xebench.vocabulary import Outcome

GROUP: Final = 64
#: Wanted wall time of the shorter side. Launching and waiting are in it, and change from one moment to the next: at
#: 0.5 ms they were 5 %, and moved the true ratio of pairs that differ by 20 % by more than half of their interval.
LENGTH_NS: Final = 2_000_000
#: Lengths that are calibrated, relative to the shorter side: those of the pairs, and some far away.
LENGTHS: Final = (0.25, 0.5, *(1 + excess for excess in EXCESSES), 1.5)
#: Rounds of the calibration: before the study, and in each of its repetitions.
ROUNDS: Final = 100
ROUNDS_AGAIN: Final = 10


@device_func
def _steps(start: Any, factor: Any, trips: Any) -> Any:
    # each step needs the one before, and the factor is not known to the compiler: no step can be saved
    a = start
    for _ in range(trips):
        a = a * factor + start
    return a


@kernel
def _first(item: kapi.NdItem, x: Any, factor: Any, trips: Any) -> None:
    i = item.get_global_id(0)
    x[i] = _steps(np.float32(0.5), factor, trips)


@kernel
def _second(item: kapi.NdItem, x: Any, factor: Any, trips: Any) -> None:
    i = item.get_global_id(0)
    x[i] = _steps(np.float32(0.5), factor, trips)


_KERNELS: Final = (_first, _second)


class Subject:
    """The two kernels on a session.

    Args:
        session: Session on the device that everything is measured on.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        items = GROUP * max(1, int(session.device.max_compute_units))
        self._x = DeviceMemory(session.queue).upload(np.zeros(items, np.float32))
        self._space = kapi.NdRange((items,), (GROUP,))
        self._rounds: list[Floats] = []
        self._trips = 1000
        for _ in range(3):  # the first call compiles, the second shows the length, the third makes it exact
            time_ns = min(self.wall_ns(self._program(_first, self._trips)) for _ in range(5))
            self._trips = max(100, round(self._trips * LENGTH_NS / time_ns))
        self.wall_ns(self._program(_second, self._trips))

    def wall_ns(self, program: Program) -> int:
        """Host time of one execution, as xebench measures it."""
        return self.session.measure(program).host_ns

    def programs(self, pair: KnownPair) -> tuple[Program, Program]:
        """The two programs of a pair: each launches its kernel and waits until it is over."""
        longer = round(self._trips * (1 + pair.excess))
        trips = (longer, self._trips) if pair.answer == Outcome.FASTER else (self._trips, longer)
        kernels = _KERNELS[::-1] if pair.swapped else _KERNELS
        return self._program(kernels[0], trips[0]), self._program(kernels[1], trips[1])

    def alone(self, program: Program) -> Program:
        """The program for a tool that calls it itself, many times: the events of all calls must not gather."""

        def run() -> None:
            self.session.begin()
            program()

        return run

    def measure_lengths(self, rounds: int, source: random.Random) -> None:
        """Measure both kernels at several lengths, for the calibration.

        A round takes some milliseconds and holds every length, in random order. Lengths are compared within a round,
        since a processor's clock and its neighbours change from one round to another.
        """
        trips = [round(self._trips * length) for length in LENGTHS]
        cases = [(side, length) for side in range(len(_KERNELS)) for length in range(len(trips))]
        for _ in range(rounds):
            times = np.empty((len(_KERNELS), len(trips)))
            for side, length in source.sample(cases, len(cases)):
                times[side, length] = self.wall_ns(self._program(_KERNELS[side], trips[length]))
            self._rounds.append(times)

    def calibration(self) -> Calibration:
        """The line through the lengths in all rounds so far."""
        times = np.stack(self._rounds)
        shorter = times[:, :, LENGTHS.index(1.0)]
        relative = np.median(times / shorter[:, :, None], axis=(0, 1))
        line = fit_line(LENGTHS, relative, self._trips)
        kernels = speedup([log_ratios(shorter[:, 0], shorter[:, 1])])
        return Calibration(line, float(np.median(shorter)), kernels, LENGTHS, relative.tolist())

    def _program(self, kernel: Any, trips: int) -> Program:
        session, space, arguments = self.session, self._space, (self._x, np.float32(0.5), np.int64(trips))

        def run() -> None:
            session.launch(kernel, space, *arguments)
            session.wait()

        return run


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
        """Rows of the study's table for each repetition: one for each pair and tool, in the order of measurement;
        without the truth.

        The subject is calibrated before, and a little more in each repetition.

        Args:
            say: Called with the progress of the study.
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
