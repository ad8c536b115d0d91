"""The kernels of `benchmarks/common/matrix_engine.py`, with the engine's instruction replaced by what it computes."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xebench
from xebench import kernel_api as kapi

ROOT = Path(__file__).parents[2]

# Every lane shows its part of a row of the left tile to the lanes that have the columns of the right one.
EMULATION = """
float low(int two) { return as_float(two << 16); }
float high(int two) { return as_float(two & 0xffff0000); }

#if LANES == 16
float8 intel_sub_group_bf16_bf16_matrix_mad_k16(short8 a, int8 b, float8 sum) {
    for (int m = 0; m < 8; ++m)
        for (int r = 0; r < 8; ++r) {
            const int own = ((short *)&a)[m], two = ((int *)&b)[r];
            ((float *)&sum)[m] += low(intel_sub_group_shuffle(own, 2 * r)) * low(two);
            ((float *)&sum)[m] += low(intel_sub_group_shuffle(own, 2 * r + 1)) * high(two);
        }
    return sum;
}
#else
float8 intel_sub_group_bf16_bf16_matrix_mad_k16(int8 a, int8 b, float8 sum) {
    for (int m = 0; m < 8; ++m)
        for (int r = 0; r < 8; ++r) {
            const int own = intel_sub_group_shuffle(((int *)&a)[m], r), two = ((int *)&b)[r];
            ((float *)&sum)[m] += low(own) * low(two) + high(own) * high(two);
        }
    return sum;
}
#endif
"""

N = 64


@pytest.fixture(scope="module")
def engine() -> Mapping[str, Any]:
    return runpy.run_path(str(ROOT / "benchmarks" / "common" / "matrix_engine.py"))


@pytest.fixture(scope="module")
def to_device() -> Callable[[Any], Any]:
    session = xebench.open_session("cpu")

    def copied(array: Any) -> Any:
        there = session.alloc(array.shape, array.dtype)
        session.copy(there, array)
        return there

    copied.session = session  # type: ignore[attr-defined]
    return copied


@pytest.mark.device
@pytest.mark.parametrize("lanes", [8, 16])
@pytest.mark.parametrize(("terms", "error"), [(1, 2.0**-8), (2, 2.0**-16), (3, 2.0**-18)])
@pytest.mark.parametrize(("tall", "wide", "block"), [(1, 1, 0), (4, 2, N)])  # a work-group is a sub-group, and is all
def test_a_product_on_the_engine_has_the_digits_of_its_terms(
    engine: Mapping[str, Any],
    to_device: Callable[[Any], Any],
    lanes: int,
    terms: int,
    error: float,
    tall: int,
    wide: int,
    block: int,
) -> None:
    session = to_device.session  # type: ignore[attr-defined]
    rng = np.random.default_rng(1)
    a, b = (rng.uniform(0.5, 1, (N, N)).astype(np.float32) for _ in range(2))
    of_a, of_b = (session.alloc((terms, N, N), np.uint16) for _ in range(2))
    product, result = session.alloc((N, N), np.float32), np.empty((N, N), np.float32)
    items = kapi.NdRange((N, N), (16, 16))
    split = engine["split_into"](terms)
    multiply = engine["multiply_on_engine"](lanes, terms, tall, wide, emulation=EMULATION)
    session.launch(split, items, to_device(a), of_a, N, 0)
    session.launch(split, items, to_device(b), of_b, N, 1)
    session.launch(multiply, engine["sub_groups"](N, lanes, tall, wide, block), of_a, of_b, product, N)
    session.copy(result, product)
    session.wait()
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(result, expected, rtol=error)
    if terms == 1:
        assert np.abs(result / expected - 1).max() > 2.0**-16, "one term has not the digits of two"


def test_numpy_lays_a_right_factor_out_as_the_kernel_does(
    engine: Mapping[str, Any], to_device: Callable[[Any], Any]
) -> None:
    session = to_device.session  # type: ignore[attr-defined]
    b = np.random.default_rng(2).uniform(0.5, 1, (N, N)).astype(np.float32)
    of_b, result = session.alloc((1, N, N), np.uint16), np.empty((1, N, N), np.uint16)
    session.launch(engine["split_into"](1), kapi.NdRange((N, N), (16, 16)), to_device(b), of_b, N, 1)
    session.copy(result, of_b)
    session.wait()
    np.testing.assert_array_equal(result[0], engine["in_pairs"](engine["bfloat16"](b)))
