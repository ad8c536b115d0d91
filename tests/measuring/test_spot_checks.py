"""Which samples of a round a check follows."""

from __future__ import annotations

import random

from xebench.measuring.samples import SpotChecks


def test_each_variant_is_checked_after_one_of_its_first_samples_drawn_at_random() -> None:
    seen = set()
    for seed in range(20):
        checks = SpotChecks(random.Random(seed), 10)
        checked = {variant: [number for number in range(1000) if checks.due(variant)] for variant in "ab"}
        for numbers in checked.values():
            assert len(numbers) == 1 and numbers[0] < 10
            seen.add(numbers[0])
    assert len(seen) > 5


def test_the_time_of_checks_is_no_time_of_sampling() -> None:
    now_s = 0.0
    checks = SpotChecks(random.Random(1), 10, lambda: now_s)
    now_s = 100.0
    with checks.counted():
        now_s += 3.0
    assert checks.sampling_clock() == 100.0
