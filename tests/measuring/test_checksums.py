"""Results of functions: what is taken out of them, and how they differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.device  # importing the room loads dpctl


def test_arrays_are_found_in_lists_and_mappings_and_are_copies() -> None:
    from xebench.measuring.local_functions import arrays_of

    array = np.arange(3)
    found = arrays_of({"a": (array, 2.5), "b": "words", "c": None})
    assert sorted(found) == ["result['a'][0]", "result['a'][1]"]
    array[:] = 9
    assert found["result['a'][0]"].tolist() == [0, 1, 2]
    assert arrays_of(None) == {}


def test_arrays_of_dpnp_and_dpctl_come_to_the_host() -> None:
    import dpnp

    from numba_sycl.tensor import tensor as dpt
    from xebench.measuring.local_functions import arrays_of

    found = arrays_of([dpnp.ones(2, dtype=np.float32), dpt.ones(3, dtype=np.int32)])
    assert [array.tolist() for array in found.values()] == [[1, 1], [1, 1, 1]]


@pytest.mark.parametrize(
    ("actual", "words"),
    [
        (np.array([1, np.nan, np.inf], np.float32), ""),
        (np.array([1.00001, np.nan, np.inf], np.float32), ""),
        (np.array([2, np.nan, np.inf], np.float32), "1 of 3 elements differ; first at (0,): 2.0 instead of 1.0"),
        (np.array([1, 5, np.inf], np.float32), "1 of 3 elements differ"),
        (np.array([1, np.nan, np.inf], np.float64), "dtype float64 instead of float32"),
        (np.array([1], np.float32), "shape (1,) instead of (3,)"),
    ],
)
def test_differences(actual: np.ndarray, words: str) -> None:
    from xebench.measuring.correctness import Expected

    reference = np.array([1, np.nan, np.inf], np.float32)
    (compared,) = Expected(1e-4, 0, {"result": reference}, of="reference").check({"result": actual})
    assert words in (compared.fault or "") and bool(words) == bool(compared.fault)


def test_a_result_that_is_missing_is_told() -> None:
    from xebench.measuring.correctness import Expected

    (compared,) = Expected(0, 0, {"result": np.ones(1)}).check({})
    assert compared.fault == "result is missing"


@pytest.fixture
def copies() -> tuple[Any, Any, list[Any]]:
    """Host copies of arrays of a CPU device, its memory, and what was read."""
    from xebench.measuring.checksums import HostCopies, Sums
    from xebench.session.device_memory import DeviceMemory
    from xebench.session.session import Session

    queue = Session.on("cpu").queue
    return HostCopies(Sums(queue)), DeviceMemory(queue), []


@pytest.mark.parametrize("on_host", [False, True])
def test_a_large_result_of_known_bits_is_not_read_again(copies: Any, on_host: bool) -> None:
    known, memory, reads = copies
    numbers = np.arange(1 << 18, dtype=np.float32)
    array = numbers.copy() if on_host else memory.upload_guarded(numbers)

    def read(source: Any) -> Any:
        reads.append(source)
        return source.copy() if on_host else memory.read(source)

    def write(values: Any) -> None:
        if on_host:
            array[...] = values
        else:
            memory.write(array, values)

    first = known.of("y", array, read)
    assert first.tobytes() == numbers.tobytes() and known.of("y", array, read) is first
    assert len(reads) == 1
    other = numbers.copy()
    other[77_777] = -other[77_777]
    write(other)
    assert known.of("y", array, read).tobytes() == other.tobytes(), "one bit of them"
    write(numbers)
    assert known.of("y", array, read) is first and len(reads) == 2


def test_a_small_result_is_always_read(copies: Any) -> None:
    known, memory, _ = copies
    array = memory.upload_guarded(np.arange(8))
    first = known.of("y", array, memory.read)
    assert known.of("y", array, memory.read) is not first


def test_what_cannot_change_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.measuring import correctness
    from xebench.measuring.array_check import check_array

    calls: list[str] = []

    def counted(name: str, *rest: Any) -> Any:
        calls.append(name)
        return check_array(name, *rest)

    monkeypatch.setattr(correctness, "check_array", counted)
    expected = correctness.Expected(0, 0, {"y": np.arange(4)})
    right, wrong = np.arange(4), np.zeros(4, int)
    right.setflags(write=False)
    wrong.setflags(write=False)
    for _ in range(2):
        assert [one.fault is None for one in expected.check({"y": right})] == [True]
        assert [one.fault is None for one in expected.check({"y": wrong})] == [False]
    assert len(calls) == 2
    writable = np.arange(4)
    assert expected.check({"y": writable})[0].fault is None
    writable[0] = 9
    assert expected.check({"y": writable})[0].fault is not None


@pytest.mark.parametrize("axis", [0, 1])
def test_a_wrong_result_in_a_canonical_form_of_another_shape_is_a_difference(axis: int) -> None:
    import random

    from xebench.measuring.correctness import Expected
    from xebench.measuring.result_rules import ResultRules

    rules = ResultRules(lambda results: {"y": np.stack([results["y"]] * 2, axis)}, None, None)
    expected = Expected(0, 0, {"y": np.arange(1, 4, dtype=np.float32)}, fills={"y": None}, rules=rules)
    expected.poison(random.Random(1), not_a_number=True)
    (compared,) = expected.check({"y": np.array([1, 2, np.nan], np.float32)})
    assert str(compared.fault).startswith("y: 2 of 6 elements differ; ")


def test_an_array_is_compared_with_its_own_tolerances() -> None:
    from xebench.measuring.correctness import Expected

    both = {"y": np.ones(4), "z": np.ones(4)}
    expected = Expected(0.1, 0.0, both, own={"y": (1e-5, 0.0), "z": (0.1, 0.0)})
    of_y, of_z = expected.check({name: array * 1.01 for name, array in both.items()})
    assert of_y.fault and "rtol=1e-05" in of_y.fault and of_z.fault is None
