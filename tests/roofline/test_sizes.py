"""How large problems are."""

from __future__ import annotations

import pytest

from harness.errors import Unsupported
from harness.roofline import sizes
from harness.roofline.catalogue import FOOTPRINTS

MIB = 1 << 20
GIB = 1 << 30


def test_arrays_are_four_times_the_cache() -> None:
    assert sizes.array_bytes(32 * MIB, GIB) == 128 * MIB
    assert sizes.array_bytes(408 * MIB, 4 * GIB) == 1632 * MIB
    assert sizes.array_bytes(1 * MIB, GIB) == 64 * MIB, "and not so small that a launch's cost would show"
    assert sizes.array_bytes(32 * MIB, GIB, quick=True) == 64 * MIB


def test_small_memory_lowers_it_to_twice_the_cache_and_no_further() -> None:
    assert sizes.array_bytes(32 * MIB, 100 * MIB) == 100 * MIB
    with pytest.raises(Unsupported, match="would fit into the cache"):
        sizes.array_bytes(32 * MIB, 50 * MIB)


def test_an_array_takes_a_sixteenth_of_the_memory_at_most() -> None:
    assert sizes.largest_array_bytes(16 * GIB, 8 * GIB) == GIB
    assert sizes.largest_array_bytes(64 * GIB, GIB) == GIB


def test_blocks_and_powers() -> None:
    assert sizes.whole_blocks(3 * sizes.BLOCK + 5) == 3 * sizes.BLOCK
    assert sizes.whole_blocks(5) == sizes.BLOCK
    assert [sizes.power_of_two(n) for n in (1, 2, 3, 1000, 1024)] == [1, 2, 2, 512, 1024]


def test_every_form_divides_a_block() -> None:
    from harness.roofline.forms import READ_FORMS, STREAM_FORMS

    for group, vectors, width in (*STREAM_FORMS, *READ_FORMS):
        assert sizes.BLOCK % (width * vectors * group) == 0
    assert all(vectors % 4 == 0 for _, vectors, _ in READ_FORMS)


def test_footprints_reach_memory_and_go_no_further() -> None:
    def measured(cache: int, largest: int) -> list[int]:
        footprints = []
        for size in FOOTPRINTS:
            try:
                sizes.check_footprint(size, cache, largest)
                footprints.append(size)
            except Unsupported:
                continue
        return footprints

    assert measured(32 * MIB, GIB)[-1] == 256 * MIB
    assert measured(32 * MIB, 100 * MIB)[-1] == 64 * MIB
    assert measured(0, GIB) == list(FOOTPRINTS), "an unknown cache ends nothing"


def test_small_rings_are_gone_round_twice_and_large_ones_in_part() -> None:
    assert sizes.chase_steps(lines=1 << 16) == (1 << 17) - 1
    assert sizes.chase_steps(lines=32) == (1 << 16) - 1
    assert sizes.chase_steps(lines=1 << 24) == (1 << 18) - 1
    assert all(sizes.chase_steps(size // 128) % (size // 128) for size in FOOTPRINTS), "no ring ends where it began"
