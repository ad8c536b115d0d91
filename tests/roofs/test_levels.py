"""Which level a working set lies in, by the caches that are known or by what was measured."""

from __future__ import annotations

import json

from xebench.roofs.measure import (
    Cache,
    beyond_caches,
    known_caches,
    measured_levels,
    named_levels,
)

KIB, MIB = 1 << 10, 1 << 20
CACHES = [Cache("L1", 96 * KIB), Cache("L2", 2 * MIB), Cache("L3", 32 * MIB)]


def named(measured: dict[int, float], memory: float | None, caches: list[Cache]) -> list[tuple[str, int, float]]:
    return [tuple(one.values()) for one in json.loads(named_levels(measured, memory, caches))]


def test_a_level_is_named_by_the_smallest_cache_that_holds_every_set_up_to_the_next() -> None:
    measured = {32 * KIB: 800.0, 64 * KIB: 400.0, 1 * MIB: 300.0, 2 * MIB: 200.0, 32 * MIB: 90.0, 128 * MIB: 35.0}
    assert named(measured, 36.0, CACHES) == [
        ("L1", 32 * KIB, 800.0),
        ("L2", 64 * KIB, 400.0),
        ("L2", 1 * MIB, 300.0),
        ("L3", 2 * MIB, 200.0),
        ("memory", 32 * MIB, 90.0),  # partly in the cache still
        ("memory", 128 * MIB, 36.0),
        ("memory", 256 * MIB, 36.0),
    ]


def test_no_set_is_slower_than_a_larger_one_or_than_the_memory() -> None:
    disturbed = {1 * MIB: 100.0, 2 * MIB: 200.0, 64 * MIB: 20.0}
    assert [gbps for _, _, gbps in named(disturbed, 36.0, CACHES)] == [200.0, 200.0, 36.0, 36.0]


def test_without_known_caches_what_is_measured_decides() -> None:
    # 60 MB of cache whose size the driver does not tell
    measured = {4 * MIB: 9000.0, 16 * MIB: 8000.0, 32 * MIB: 7000.0, 64 * MIB: 4500.0, 256 * MIB: 4200.0}
    levels = [level for level, _, _ in named(measured, 4300.0, [])]
    assert levels == ["cache", "cache", "memory", "memory", "memory", "memory"]


def test_nothing_measured_is_no_level() -> None:
    assert named({}, 40.0, CACHES) == []
    assert named({1 * MIB: 40.0}, None, CACHES) == [("L2", 1 * MIB, 40.0)]
    assert measured_levels({"read_32KiB": 10.0, "read_64KiB": None, "read": 5.0}) == {32 * KIB: 10.0}


def test_a_cache_of_no_bytes_is_an_unknown_one() -> None:
    assert known_caches("gpu", 0) == known_caches("gpu", None) == []
    assert known_caches("gpu", 16 * MIB) == [Cache("cache", 16 * MIB)]


def test_what_lies_far_beyond_the_caches_is_read_from_the_memory() -> None:
    measured = {32 * MIB: 90.0, 64 * MIB: 45.0, 128 * MIB: 36.0, 256 * MIB: 35.0}
    assert beyond_caches(measured, 32 * MIB) == 36.0
    assert beyond_caches(measured, 0) == 35.0
    assert beyond_caches(measured, 408 * MIB) == 0, "all of them fit into that cache"
