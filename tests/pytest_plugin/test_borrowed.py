"""What the plugin takes from pytest-benchmark without its promise: there, or one line that says what to do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from xebench.errors import XebenchError
from xebench.pytest_plugin import borrowed


def test_the_installed_pytest_benchmark_has_every_name(benchmark: BenchmarkFixture) -> None:
    borrowed.check(benchmark)
    benchmark.disabled = False  # as it is where tests run in several processes
    ticks = iter(range(1000))
    borrowed.set_timer(benchmark, lambda: next(ticks), 1.0)
    benchmark.disabled = False  # as it is in processes of xdist
    benchmark.pedantic(lambda: None, rounds=3)
    stats: Any = benchmark.stats
    assert stats.stats.data == [1, 1, 1], "it reads the timer that it was given"
    before = borrowed.max_time_s(benchmark)
    borrowed.shorten(benchmark, 0.5)
    assert borrowed.max_time_s(benchmark) == before / 2


def test_a_version_without_them_is_told_in_one_line() -> None:
    with pytest.raises(
        XebenchError, match=r"pytest-benchmark \S+ has no _precisions, _max_time, _mode, by .*: install"
    ) as told:
        borrowed.set_timer(SimpleNamespace(_timer=None), float)
    assert "\n" not in str(told.value)
