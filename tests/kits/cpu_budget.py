"""A budget of processor time, children included: what makes the suite slow fails on the day that it comes.

Budgets are relative to a loop that is timed then and there, so they depend neither on the machine's speed nor on its
load. Machines of more than `MOST_CORES` have none, since the CPU device's threads spin on each core while they wait.
Shared fixtures count in the suite's time, but not in that of the test that happens to be the first to use them. Tests
marked ``nightly`` or ``optional`` have no budget, nor has a suite with some of them.
"""

from __future__ import annotations

import math
import os
import resource
import time
from collections.abc import Generator
from statistics import median
from typing import Any, Final

import pytest

#: Seconds, where the loop takes `LOOP_S`.
TEST_S: Final = 20.0
SUITE_S: Final = 1500.0
#: The loop's processor time on a virtual core of an AMD EPYC with Python 3.11, where the budgets were set.
LOOP_S: Final = 0.13
EXEMPT: Final = ("nightly", "optional")
MOST_CORES: Final = 4


def used_s(*whose: int) -> float:
    """Processor time, by default of this process and of the children that it has waited for."""
    whose = whose or (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, whose))


def slowness() -> float:
    """How many times as long as where the budgets were set the loop takes here and now."""
    begin = time.thread_time()
    sum(i * i for i in range(1_500_000))
    return (time.thread_time() - begin) / LOOP_S


class CpuBudget:
    """The plug-in; pytest-xdist has one in each worker and one that adds up their times.

    Args:
        test_s: budget of a test.
        suite_s: budget of all tests together.
        cores: number of cores that the tests may use.
    """

    def __init__(self, test_s: float = TEST_S, suite_s: float = SUITE_S, cores: int | None = None) -> None:
        if (cores or len(os.sched_getaffinity(0))) > MOST_CORES:
            test_s = suite_s = math.inf
        self._test_s = test_s
        self._suite_s = suite_s
        self._slowness: list[float] = []
        self._of_workers_s = 0.0
        self._is_exempt = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        begin = used_s()
        yield
        spent = used_s() - begin
        if spent > self._test_s / 2 and not any(map(item.get_closest_marker, EXEMPT)):
            budget = self._test_s * slowness()
            if spent > budget:
                pytest.fail(
                    f"it takes {spent:.1f} s of processor time, and a test has {budget:.1f} s: make it do less, or "
                    "mark it nightly (CONTRIBUTING.md)",
                    pytrace=False,
                )

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._slowness.append(slowness())
        self._is_exempt = any(item.get_closest_marker(mark) for item in session.items for mark in EXEMPT)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        spent_s, measured, is_exempt = getattr(node, "workeroutput", {}).get("cpu_budget", (0.0, [], False))
        self._of_workers_s += spent_s
        self._slowness += measured
        self._is_exempt |= is_exempt

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._slowness.append(slowness())
        if (output := getattr(session.config, "workeroutput", None)) is not None:
            output["cpu_budget"] = used_s(), self._slowness, self._is_exempt
        elif self._spent_s > self._budget_s and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._slowness:
            budget = f" of {self._budget_s:.0f} s" if self._budget_s < math.inf else ""
            excess = ", too much: mark some nightly (CONTRIBUTING.md)" if self._spent_s > self._budget_s else ""
            terminalreporter.line(f"processor time: {self._spent_s:.0f} s{budget}{excess}")

    @property
    def _spent_s(self) -> float:
        """Of the whole session; of workers it is what they told, as they may not have ended yet."""
        return used_s(resource.RUSAGE_SELF) + self._of_workers_s if self._of_workers_s else used_s()

    @property
    def _budget_s(self) -> float:
        return math.inf if self._is_exempt else self._suite_s * median(self._slowness)
