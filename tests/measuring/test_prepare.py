"""The problem and the reference of a pattern, on the host."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from xebench import Problem, inout, output
from xebench.errors import PatternError
from xebench.measuring.array_check import UnusableReference
from xebench.measuring.bound_problem import host_view
from xebench.measuring.prepare import make_problem, make_reference
from xebench.vocabulary import GENERATOR


def pattern(**functions: Any) -> Any:
    return SimpleNamespace(**functions)


def test_a_problems_arrays_are_copies_that_cannot_be_written() -> None:
    own, start = np.arange(6.0).reshape(2, 3).T, np.zeros(2)
    problem = make_problem(
        pattern(make_problem=lambda rng, n: Problem(x=own, s=inout(start), y=output(n, int))), {"n": 2}, 1
    )
    view = host_view(problem, {"n": 2})
    own += 1
    start += 1
    assert view.x.tolist() == [[0, 3], [1, 4], [2, 5]] and view.s.tolist() == [0, 0]
    for array in (view.x, view.s):
        assert array.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)


def test_an_array_that_only_the_problem_has_is_not_copied() -> None:
    places: dict[str, int] = {}
    kept: list[Any] = []

    def make(rng: Any) -> Problem:
        arrays = {name: rng.random(4) for name in ("alone", "kept", "seen", "twice")}
        places.update({name: array.ctypes.data for name, array in arrays.items()})
        kept.extend([arrays["kept"], memoryview(arrays["seen"])])
        return Problem(**arrays, again=arrays["twice"], part=rng.random((2, 4))[0])

    fields = make_problem(pattern(make_problem=make), {}, 1).fields
    assert {name: fields[name].ctypes.data == place for name, place in places.items()} == {
        "alone": True,
        "kept": False,
        "seen": False,
        "twice": False,
    }
    assert not any(np.shares_memory(fields[one], fields[other]) for one, other in combinations(fields, 2))
    for array in fields.values():
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)


def test_the_generator_is_the_one_that_manifests_name() -> None:
    made: list[np.random.Generator] = []
    make_problem(pattern(make_problem=lambda rng: made.append(rng) or Problem()), {}, 7)  # type: ignore[func-returns-value]
    assert type(made[0].bit_generator).__name__ == GENERATOR
    assert made[0].integers(1 << 40) == np.random.Generator(np.random.Philox(7)).integers(1 << 40)


@pytest.mark.parametrize("given", [{"y": 1}, None, Problem])
def test_what_is_no_problem_is_refused(given: Any) -> None:
    with pytest.raises(PatternError, match=rf"^@pattern.problem returned a {type(given).__name__}: return Problem"):
        make_problem(pattern(make_problem=lambda rng: given), {}, 1)


@pytest.mark.parametrize(
    ("field", "has"),
    [({"n": 8192}, "n=8192"), ({"n": np.zeros(3)}, "an array n"), ({"n": output(4, int)}, "an array n")],
)
def test_a_problem_that_is_not_the_one_that_was_asked_for_is_refused(field: dict[str, Any], has: str) -> None:
    """The tables have what was asked, so that it must be what ran."""
    with pytest.raises(PatternError, match=rf"^the problem has {has} where n=8191 was set: compute with that value"):
        make_problem(pattern(make_problem=lambda rng, n: Problem(**field)), {"n": 8191}, 1)
    as_asked = make_problem(pattern(make_problem=lambda rng, n: Problem(n=n, x=output(n, int))), {"n": 8191}, 1)
    assert as_asked.n == 8191


def in_place(p: Any) -> Any:
    p.b.sort()
    return {"y": p.b}


def through_a_function(p: Any) -> Any:
    np.multiply(p.b, 2, out=p.b)
    return {"y": p.b}


@pytest.mark.parametrize("reference", [in_place, through_a_function])
def test_a_reference_that_works_in_place_is_told_which_array(reference: Any) -> None:
    problem = make_problem(pattern(make_problem=lambda rng: Problem(a=np.arange(3), b=np.array([2, 1, 3]))), {}, 1)
    with pytest.raises(UnusableReference, match=r"^the reference changes p\.b in place: copy it first$"):
        make_reference(pattern(make_reference=reference), host_view(problem, {}))
    assert problem.b.tolist() == [2, 1, 3]


def test_another_error_of_a_reference_stays_its_own() -> None:
    def fails(p: Any) -> Any:
        raise ValueError("no root")

    with pytest.raises(ValueError, match="^no root$"):
        make_reference(pattern(make_reference=fails), host_view(Problem(), {}))


@pytest.mark.parametrize("name", ["bytes_moved", "operations", "slm_bytes", "host_bytes"])
@pytest.mark.parametrize("amount", [-1, float("nan"), float("inf")])
def test_a_problem_whose_least_work_is_nonsense_is_refused(name: str, amount: float) -> None:
    stated: dict[str, Any] = {name: amount}
    with pytest.raises(ValueError, match=rf"Problem\({name}=.*: give a number from 0"):
        Problem(**stated)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"host": np.arange(3)}, r"Problem\(host=...\): the name is taken"),
        ({"x": np.arange(3).astype(">i4")}, "Problem.x=....: a device array has numbers .* and no >i4"),
        ({"x": np.array([None])}, "and no object"),
        ({"x": inout(np.ma.masked_array([1.0], mask=[True]))}, "Problem.x=....: the array is masked"),
        ({"operation_kind": "fp4"}, "operation_kind='fp4'.: write one of fp32, fp64, int32"),
    ],
)
def test_a_field_that_no_device_can_have_is_named(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Problem(**fields)
    with pytest.raises(ValueError, match="give numbers of elements from 0"):
        output(-1, int)
