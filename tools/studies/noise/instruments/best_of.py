"""Best of n: the loop that people write, first the one program, then the other."""

from __future__ import annotations

import time

from tools.studies.noise.instruments.observation import Observation, Program, ProgramTimes


def best_of(first: Program, second: Program, budget_s: float) -> Observation:
    """Half the budget for each program, after one call that is not counted; the decision is left to the reader."""
    return Observation(_times(first, budget_s / 2), _times(second, budget_s / 2))


def _times(program: Program, budget_s: float) -> ProgramTimes:
    begin = time.perf_counter_ns()
    program()
    times: list[float] = []
    while len(times) < 2 or time.perf_counter_ns() - begin < budget_s * 1e9:
        start = time.perf_counter_ns()
        program()
        times.append(time.perf_counter_ns() - start)
    return ProgramTimes.of(times)
