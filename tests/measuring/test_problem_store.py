"""Problems and references that are made once in a worker."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from xebench import Problem, output
from xebench.errors import PatternError
from xebench.measuring.problem_store import ProblemStore

KIB = 1 << 10


#: A pattern has no rules of its own for results.
RULES: dict[str, Any] = {"canonical_form": None, "validate": None}


class Counted:
    """A pattern whose functions count their calls; its problem and its reference occupy 8 * n bytes each."""

    rtol, atol = 1e-6, 0.0
    canonical_form = validate = None

    def __init__(self, **fields: Any) -> None:
        self.calls: Counter[str] = Counter()
        self._fields = fields

    def make_problem(self, rng: np.random.Generator, n: int) -> Problem:
        self.calls["problem"] += 1
        return Problem(x=rng.random(int(n)), y=output(int(n), np.float64), **self._fields)

    def make_reference(self, problem: Any) -> dict[str, Any]:
        self.calls["reference"] += 1
        return {"y": problem.x + problem.stride}


def pattern(**fields: Any) -> Any:
    return Counted(**fields)


def test_rounds_share_a_problem_and_its_reference() -> None:
    store, own, parameters = ProblemStore(KIB), pattern(), {"n": 4, "stride": 1}
    first, again = (store.get(own, parameters, 1) for _ in range(2))
    assert first.problem is again.problem
    assert first.expected(own, parameters) is again.expected(own, parameters)
    assert own.calls == {"problem": 1, "reference": 1}
    assert first.expected(own, parameters).arrays["y"].tolist() == (first.problem.x + 1).tolist()


def test_families_share_what_the_problems_function_does_not_name_and_a_reference_sees_all() -> None:
    store, own = ProblemStore(KIB), pattern()
    stride_1, stride_2 = ({"n": 4, "stride": stride} for stride in (1, 2))
    one, other = store.get(own, stride_1, 1), store.get(own, stride_2, 1)
    assert one.problem is other.problem
    assert (other.expected(own, stride_2).arrays["y"] - one.expected(own, stride_1).arrays["y"]).round(9).tolist() == [
        1.0
    ] * 4
    assert own.calls == {"problem": 1, "reference": 2}


def test_patterns_share_a_function() -> None:
    store, first, parameters = ProblemStore(KIB), pattern(), {"n": 4, "stride": 1}
    other: Any = SimpleNamespace(
        make_problem=first.make_problem, make_reference=lambda p: {"y": -p.x}, rtol=0, atol=0, **RULES
    )
    data = store.get(other, parameters, 1)
    assert store.get(first, parameters, 1).problem is data.problem
    assert (data.expected(other, parameters).arrays["y"] == -data.problem.x).all()
    assert data.expected(first, parameters).rtol == 1e-6 and first.calls == {"problem": 1, "reference": 1}


@pytest.mark.parametrize(("parameters", "seed"), [({"n": 5}, 1), ({"n": 4}, 2), ({"n": True}, 1)])
def test_another_size_or_seed_is_another_problem(parameters: dict[str, Any], seed: int) -> None:
    store, own = ProblemStore(KIB), pattern()
    first = store.get(own, {"n": 1 if parameters["n"] is True else 4}, 1)
    assert store.get(own, parameters, seed).problem is not first.problem
    assert own.calls["problem"] == 2


def test_equal_keys_give_equal_data_after_they_were_forgotten() -> None:
    own = pattern()
    first, again = (ProblemStore(KIB).get(own, {"n": 4}, 1) for _ in range(2))
    assert first.problem is not again.problem and first.problem.x.tolist() == again.problem.x.tolist()


def test_what_was_used_least_recently_is_forgotten_first() -> None:
    store, own = ProblemStore(2 * KIB), pattern()
    small = [{"n": KIB // 8 - number, "stride": 1} for number in range(3)]
    first = store.get(own, small[0], 1)
    store.get(own, small[1], 1)
    assert store.get(own, small[0], 1) is first
    store.get(own, small[2], 1)  # no room for the second
    assert store.get(own, small[0], 1) is first and own.calls["problem"] == 3
    store.get(own, small[1], 1)
    assert own.calls["problem"] == 4


def test_references_count_as_memory_and_nothing_is_kept_beyond_the_limit() -> None:
    store, own, parameters = ProblemStore(KIB), pattern(), {"n": KIB // 8, "stride": 1}
    data = store.get(own, parameters, 1)
    assert data.nbytes == KIB and store.get(own, parameters, 1) is data
    data.expected(own, parameters)
    assert data.nbytes == 2 * KIB
    store.get(own, {"n": 1}, 1)
    assert store.get(own, parameters, 1) is not data
    assert ProblemStore(0).get(own, parameters, 1).problem.x.size == KIB // 8, "what is in use needs no room"


@pytest.mark.parametrize("field", [[1, 2], {"a": 1}, ([],)])
def test_what_a_variant_could_change_for_others_is_not_shared(field: Any) -> None:
    store, own = ProblemStore(KIB), pattern(field=field)
    first, again = (store.get(own, {"n": 4}, 1) for _ in range(2))
    assert first.problem is not again.problem


def test_a_shared_problem_that_is_not_the_one_that_was_asked_for_is_refused() -> None:
    store, own = ProblemStore(KIB), pattern(stride=16)
    store.get(own, {"n": 4, "stride": 16}, 1)
    with pytest.raises(PatternError, match=r"^the problem has stride=16 where stride=8 was set"):
        store.get(own, {"n": 4, "stride": 8}, 1)
