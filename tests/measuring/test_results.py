"""Results of functions: what is taken out of them, and how they differ."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.device  # importing the room loads dpctl


def test_arrays_are_found_in_lists_and_mappings_and_are_copies() -> None:
    from xebench.measuring.results import arrays_of

    array = np.arange(3)
    found = arrays_of({"a": (array, 2.5), "b": "words", "c": None})
    assert sorted(found) == ["result['a'][0]", "result['a'][1]"]
    array[:] = 9
    assert found["result['a'][0]"].tolist() == [0, 1, 2]
    assert arrays_of(None) == {}


def test_arrays_of_dpnp_and_dpctl_come_to_the_host() -> None:
    import dpnp

    from xebench.measuring.results import arrays_of
    from xebench.system.runtime.tensor import tensor as dpt

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
    (compared,) = Expected(1e-4, 0, {"result": reference}, of="reference").compared({"result": actual})
    assert words in (compared.fault or "") and bool(words) == bool(compared.fault)


def test_a_result_that_is_missing_is_told() -> None:
    from xebench.measuring.correctness import Expected

    (compared,) = Expected(0, 0, {"result": np.ones(1)}).compared({})
    assert compared.fault == "result is missing"
