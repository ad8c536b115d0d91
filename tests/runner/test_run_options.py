"""From what a user asks for to the limits of sampling."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from xebench.errors import XebenchError
from xebench.measuring.sampling import Sampling
from xebench.runner.run_options import Options, Recipe


def sampling(preset: str = "default", **asked: Any) -> Sampling:
    return Options(Path("run"), Recipe((), preset, **asked)).sampling()


def test_defaults_go_with_the_preset() -> None:
    smoke, default, guide = (sampling(preset) for preset in ("smoke", "default", "guide"))
    assert (smoke.min_blocks, default.min_blocks) == (6, 10)
    assert smoke.budget_s < default.budget_s < guide.budget_s
    assert default.precision == 0.01
    assert default.max_blocks == 1000
    assert (smoke.min_instances, default.min_instances) == (6, 6)
    assert (smoke.instances, default.instances) == (6, None), "smoke takes them in one round"
    assert (smoke.alone_s, default.alone_s) == (0.05, 0.0)
    assert (smoke.few_instances, default.few_instances) == (3, 3)
    assert (sampling(instances=6).few_instances, sampling(instances=2).few_instances) == (6, 2), "as the user says"


def test_what_is_asked_for_counts() -> None:
    asked = sampling(min_samples=20, max_samples=50, precision=0.002, budget_s=9.0, state="cold")
    assert (asked.min_blocks, asked.max_blocks, asked.precision, asked.budget_s) == (20, 50, 0.002, 9.0)
    assert asked.states == ("cold",)
    assert (sampling("smoke", instances=4).min_instances, sampling(instances=1).min_instances) == (4, 1)
    assert sampling(min_samples=2000).max_blocks == 2000
    assert sampling(min_samples=2000, state="both").for_each_state().max_blocks == 2000


def test_a_run_with_a_budget_limits_its_families_by_that_alone() -> None:
    def planned(preset: str, **asked: Any) -> tuple[float, float, float | None]:
        options = Options(Path("run"), Recipe((), preset, **asked), run_budget_s=540.0)
        plan = options.round_plan()
        return plan.sampling.budget_s, plan.round_s, plan.budget_s

    assert planned("default") == (math.inf, 2.0, 540.0)
    assert planned("default", budget_s=9.0) == (9.0, 3.0, 540.0)
    assert planned("smoke") == (0.4, 0.4, 540.0), "smoke looks for a moment"


@pytest.mark.parametrize("asked", [{"min_samples": 30, "max_samples": 20}, {"max_samples": 15, "state": "both"}])
def test_fewest_above_most_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(XebenchError, match="leaves no room"):
        sampling(**asked)
