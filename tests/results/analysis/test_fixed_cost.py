"""Short kernels are mostly fixed cost, and pairs of them say so."""

from __future__ import annotations

import pytest
from synthetic import Synthetic, noisy


def pair(naive_ns: float, optimized_ns: float, metric: str = "device", **device: float) -> dict[str, object]:
    made = Synthetic(**device)
    made.times(made.case("a", "naive", metric=metric), noisy(naive_ns, seed=1))
    made.times(made.case("b", "optimized", metric=metric), noisy(optimized_ns, seed=2))
    (found,) = made.run().pairs.to_dict("records")
    return {str(name): value for name, value in found.items()}


def test_a_pair_of_short_kernels_says_how_short() -> None:
    found = pair(20_000.0, 11_600.0, empty_kernel_ns=2900.0)
    assert found["times_empty_kernel"] == pytest.approx(4, rel=0.01)
    assert "; times are only 4.0 times an empty kernel's (2.9 us): fixed cost is in the ratio" in str(found["reason"])


def test_the_shorter_side_decides_whichever_it_is() -> None:
    found = pair(11_600.0, 290_000.0, empty_kernel_ns=2900.0)
    assert found["times_empty_kernel"] == pytest.approx(4, rel=0.01)


def test_long_kernels_and_other_metrics_need_no_remark() -> None:
    long = pair(58_000.0, 32_000.0, empty_kernel_ns=2900.0)
    assert long["times_empty_kernel"] == pytest.approx(11, rel=0.01)
    assert "fixed cost" not in str(long["reason"])
    assert "fixed cost" not in str(pair(20_000.0, 11_600.0, "wall", empty_kernel_ns=2900.0)["reason"])


def test_runs_that_know_no_empty_kernel_have_no_remark() -> None:
    assert "fixed cost" not in str(pair(20.0, 10.0)["reason"])
