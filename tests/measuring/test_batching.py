"""How many executions make a sample."""

from __future__ import annotations

from xebench.measuring.sampling import MAX_BATCH, QUANTA, WALL_NS, batch_size, least_ns


def test_a_sample_is_as_long_as_a_stated_number_of_quanta_or_microseconds() -> None:
    assert least_ns("device", 52.0) == QUANTA * 52.0
    assert least_ns("span", 1000.0) == QUANTA * 1000.0
    assert least_ns("wall", 52.0) == WALL_NS


def test_the_shortest_variant_decides_for_the_whole_family() -> None:
    assert batch_size({"a": 100.0, "b": 2000.0}, 1000.0, block_s=1e-6, limit_s=1.0) == 10
    assert batch_size({"a": 300.0}, 1000.0, block_s=1e-6, limit_s=1.0) == 4, "the sample must not be shorter"
    assert batch_size({"a": 1000.0, "b": 2000.0}, 1000.0, block_s=1e-6, limit_s=1.0) == 1


def test_a_batch_is_bounded_by_the_time_of_its_block_and_in_number() -> None:
    assert batch_size({"a": 1.0}, 1e6, block_s=0.001, limit_s=0.005) == 5
    assert batch_size({"a": 1.0}, 1e6, block_s=1.0, limit_s=0.005) == 1
    assert batch_size({"a": 1.0}, 1e6, block_s=1e-9, limit_s=1.0) == MAX_BATCH
    assert batch_size({"a": 1.0}, 1e6, block_s=0.0, limit_s=1.0) == MAX_BATCH


def test_times_that_are_not_known_ask_for_no_batch() -> None:
    assert batch_size({"a": float("nan"), "b": 0.0}, 1000.0, block_s=1.0, limit_s=10.0) == 1
    assert batch_size({}, 1000.0, block_s=1.0, limit_s=10.0) == 1
