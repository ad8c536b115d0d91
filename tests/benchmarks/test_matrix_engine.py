"""The kernels of `benchmarks/common/matrix_engine.py`, with the engine's instruction replaced by what it computes."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xebench

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

N, DEPTH = 64, 32


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
@pytest.mark.parametrize(("tall", "wide", "block"), [(1, 1, 0), (4, 2, N)])  # a work-group is a sub-group, and is all
def test_a_product_on_the_engine_is_that_of_numpy(
    engine: Mapping[str, Any], to_device: Callable[[Any], Any], lanes: int, tall: int, wide: int, block: int
) -> None:
    session = to_device.session  # type: ignore[attr-defined]
    rng = np.random.default_rng(1)
    a, b = (
        rng.integers(0, 10, shape).astype(np.float32) for shape in ((N, DEPTH), (DEPTH, N))
    )  # exact in bfloat16, as their sums are
    of_a, of_b = to_device(engine["bfloat16"](a)), to_device(engine["in_pairs"](engine["bfloat16"](b)))
    product, result = session.alloc((N, N), np.float32), np.empty((N, N), np.float32)
    multiply = engine["multiply_on_engine"](lanes, tall, wide, emulation=EMULATION, factor=wide)
    session.launch(multiply, engine["sub_groups"](N, lanes, tall, wide, block), of_a, of_b, product, N, DEPTH)
    session.copy(result, product)
    session.wait()
    np.testing.assert_array_equal(result, wide * (a @ b))


def test_numpy_rounds_to_the_nearest_bfloat16(engine: Mapping[str, Any]) -> None:
    x = np.array([1, 1 + 2**-8, 1 + 3 * 2**-9, -(1 + 2**-7)], np.float32)
    rounded = (engine["bfloat16"](x).astype(np.uint32) << 16).view(np.float32)
    assert rounded.tolist() == [1, 1 + 2**-7, 1 + 2**-7, -(1 + 2**-7)]
