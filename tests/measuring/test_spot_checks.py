"""When a variant is checked among its samples, with a clock of the test's own."""

from __future__ import annotations

import random

from xebench.measuring.samples import PART, SpotChecks


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def sample(
    checks: SpotChecks, clock: Clock, samples: int, check_s: float, variants: str = "ab"
) -> dict[str, list[int]]:
    """Which samples of each variant were checked, when a sample takes a second."""
    checked: dict[str, list[int]] = {variant: [] for variant in variants}
    for number in range(samples):
        for variant in variants:
            clock.now_s += 1
            if checks.due(variant):
                with checks.counted():
                    clock.now_s += check_s
                checked[variant].append(number)
    return checked


def test_each_variant_is_checked_in_the_first_blocks_of_each_instance_and_seldomer_later() -> None:
    clock = Clock()
    checks = SpotChecks(random.Random(1), 10, clock)
    seen = []
    for _ in range(20):
        checked = sample(checks, clock, 1000, check_s=0.0)
        for numbers in checked.values():
            assert numbers[0] < 10 and 3 <= len(numbers) <= 30
            seen.append(tuple(numbers))
        checks.new_instance()
    assert len(set(seen)) == len(seen), "which samples they are is random"


def test_checks_take_a_small_part_of_the_time_beside_the_first_of_each_variant() -> None:
    clock = Clock()
    checks = SpotChecks(random.Random(1), 10, clock)
    checked = sample(checks, clock, 12, check_s=50.0)
    assert {variant: len(numbers) for variant, numbers in checked.items()} == {"a": 1, "b": 1}
    for _ in range(30):
        checks.new_instance()
        sample(checks, clock, 1000, check_s=50.0)
    spent_s = clock.now_s - checks.sampling_clock()
    assert 2 * 50 < spent_s <= PART * clock.now_s + 50


def test_the_time_of_checks_is_no_time_of_sampling() -> None:
    clock = Clock()
    checks = SpotChecks(random.Random(1), 10, clock)
    sample(checks, clock, 100, check_s=3.0)
    assert clock.now_s > 200 and checks.sampling_clock() == 200
