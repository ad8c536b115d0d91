"""The order of samples and the end of sampling, with a fake clock."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances_kit import RoundRule

from xebench.measuring.sampling import Sampling, SamplingEnd, block_orders, sample_family
from xebench.measuring.stopping import NEXT_INSTANCE
from xebench.vocabulary import State

NAMES = ("naive", "optimized", "library")


class Bench:
    """Variants of known length on a clock of its own; the first blocks are slower, each less than the last."""

    def __init__(self, lengths: Mapping[str, float], cold: int = 0) -> None:
        self.lengths = lengths
        self.cold = cold
        self.now = 0.0
        self.taken: list[tuple[str, str, int, int]] = []
        self.batches: list[int] = []
        self.fails_at: dict[str, int] = {}

    def measure(self, variant: str, *, state: str, block: int, order: int, batch: int) -> float | None:
        if self.fails_at.get(variant, math.inf) <= block:
            return None
        self.taken.append((variant, state, block, order))
        self.batches.append(batch)
        length = self.lengths[variant] * (1 + max(0, self.cold - block))
        self.now += length * batch
        return length * 1e9

    def clock(self) -> float:
        return self.now


def stop_after(blocks: int) -> Any:
    def decide(values: Mapping[str, Sequence[float]], elapsed_s: float) -> str | None:
        return "precision" if len(next(iter(values.values()))) >= blocks else None

    return decide


def sample(bench: Bench, decide: Any, sampling: Sampling, **options: Any) -> SamplingEnd:
    return sample_family(tuple(bench.lengths), bench.measure, decide, sampling, seed=1, clock=bench.clock, **options)


@given(st.integers(0, 1000))
def test_each_block_holds_every_variant_and_the_next_runs_it_backwards(seed: int) -> None:
    orders = block_orders(NAMES, seed)
    for _ in range(5):
        first, second = next(orders), next(orders)
        assert sorted(first) == sorted(NAMES)
        assert second == first[::-1]


def test_every_position_is_taken_equally_often_by_a_pair() -> None:
    orders = block_orders(("a", "b"), 7)
    assert Counter(next(orders)[0] for _ in range(40)) == {"a": 20, "b": 20}


def test_variants_come_in_every_order() -> None:
    orders = block_orders(("a", "b", "c"), 7)
    assert len({tuple(next(orders)) for _ in range(100)}) == 6


def test_warm_up_ends_when_times_fall_no_more_and_is_recorded() -> None:
    bench = Bench(dict.fromkeys(NAMES, 0.001), cold=3)
    done = sample(bench, stop_after(4), Sampling(budget_s=100, min_blocks=1))
    states = [(block, state) for _, state, block, _ in bench.taken]
    # blocks 0 to 2 are slow, each less than the last, 3 is the fastest, 4 is as fast
    assert {block for block, state in states if state == "warmup"} == {0, 1, 2, 3, 4}
    assert {block for block, state in states if state == "hot"} == {5, 6, 7, 8}
    assert done == SamplingEnd("precision", 9)


def test_warm_up_takes_at_most_a_quarter_of_the_budget() -> None:
    bench = Bench({"a": 2.0, "b": 1.0})
    sample(bench, stop_after(1), Sampling(budget_s=8, min_blocks=1))
    assert [block for _, state, block, _ in bench.taken if state == "warmup"] == [0, 0]


def test_the_stopping_rule_sees_the_samples_of_each_variant_and_the_time_spent() -> None:
    bench = Bench({"a": 2.0, "b": 1.0})
    seen: list[tuple[dict[str, list[float]], float]] = []

    def decide(values: Mapping[str, Sequence[float]], elapsed_s: float) -> str | None:
        seen.append(({name: list(v) for name, v in values.items()}, elapsed_s))
        return "budget" if elapsed_s > 8 else None

    assert sample(bench, decide, Sampling(budget_s=8, min_blocks=1)).stopped_by == "budget"
    assert seen[0] == ({"a": [2e9], "b": [1e9]}, 6.0)
    assert seen[-1] == ({"a": [2e9, 2e9], "b": [1e9, 1e9]}, 9.0)


def test_the_interval_is_looked_at_from_the_fewest_blocks_on_and_less_and_less_often() -> None:
    looks: list[int] = []

    def decide(values: Mapping[str, Sequence[float]], elapsed_s: float) -> str | None:
        looks.append(len(values["a"]))
        return "max blocks" if looks[-1] >= 100 else None

    sample(Bench({"a": 0.001}), decide, Sampling(budget_s=1e9, min_blocks=10, max_blocks=100))
    assert looks[0] == 10 and looks[-1] == 100
    assert all(after - before <= 0.2 * before + 1 for before, after in itertools.pairwise(looks))
    assert len(looks) < 20


def test_the_budget_ends_it_whenever_it_is_spent() -> None:
    looks: list[float] = []

    def decide(values: Mapping[str, Sequence[float]], elapsed_s: float) -> str | None:
        looks.append(elapsed_s)
        return "budget" if elapsed_s >= 8 else None

    assert sample(Bench({"a": 1.0}), decide, Sampling(budget_s=8, min_blocks=100)).stopped_by == "budget"
    assert looks == [8.0]


def test_a_variant_that_fails_drops_out_and_the_others_go_on() -> None:
    bench = Bench(dict.fromkeys(NAMES, 0.001))
    bench.fails_at["optimized"] = 4
    seen: list[set[str]] = []

    def decide(values: Mapping[str, Sequence[float]], elapsed_s: float) -> str | None:
        seen.append(set(values))
        assert len({len(series) for series in values.values()}) == 1, "series of one family are as long as its blocks"
        return "precision" if len(seen) == 6 else None

    done = sample(bench, decide, Sampling(budget_s=100, min_blocks=1))
    assert done.stopped_by == "precision"
    assert seen[0] == set(NAMES) and seen[-1] == {"naive", "library"}
    assert {block for name, _, block, _ in bench.taken if name == "optimized"} == {0, 1, 2, 3}
    blocks = Counter(block for name, _, block, _ in bench.taken if name == "naive")
    assert set(blocks) == set(range(done.next_block)), "no block is lost with the variant"


@pytest.mark.parametrize("block", [0, 3])
def test_when_every_variant_has_failed_sampling_ends_without_a_reason(block: int) -> None:
    bench = Bench({"a": 0.001, "b": 0.001})
    bench.fails_at = {"a": block, "b": block}
    assert sample(bench, stop_after(100), Sampling(budget_s=100, min_blocks=1)).stopped_by == ""


def test_the_batch_is_chosen_after_the_warm_up_from_its_last_block() -> None:
    bench = Bench({"a": 2.0, "b": 1.0}, cold=1)
    chosen: list[tuple[dict[str, float], float]] = []

    def choose(times_ns: Mapping[str, float], block_s: float) -> int:
        chosen.append((dict(times_ns), block_s))
        return 7

    sample(bench, stop_after(2), Sampling(budget_s=1000, min_blocks=1), choose_batch=choose)
    assert chosen == [({"a": 2e9, "b": 1e9}, 3.0)]
    assert [batch for batch, (_, state, _, _) in zip(bench.batches, bench.taken, strict=True) if state == "hot"] == [
        7
    ] * 4
    assert set(bench.batches[:4]) == {1}


def test_a_state_has_its_name_and_its_blocks() -> None:
    bench = Bench({"a": 0.001, "b": 0.001})
    sample(bench, stop_after(2), Sampling(budget_s=100, min_blocks=1), state="cold", first_block=20)
    assert {state for _, state, _, _ in bench.taken} == {"warmup", "cold"}
    assert min(block for _, _, block, _ in bench.taken) == 20


def test_two_states_share_what_a_family_may_take() -> None:
    both = Sampling(budget_s=6, max_blocks=400, states=(State.HOT, State.COLD)).for_each_state()
    assert (both.budget_s, both.max_blocks) == (3, 200)
    assert both.states == ("hot", "cold")
    one = Sampling(budget_s=6)
    assert one.for_each_state() == one


def test_warm_up_of_times_that_only_vary_is_short_and_a_known_start_is_added_to_it() -> None:
    def warm_up(start_blocks: int, seed: int) -> int:
        source, states = random.Random(seed), []

        def measure(variant: str, *, state: str, block: int, order: int, batch: int) -> float:
            states.append(state)
            return source.uniform(1, 3)

        limits = Sampling(budget_s=math.inf, min_blocks=1, start_blocks=start_blocks)
        sample_family(("a", "b"), measure, stop_after(1), limits, seed=seed)
        return states.count("warmup") // 2

    assert np.mean([warm_up(0, seed) for seed in range(100)]) < 4
    assert all(warm_up(16, seed) >= 18 for seed in range(20))


def test_warm_up_without_a_valid_sample_ends() -> None:
    def measure(variant: str, *, state: str, block: int, order: int, batch: int) -> float:
        return math.nan

    assert (
        sample_family(("a",), measure, stop_after(1), Sampling(budget_s=math.inf, min_blocks=1), seed=1).next_block == 3
    )


def test_a_slow_start_is_seen_in_the_first_instance_and_the_others_warm_up_for_as_long() -> None:
    """As a GPU was seen to do it: for 16 executions one side takes four times as long as from then on."""
    source = np.random.default_rng(3)
    limits = Sampling(precision=0.01, budget_s=60.0, min_instances=6)
    rule, done = RoundRule(limits, "a", clock=lambda: 0.0), SamplingEnd(NEXT_INSTANCE, 0)
    hot: list[int] = []
    while done.stopped_by == NEXT_INSTANCE:
        taken = Counter[str]()

        def measure(
            variant: str, *, state: str, block: int, order: int, batch: int, taken: Counter[str] = taken
        ) -> float:
            taken[variant] += 1
            taken[state] += 1
            slow = 4.0 if variant == "b" and taken[variant] <= 16 else 1.0
            return float({"a": 1.25, "b": 1.0}[variant] * slow * source.lognormal(0, 0.01))

        done = sample_family(("a", "b"), measure, rule.decide, rule.share, seed=1, clock=lambda: 0.0)
        hot.append(taken["hot"] // 2)
        assert len(hot) == 1 or taken["warmup"] // 2 >= 16, "all but the first instance warm up for as long"
    assert done.stopped_by == "precision"
    assert hot[0] >= 3 * 14 and max(hot[1:]) < 32, "the first one is sampled until its start is surely over"
    later = [np.median(one["b"]) for one in rule.taken[1:]]
    assert np.exp(np.mean(later)) == pytest.approx(1.25, rel=0.01)
