"""When a family has a second data set, and what further ones are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xebench import Pattern, Problem, inout, output
from xebench.measuring.data_sets import DataSets, same_form
from xebench.measuring.problem_store import ProblemStore, second_of

SIZES = {"smoke": {"n": 4}, "default": {"n": 4}}


def pattern_of(problem: Any, reference: Any = lambda p: {"y": 2 * p.x}) -> Pattern:
    pattern = Pattern("p", guide="none", lesson="None.", presets=SIZES)
    pattern.problem(problem)
    pattern.reference(reference)
    return pattern


def second(pattern: Pattern, limit_bytes: float = 1e6) -> Any:
    store = ProblemStore(limit_bytes)
    first = store.get(pattern, {"n": 4}, 1)
    for ranks in (0,):
        first.expected(pattern, {"n": 4}, ranks)
    return second_of(store, pattern, {"n": 4}, 1, first, {0})


def in_and_out(rng: Any, n: int, **fields: Any) -> Problem:
    return Problem(x=rng.random(n), y=output(n, np.float64), **fields)


def test_the_second_has_the_next_seed() -> None:
    pattern = pattern_of(in_and_out)
    found = second(pattern)
    assert found.problem.x.tolist() == np.random.Generator(np.random.Philox(2)).random(4).tolist()


@pytest.mark.parametrize(
    "problem",
    [
        lambda rng, n: Problem(x=np.arange(1.0, 5.0), y=output(n, np.float64)),
        lambda rng, n: in_and_out(rng, n, steps=int(rng.integers(1 << 40))),
        lambda rng, n: in_and_out(rng, n, places=rng.random(int(rng.integers(1, 1 << 16)))),
        lambda rng, n: in_and_out(rng, n, rows=(rng.random(2), 1)),
    ],
)
def test_there_is_none_that_shows_nothing_or_cannot_be_swapped(problem: Any) -> None:
    assert second(pattern_of(problem)) is None


def test_there_is_none_where_two_are_too_large_or_have_no_reference() -> None:
    assert second(pattern_of(in_and_out), limit_bytes=100) is None
    calls: list[int] = []

    def once(p: Any) -> Any:
        calls.append(1)
        return {"y": 2 * p.x} if len(calls) == 1 else None

    assert second(pattern_of(in_and_out, once)) is None


def test_what_is_alike_differs_in_elements_alone() -> None:
    def problem(**changed: Any) -> Problem:
        fields = {"x": np.zeros(3), "s": inout(np.zeros(2)), "y": output(3, int), "k": 3, "words": ("a", 1)}
        return Problem(**{**fields, **changed})

    assert same_form(problem(), problem(x=np.ones(3), s=inout(np.ones(2))))
    for changed in ({"x": np.zeros(4)}, {"x": np.zeros(3, int)}, {"s": inout(np.zeros(3))}, {"k": 4}, {"more": 1}):
        assert not same_form(problem(), problem(**changed)), changed


def test_further_ones_are_made_when_they_are_asked_for_and_the_last_is_kept() -> None:
    made: list[int] = []

    def make(seed: int) -> Problem:
        made.append(seed)
        if seed == 19:
            raise MemoryError
        return Problem(x=np.full(3 if seed != 18 else 4, seed))

    sets = DataSets(make, 10, 2)
    assert [sets[number].x[0] for number in (0, 1, 7, 7, 0, 1)] == [10, 11, 17, 17, 10, 11]
    assert made == [10, 11, 17]
    assert sets[8].x[0] == 10, "it is not alike"
    assert sets[9].x[0] == 11, "it does not fit into memory"
    assert sets[7].x[0] == 17 and made[-1] == 17
