"""Arrays that a function holds, without a device."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from xebench.measuring.between_samples import KeptArrays, arrays_in


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
        __module__ = property(lambda self: "odd")  # type: ignore[assignment]

        @property
        def __dict__(self) -> Any:  # type: ignore[override]
            raise RuntimeError

    local, kept = threading.local(), np.zeros(1)
    local.kept = kept
    odd = holding(Odd(), Odd, local, iter([1]), threading.Lock(), ThreadPoolExecutor(1), np, 3, None)
    assert list(arrays_in(odd)) == list(arrays_in(odd, by_name=True)) == [kept]


def test_arrays_are_set_back_and_new_ones_spoilt() -> None:
    prepared, kept = np.arange(3), {}
    sample = holding(prepared, kept)
    arrays = KeptArrays(sample)
    prepared[:] = 7
    kept["real"], kept["whole"] = np.ones(2, np.float32), np.ones(2, np.uint8)
    kept["whole"].setflags(write=False)
    arrays.set_back()
    assert prepared.tolist() == [0, 1, 2]
    assert np.isnan(kept["real"]).all() and kept["whole"].tolist() == [255, 255]
    assert not kept["whole"].flags.writeable


def test_an_array_of_the_problem_stays_as_it_is() -> None:
    own = np.arange(3)
    own.setflags(write=False)
    sample = holding([])
    arrays = KeptArrays(sample)
    arrays._function = holding(own.view())
    arrays.set_back()
    assert own.tolist() == [0, 1, 2]
