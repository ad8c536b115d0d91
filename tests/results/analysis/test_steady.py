"""Slow starts and drifts that are made up, honest noise, and the stored samples of a GPU that starts slowly."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from synthetic import Synthetic

from xebench.results.analysis.intervals import log_ratios
from xebench.results.analysis.statistics import NO_START, SeriesStart, settled, start_of, start_of_instances

STORED = json.loads((Path(__file__).parent / "data" / "slow_start.json").read_text())

Make = Callable[[np.random.Generator, int], np.ndarray]


def independent(source: np.random.Generator, size: int) -> np.ndarray:
    return source.normal(0, 0.05, size)


def heavy_tails(source: np.random.Generator, size: int) -> np.ndarray:
    return 0.05 * source.standard_t(2, size)


def bursts(source: np.random.Generator, size: int) -> np.ndarray:
    """Load that comes and goes makes both sides vary more, for eight blocks on average."""
    loaded, values = False, source.normal(0, 0.02, size)
    for index in range(size):
        loaded = loaded != (source.random() < (1 / 8 if loaded else 1 / 20))
        values[index] += loaded * source.normal(0, 0.3)
    return values


def alike_neighbours(source: np.random.Generator, size: int) -> np.ndarray:
    values = source.normal(0, 0.05, size)
    for index in range(1, size):
        values[index] += 0.3 * values[index - 1]
    return values


@pytest.mark.parametrize("size", [10, 32, 64, 166])
@pytest.mark.parametrize("make", [independent, heavy_tails, bursts, alike_neighbours])
def test_honest_noise_has_hardly_ever_a_start(make: Make, size: int) -> None:
    source = np.random.default_rng(size)
    found = sum(start_of(make(source, size)) != NO_START for _ in range(400))
    assert found <= 12  # 3 %


@pytest.mark.parametrize(("size", "length"), [(60, 10), (50, 16), (64, 16), (166, 13)])
def test_a_slow_start_is_found_where_it_ends(size: int, length: int) -> None:
    source = np.random.default_rng(5)
    series = [independent(source, size) - 0.4 * (np.arange(size) < length) for _ in range(100)]
    found = [start_of(values) for values in series]
    assert sum(start.over and abs(start.length - length) <= 2 for start in found) >= 80
    assert abs(np.median([settled(values).size for values in series]) - (size - length)) <= 1


def test_a_start_of_several_steps_ends_with_the_last() -> None:
    steps = np.repeat([0.0, 0.5, 0.8], [12, 16, 72])
    assert abs(start_of(steps + independent(np.random.default_rng(1), 100)).length - 28) <= 1


def test_ten_values_that_lie_wholly_in_the_start_cannot_show_it_and_a_start_near_the_end_is_not_over() -> None:
    source = np.random.default_rng(2)
    values = independent(source, 32) - 0.8 * (np.arange(32) < 16)
    assert start_of(values[:10]) == NO_START
    assert start_of(values) == SeriesStart(16, over=False)
    assert settled(values).size == 32, "what is not over cannot be taken out"


def test_a_slope_is_never_over() -> None:
    source = np.random.default_rng(3)
    found = [start_of(0.005 * np.arange(96) + 0.6 * independent(source, 96)) for _ in range(50)]
    assert sum(not start.over for start in found) >= 45


def test_a_change_that_is_sure_and_small_is_none() -> None:
    values = 0.01 * (np.arange(64) < 32) + 0.001 * independent(np.random.default_rng(4), 64)
    assert start_of(values) == NO_START


def instances(*sizes: int, start: int, warm_up: int = 2) -> list[tuple[np.ndarray, np.ndarray]]:
    source = np.random.default_rng(6)
    places = [np.arange(warm_up, warm_up + size) for size in sizes]
    return [(independent(source, own.size) - 0.8 * (own < start), own) for own in places]


def test_instances_that_are_too_short_to_show_a_start_are_judged_by_the_long_ones() -> None:
    assert start_of_instances(instances(100, 100, 10, 10, 10, 10, start=16)) == SeriesStart(16, over=True)
    assert start_of_instances(instances(100, 100, 10, 10, start=0)) == NO_START


def test_what_one_instance_shows_counts_where_the_others_warmed_up_for_as_long() -> None:
    long, *rest = instances(100, 10, 10, 10, start=16)
    assert start_of_instances([long, *rest]) == NO_START
    later: list[tuple[np.ndarray, np.ndarray]]
    later = [(values, places + 20) for values, places in instances(10, 10, 10, start=0)]
    assert start_of_instances([long, *later]) == SeriesStart(16, over=True)


def test_what_some_instances_show_and_others_do_not_is_no_start() -> None:
    shown, steady = instances(100, 100, start=16), instances(100, 100, 100, start=0)
    assert start_of_instances([*shown, *steady]) == NO_START
    unlike = [*instances(150, 150, start=16), *instances(150, 150, start=40)]
    assert start_of_instances(unlike) == NO_START


def test_the_stored_gpu_that_starts_slowly_is_judged_by_its_steady_state() -> None:
    """Of the run ``results/nvidia-h200/default``: twelve instances, nine of which end within the start."""
    made = Synthetic(device_class="gpu")
    cases = [made.case("in_order", "naive", metric="wall"), made.case("out_of_order", "optimized", metric="wall")]
    block = 0
    for number, one in enumerate(STORED):
        for state, both in zip(one["states"], one["host_ns"], strict=True):
            block += 1
            for case, host_ns in zip(cases, both, strict=True):
                made.sample(case, block=block, instance=number, state=state, host_ns=host_ns, device_ns=1.0)
    pair = made.run().pairs.iloc[0]
    assert (pair["answer"], pair["instances"]) == ("holds", 3)
    assert pair["speedup"] == pytest.approx(1.23, abs=0.03)
    everything = [log_ratios(*np.transpose(one["host_ns"])) for one in STORED]
    assert np.exp(np.mean([np.median(ratios) for ratios in everything])) < 0.6, "what the samples say with the start"
