"""Data that another process makes are those that this one would make."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.device  # a pattern file needs the SYCL stack

FILES = Path(__file__).parents[1] / "faulty"
CARELESS = str(FILES / "careless_patterns.py")
SEEDS = (3, 4)


@pytest.fixture
def beside() -> Iterator[Any]:
    from xebench.measuring.made_beside import MadeBeside
    from xebench.measuring.problem_store import ProblemStore

    made = MadeBeside(ProblemStore(1 << 30), 2)
    yield made
    made.close()


def test_problems_and_references_are_the_same_and_cannot_be_written(beside: Any, monkeypatch: Any) -> None:
    from xebench.measuring import problem_store
    from xebench.measuring.messages import Upcoming
    from xebench.measuring.prepare import find_pattern

    pattern, parameters = find_pattern(CARELESS, "until_done"), {"n": 64}
    here = problem_store.ProblemStore(1 << 30)
    first = Upcoming(CARELESS, "until_done", parameters)
    of_others = [Upcoming(CARELESS, name, parameters) for name in ("written_in_part", "any_order")]
    beside.begin([first, *of_others], SEEDS)
    for each in (*of_others[::-1], first):
        beside.take(each, SEEDS)
    made = [beside.store.has(find_pattern(CARELESS, each.pattern), parameters, SEEDS[0]) for each in of_others]
    assert made == [True, False], "two processes were busy: the third family's data are made when they are needed"
    assert not beside.store.has(pattern, parameters, SEEDS[1]), "a first round seldom needs the second data"
    beside.begin([first], SEEDS)
    beside.take(first, SEEDS)
    wanted = [here.get(pattern, parameters, seed) for seed in SEEDS]
    references = [data.expected(pattern, parameters) for data in wanted]
    monkeypatch.setattr(problem_store, "make_problem", None)
    monkeypatch.setattr(problem_store, "expected_of", None)
    for seed, own, reference in zip(SEEDS, wanted, references, strict=True):
        data = beside.store.get(pattern, parameters, seed)
        assert data.problem.fields.keys() == own.problem.fields.keys()
        for name, field in own.problem.fields.items():
            found = data.problem.fields[name]
            if isinstance(field, np.ndarray):
                assert found.tobytes() == field.tobytes() and found.dtype == field.dtype
                with pytest.raises(ValueError, match="WRITEABLE"):
                    found.setflags(write=True)
            else:
                assert found == field
        expected = data.expected(pattern, parameters)
        assert all(np.array_equal(expected.arrays[name], array) for name, array in reference.arrays.items())
        assert (expected.rtol, expected.fills) == (reference.rtol, reference.fills)


def test_what_cannot_be_made_is_left_to_who_needs_it(beside: Any) -> None:
    from xebench.measuring.messages import Upcoming
    from xebench.measuring.prepare import find_pattern

    parameters = {"n": "a word"}
    family = Upcoming(CARELESS, "until_done", parameters)
    beside.begin([family], SEEDS)
    beside.take(family, SEEDS)
    assert not beside.store.has(find_pattern(CARELESS, "until_done"), parameters, SEEDS[0])
    family = Upcoming(CARELESS, "until_done", {"n": 8})
    beside.begin([family], SEEDS)
    beside.take(family, SEEDS)
    assert beside.store.has(find_pattern(CARELESS, "until_done"), {"n": 8}, SEEDS[0])


def test_families_with_one_problem_have_it_made_once(beside: Any) -> None:
    from xebench.measuring.messages import Upcoming
    from xebench.measuring.prepare import find_pattern

    families = [Upcoming(CARELESS, "until_done", {"n": 8, "work_group_size": size}) for size in (16, 32)]
    other = Upcoming(CARELESS, "written_in_part", {"n": 8})
    beside.begin([*families, other], SEEDS)
    beside.take(other, SEEDS)
    assert beside.store.has(find_pattern(CARELESS, "written_in_part"), {"n": 8}, SEEDS[0])
    beside.take(families[1], SEEDS)
    assert beside.store.has(find_pattern(CARELESS, "until_done"), families[0].parameters, SEEDS[0])
