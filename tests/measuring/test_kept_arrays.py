"""Arrays that a function holds, without a device."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from xebench.measuring.between_samples import KeptArrays, Uploads, arrays_in, reached


def holding(*held: Any) -> Any:
    def sample() -> Any:
        return held

    return sample


def test_arrays_are_found_in_closures_containers_and_objects() -> None:
    a, b, c, d = (np.full(2, i) for i in range(4))
    words = np.array(["no", "number"])
    nested = holding({"a": [a]}, partial(holding(b), c), SimpleNamespace(own=(d, words)))
    assert {id(array) for array in arrays_in(nested)} == {id(a), id(b), id(c), id(d)}


def test_what_holds_itself_and_names_without_a_value_are_no_trouble() -> None:
    ring: list[Any] = []
    ring.append(ring)

    def sample() -> Any:
        return ring, never

    if not ring:
        never = np.zeros(1)
    assert list(arrays_in(sample)) == []


def test_objects_of_any_kind_are_no_trouble() -> None:
    class Odd:
        __module__ = property(lambda self: "odd")

        @property
        def __dict__(self) -> Any:  # type: ignore[override]
            raise RuntimeError

    local, kept = threading.local(), np.zeros(1)
    local.kept = kept
    odd = holding(Odd(), Odd, local, iter([1]), threading.Lock(), ThreadPoolExecutor(1), np, 3, None)
    by_name = [value for value, _ in reached(odd, by_name=True) if isinstance(value, np.ndarray)]
    assert list(arrays_in(odd)) == by_name == [kept]


def test_arrays_are_set_back_and_new_ones_spoilt() -> None:
    prepared = np.arange(3)
    kept: dict[str, np.ndarray] = {}
    sample = holding(prepared, kept)
    arrays = KeptArrays(sample)
    prepared[:] = 7
    kept["real"], kept["whole"] = np.ones(2, np.float32), np.ones(2, np.uint8)
    kept["whole"].setflags(write=False)
    arrays.set_back()
    assert prepared.tolist() == [0, 1, 2]
    assert np.isnan(kept["real"]).all() and kept["whole"].tolist() == [255, 255]
    assert not kept["whole"].flags.writeable


class Pair(NamedTuple):
    number: int
    result: bytes


@pytest.mark.parametrize(
    ("keep", "get"),
    [
        (lambda y: y.copy(), np.copy),
        (lambda y: y.tobytes(), np.frombuffer),
        (lambda y: bytearray(y.astype(np.float32)), lambda kept: np.frombuffer(kept, np.float32)),
        (lambda y: [0.0, *y.tolist()], lambda kept: kept[1:]),
        (lambda y: tuple(y.tolist()), np.array),
        (lambda y: {(i,): v for i, v in enumerate(y.tolist())}, lambda kept: list(kept.values())),
        (lambda y: deque(y.tolist(), y.size), list),
        (lambda y: y.reshape(2, -1).tolist(), lambda kept: [*kept[0], *kept[1]]),
        (lambda y: Pair(1, y.tobytes()), lambda kept: np.frombuffer(kept.result)),
        (lambda y: SimpleNamespace(of={1: y.tobytes()}), lambda kept: np.frombuffer(kept.of[1])),
    ],
)
def test_results_are_spoilt_as_bytes_and_as_numbers(keep: Any, get: Any) -> None:
    result = np.arange(4) + 0.5
    kept = keep(result)

    def sample() -> Any:
        return get(kept)

    assert list(sample()) == result.tolist()
    arrays = KeptArrays(sample)
    assert not arrays.spoil(result + 1)
    undo = arrays.spoil(result)
    assert np.isnan(sample()).all() and not arrays.spoil(result)
    for put_back in undo:
        put_back()
    assert list(sample()) == result.tolist()


class NoNumber:
    """As an array of a device."""

    def __array__(self, *of: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed")


@pytest.mark.parametrize(
    "kept", [[[NoNumber()], [NoNumber()]], [0.5, NoNumber()], [[1.0, 2.0], [3.0]], [[], []], [{}], ()]
)
def test_lists_of_other_things_are_no_trouble(kept: Any) -> None:
    assert not KeptArrays(holding(kept)).spoil(np.arange(4) + 0.5)


def test_of_what_a_host_uploads_results_are_known() -> None:
    result = np.arange(4) + 0.5
    uploads = Uploads([result])
    uploads.note("memory of a device", result[:2])
    uploads.note("memory of a device", np.zeros(100))
    assert not uploads.of({"y": result})
    uploads.note("memory of a device", result[2:].tobytes())
    assert list(uploads.of({"x": result + 1, "y": result})) == ["y"]
    uploads.note(result + 1, np.zeros(4))
    assert list(uploads.of({"x": result + 1, "y": result})) == ["y"], "a copy within the host is none"


def test_an_array_of_the_problem_stays_as_it_is() -> None:
    own = np.arange(3)
    own.setflags(write=False)
    sample = holding([])
    arrays = KeptArrays(sample)
    arrays._function = holding(own.view())
    arrays.set_back()
    assert own.tolist() == [0, 1, 2]
