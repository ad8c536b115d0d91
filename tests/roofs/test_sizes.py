"""How large problems are."""

from __future__ import annotations

import pytest

from xebench.errors import Unsupported
from xebench.roofs import search

MIB = 1 << 20
GIB = 1 << 30


def test_arrays_are_four_times_the_cache() -> None:
    assert search.array_bytes(32 * MIB, GIB) == 128 * MIB
    assert search.array_bytes(408 * MIB, 4 * GIB) == 1632 * MIB
    assert search.array_bytes(1 * MIB, GIB) == 64 * MIB, "and not so small that a launch's cost would show"
    assert search.array_bytes(0, 9 * GIB) == 256 * MIB, "an unknown cache is no small one"


def test_on_a_fast_device_arrays_grow_within_reason() -> None:
    # 4 TB/s, 150 GB: half a gigabyte takes a tenth of a ms
    assert search.grown_array_bytes(256 * MIB, 9 * GIB) == GIB
    assert search.grown_array_bytes(1632 * MIB, 4 * GIB) == 1632 * MIB
    assert search.grown_array_bytes(256 * MIB, 300 * MIB) == 300 * MIB


def test_a_working_set_is_read_from_end_to_end() -> None:
    for blocks in (2, 4, 64, 1 << 14):
        shift = search.far_shift(blocks)
        assert shift % 2 == 1
        places = [step * shift % blocks for step in range(blocks)]
        assert len(set(places)) == blocks, "each block once"
        in_two_steps = {place * 4 // blocks for place in places[:8]}
        assert len(in_two_steps) == min(4, blocks), "a few steps go all over it"
    assert search.next_power_of_two(1056) == 2048
    assert search.next_power_of_two(16) == 16


def test_working_sets_reach_memory_and_go_no_further() -> None:
    search.require_working_set(128 * MIB, 32 * MIB, GIB)
    search.require_working_set(256 * MIB, 0, GIB)
    with pytest.raises(Unsupported, match="exceeds all caches"):
        search.require_working_set(256 * MIB, 32 * MIB, GIB)
    with pytest.raises(Unsupported, match="stands for the memory"):
        search.require_working_set(256 * MIB, 0, 128 * MIB)


def test_small_memory_lowers_it_to_twice_the_cache_and_no_further() -> None:
    assert search.array_bytes(32 * MIB, 100 * MIB) == 100 * MIB
    with pytest.raises(Unsupported, match="would fit into the cache"):
        search.array_bytes(32 * MIB, 50 * MIB)


def test_an_array_takes_a_sixteenth_of_the_memory_at_most() -> None:
    assert search.largest_array_bytes(16 * GIB, 8 * GIB) == GIB
    assert search.largest_array_bytes(64 * GIB, GIB) == GIB


def test_blocks() -> None:
    assert search.whole_blocks(3 * search.BLOCK + 5) == 3 * search.BLOCK
    assert search.whole_blocks(5) == search.BLOCK


def test_every_form_divides_a_block() -> None:
    from xebench.roofs.forms import READ_FORMS, STREAM_FORMS

    for group, vectors, width in (*STREAM_FORMS, *READ_FORMS):
        assert search.BLOCK % (width * vectors * group) == 0
    assert all(vectors % 4 == 0 for _, vectors, width in READ_FORMS if width == 1)
