"""Integers of kernels wrap around as numpy's do, in 64 bits and with indices in 32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from device_kit import launch_each

from numba_sycl import kernel
from numba_sycl import kernel_api as kapi
from numba_sycl.stacks import is_current

pytestmark = pytest.mark.device

ITEMS, SLOTS = 1024, 1000
FACTOR, TERM, GOLDEN = 6364136223846793005, 1442695040888963407, 0x1E3779B97F4A7C15
LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
ENDS = np.array([LEAST, LEAST, LEAST, MOST, 0, 1, -1, 1 << 32, 1 << 62, 3037000500])
NUMBERS = np.append(ENDS, np.random.default_rng(0).integers(LEAST, MOST, ITEMS - len(ENDS)))
BYTES = np.random.default_rng(1).integers(0, 256, (ITEMS, 40), dtype=np.uint8)
IDS = np.arange(ITEMS)


@kernel
def congruential(item: kapi.Item, x: Any, out: Any, n: Any) -> None:
    i = item.get_id(0)
    state = x[i]
    for _ in range(5):
        state = state * FACTOR + TERM
    out[i] = state % n


@kernel
def congruential_of_ids(item: kapi.Item, x: Any, out: Any, n: Any) -> None:
    i = item.get_id(0)
    state = i
    for _ in range(5):
        state = state * FACTOR + TERM
    out[i] = state % n


def congruential_in_numpy(state: Any, n: int) -> Any:
    for _ in range(5):
        state = state * FACTOR + TERM
    return state % n


@kernel
def multiplicative(item: kapi.Item, x: Any, out: Any, n: Any) -> None:
    i = item.get_id(0)
    out[i] = i * GOLDEN >> 54


@kernel
def sign_of_a_product(item: kapi.Item, x: Any, out: Any, n: Any) -> None:
    i = item.get_id(0)
    out[i] = 1 if i * GOLDEN < 0 else 0


@kernel
def remainder_of_a_product(item: kapi.Item, x: Any, out: Any, n: Any) -> None:
    i = item.get_id(0)
    out[i] = i * GOLDEN % n


@kernel
def square(item: kapi.Item, x: Any, out: Any, n: Any) -> None:
    i = item.get_id(0)
    out[i] = x[i] * x[i] if x[i] * x[i] < 0 else 7


@kernel
def factorial(item: kapi.Item, x: Any, out: Any, n: Any) -> None:
    i = item.get_id(0)
    product = 1
    for factor in range(2, i + 1):
        product *= factor
    out[i] = product % n


@kernel
def alternating(item: kapi.Item, x: Any, out: Any, n: Any) -> None:
    i = item.get_id(0)
    seen = np.uint64(14695981039346656037)
    for byte in range(8):
        seen = (seen ^ np.uint64(x[i] >> 8 * byte & 255)) * np.uint64(1099511628211)
    out[i] = seen >> np.uint64(1)


def alternating_in_numpy() -> Any:
    seen: Any = np.uint64(14695981039346656037)
    for byte in range(8):
        seen = (seen ^ (NUMBERS >> 8 * byte & 255).astype(np.uint64)) * np.uint64(1099511628211)
    return seen >> np.uint64(1)


@kernel
def comparisons(item: kapi.Item, x: Any, out: Any, n: Any) -> None:
    i = item.get_id(0)
    bits = 1 if x[i] + 1 > x[i] else 0
    bits += 2 if -x[i] < 0 else 0
    bits += 4 if abs(x[i]) >= 0 else 0
    bits += 8 if x[i] * 3 // 3 == x[i] else 0
    bits += 16 if x[i] - 1 < x[i] else 0
    out[i] = bits + (32 if (x[i] << 3) >> 3 == x[i] else 0)


@kernel
def in_place(item: kapi.Item, x: Any, out: Any, n: Any) -> None:
    i = item.get_id(0)
    out[i] = x[i]
    out[i] += x[i]
    out[i] *= 3
    out[i] -= GOLDEN


@kernel
def quotients(item: kapi.Item, x: Any, out: Any, n: Any) -> None:
    i = item.get_id(0)
    quotient = x[i]
    quotient //= i % 5 - 2
    out[i] = x[i] // (i % 3 - 1) + 3 * (x[i] % (i % 3 - 1)) + 5 * quotient


@kernel
def of_32_bits(item: kapi.Item, x: Any, out: Any, n: Any) -> None:
    i = item.get_id(0)
    short = np.int32(x[i])
    short = np.int32(short * short)
    out[i] = 1 if short < 0 else np.int32(short + short)


@kernel
def of_functions(item: kapi.Item, x: Any, out: Any, n: Any) -> None:
    i = item.get_id(0)
    product = np.multiply(x[i], x[i])
    out[i] = np.add(x[i], x[i]) if product < 0 else np.subtract(-2, x[i])


@kernel
def powers(item: kapi.Item, x: Any, out: Any, n: Any) -> None:
    i = item.get_id(0)
    out[i] = x[i] ** 2 + x[i] ** 3 + x[i] ** (i % 9)


def factorials() -> Any:
    return np.cumprod(np.maximum(IDS, 1))


def of_32_bits_in_numpy() -> Any:
    short = NUMBERS.astype(np.int32)
    short = short * short
    return np.where(short < 0, 1, short + short)


with np.errstate(over="ignore", divide="ignore"):
    EXPECTED = {
        congruential: congruential_in_numpy(NUMBERS, SLOTS),
        congruential_of_ids: congruential_in_numpy(IDS, SLOTS),
        multiplicative: IDS * GOLDEN >> 54,
        sign_of_a_product: (IDS * GOLDEN < 0) * 1,
        remainder_of_a_product: IDS * GOLDEN % SLOTS,
        square: np.where(NUMBERS**2 < 0, NUMBERS**2, 7),
        factorial: factorials() % SLOTS,
        alternating: alternating_in_numpy(),
        comparisons: (NUMBERS + 1 > NUMBERS) * 1
        + (-NUMBERS < 0) * 2
        + (abs(NUMBERS) >= 0) * 4
        + (NUMBERS * 3 // 3 == NUMBERS) * 8
        + (NUMBERS - 1 < NUMBERS) * 16
        + (NUMBERS << 3 >> 3 == NUMBERS) * 32,
        quotients: NUMBERS // (IDS % 3 - 1) + 3 * (NUMBERS % (IDS % 3 - 1)) + 5 * (NUMBERS // (IDS % 5 - 2)),
        in_place: (NUMBERS + NUMBERS) * 3 - GOLDEN,
        of_32_bits: of_32_bits_in_numpy(),
        of_functions: np.where(NUMBERS * NUMBERS < 0, NUMBERS + NUMBERS, -2 - NUMBERS),
        powers: NUMBERS**2 + NUMBERS**3 + NUMBERS ** (IDS % 9),
    }
#: On the pinned stack numba-dpex computes them, powers by floats.
OF_OURS = (of_functions, powers)


@pytest.mark.parametrize("run", EXPECTED, ids=lambda run: run.py_func.__name__)
def test_integers_wrap_around_as_in_numpy(run: Any) -> None:
    if run in OF_OURS and not is_current():
        pytest.skip("numba-dpex has functions and powers of its own")
    for _, out in launch_each(run, ITEMS, NUMBERS, np.zeros(ITEMS, np.int64), SLOTS):
        assert out.tolist() == EXPECTED[run].astype(np.int64).tolist()


@kernel
def histogram(item: kapi.Item, rows: Any, counts: Any) -> None:
    i = item.get_id(0)
    slot = 5381
    for k in range(rows.shape[1]):
        slot = slot * 33 + rows[i, k]
    kapi.AtomicRef(counts, slot % counts.shape[0]).fetch_add(np.int32(1))


def test_no_hash_leads_outside_of_an_array() -> None:
    slots = np.full(ITEMS, 5381)
    with np.errstate(over="ignore"):
        for column in BYTES.T:
            slots = slots * 33 + column
    expected = np.bincount(slots % SLOTS, minlength=SLOTS)
    for _, counts in launch_each(histogram, ITEMS, BYTES, np.zeros(SLOTS, np.int32)):
        assert counts.tolist() == expected.tolist()


def test_an_atomic_reference_counts_from_the_end_as_an_index_does() -> None:
    @kernel
    def add(item: kapi.Item, counts: Any, behind: Any) -> None:
        i = item.get_id(0)
        kapi.AtomicRef(counts, behind[i]).fetch_add(np.int32(1))
        kapi.AtomicRef(counts, i * GOLDEN % 8 - 8).fetch_add(np.int32(100))

    behind = np.array([-1, -1, 0, -8, 7, -4, 3, 2])
    expected = np.bincount(behind % 8, minlength=8) + 100 * np.bincount(np.arange(8) * GOLDEN % 8, minlength=8)
    for counts, _ in launch_each(add, 8, np.zeros(8, np.int32), behind):
        assert counts.tolist() == expected.tolist()
