"""Sizes that follow the device."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xebench.patterns.problem import Room, fit, fitted, is_fit


def test_without_a_device_it_is_the_least() -> None:
    assert fitted(fit(1000, per_lane=16, per_cache_byte=1), Room()) == (
        1000,
        "the least, which is enough for this device",
    )


def test_it_fills_the_device_or_leaves_the_cache_whichever_takes_more() -> None:
    size = fit(1 << 10, per_lane=16, per_cache_byte=1)
    assert fitted(size, Room(lanes=1 << 18)) == (1 << 22, "16 for each of the device's 262144 lanes")
    assert fitted(size, Room(lanes=1 << 10, cache_bytes=50 << 20)) == (
        1 << 26,
        f"1 for each byte of its cache of {50 << 20}",
    )


@given(st.integers(1, 1 << 20), st.floats(0, 64), st.floats(0, 4), st.integers(0, 1 << 20), st.integers(0, 1 << 30))
def test_it_is_enough_and_what_divides_the_least_divides_it(
    least: int, per_lane: float, per_byte: float, lanes: int, cache_bytes: int
) -> None:
    size, _ = fitted(fit(least, per_lane=per_lane, per_cache_byte=per_byte), Room(lanes, cache_bytes))
    assert size >= max(least, per_lane * lanes, per_byte * cache_bytes)
    assert size % least == 0
    assert size == least or size / 2 < max(per_lane * lanes, per_byte * cache_bytes)


@pytest.mark.parametrize(
    "numbers",
    [
        {"least": 0},
        {"least": float("nan")},
        {"least": float("inf")},
        {"least": 1.5},
        {"least": True},
        {"least": 8, "per_lane": -1},
        {"least": 8, "per_cache_byte": float("inf")},
    ],
)
def test_what_makes_no_size_is_refused(numbers: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="give positive numbers"):
        fit(**numbers)  # type: ignore[arg-type]


def test_what_it_gives_is_known_again() -> None:
    assert is_fit(fit(8)) and not is_fit(8) and not is_fit({"cpu": 1, "gpu": 2})
