"""The order of samples and the end of sampling, with a fake clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from harness.runner.sampler import Sampling, block_orders, sample_family

NAMES = ("naive", "optimized", "library")


class Bench:
    """Variants of known length on a clock of its own; the first blocks are slower, each less than the last."""

    def __init__(self, lengths: Mapping[str, float], cold: int = 0) -> None:
        self.lengths = lengths
        self.cold = cold
        self.now = 0.0
        self.taken: list[tuple[str, str, int, int]] = []

    def measure(self, variant: str, *, state: str, block: int, order: int) -> float:
        self.taken.append((variant, state, block, order))
        length = self.lengths[variant] * (1 + max(0, self.cold - block))
        self.now += length
        return length * 1e9

    def clock(self) -> float:
        return self.now


def stop_after(blocks: int) -> object:
    def decide(values: Mapping[str, Sequence[float]], elapsed_s: float) -> str | None:
        return "precision" if len(next(iter(values.values()))) >= blocks else None

    return decide


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


def test_warm_up_ends_when_blocks_agree_and_is_recorded() -> None:
    bench = Bench(dict.fromkeys(NAMES, 0.001), cold=3)
    reason = sample_family(NAMES, bench.measure, stop_after(4), Sampling(budget_s=100), seed=1, clock=bench.clock)
    states = [(block, state) for _, state, block, _ in bench.taken]
    # blocks 0 to 2 are slow and change, 3 differs from 2, 4 agrees with 3
    assert {block for block, state in states if state == "warmup"} == {0, 1, 2, 3, 4}
    assert {block for block, state in states if state == "hot"} == {5, 6, 7, 8}
    assert reason == "precision"


def test_warm_up_takes_at_most_a_quarter_of_the_budget() -> None:
    bench = Bench({"a": 2.0, "b": 1.0})
    sample_family(("a", "b"), bench.measure, stop_after(1), Sampling(budget_s=8), seed=1, clock=bench.clock)
    assert [block for _, state, block, _ in bench.taken if state == "warmup"] == [0, 0]


def test_the_stopping_rule_sees_the_samples_of_each_variant_and_the_time_spent() -> None:
    bench = Bench({"a": 2.0, "b": 1.0})
    seen: list[tuple[dict[str, list[float]], float]] = []

    def decide(values: Mapping[str, Sequence[float]], elapsed_s: float) -> str | None:
        seen.append(({name: list(v) for name, v in values.items()}, elapsed_s))
        return "budget" if elapsed_s > 8 else None

    reason = sample_family(("a", "b"), bench.measure, decide, Sampling(budget_s=8), seed=1, clock=bench.clock)
    assert reason == "budget"
    assert seen[0] == ({"a": [2e9], "b": [1e9]}, 6.0)
    assert seen[-1] == ({"a": [2e9, 2e9], "b": [1e9, 1e9]}, 9.0)
