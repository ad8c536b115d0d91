"""Honest variants that the rules against kept results must let be."""

from __future__ import annotations

from pathlib import Path

import pytest
from family_kit import measure

pytestmark = pytest.mark.device

FAULTY = Path(__file__).parents[1] / "faulty"


@pytest.fixture(autouse=True)
def recorded() -> None:
    """Library calls are recorded, as in a worker."""
    from xebench.dpex import direct_calls

    direct_calls.install()


@pytest.mark.parametrize("pattern", ["edges", "of_a_range", "ranges", "tables", "by_memory", "in_order"])
def test_honest_variants_are_right(pattern: str) -> None:
    done = measure(FAULTY / "honest_patterns.py", pattern)
    assert {name: (case["status"], case["reason"]) for name, case in done.cases.items()} == dict.fromkeys(
        done.cases, ("ok", "")
    )


def test_a_problem_that_refuses_some_seeds_has_one_data_set_or_no_further_one(tmp_path: Path) -> None:
    (tmp_path / "picky.py").write_text(PICKY, encoding="utf-8")
    for pattern, data_sets in (("refuses_the_second", 1), ("refuses_the_third", 2)):
        done = measure(tmp_path / "picky.py", pattern)
        assert {(case["status"], case["data_sets"]) for case in done.cases.values()} == {("ok", data_sets)}


PICKY = """
from __future__ import annotations
from dataclasses import dataclass
import numpy as np
from xebench import Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

@dataclass
class Seeds:
    made: set[int]
    most: int

@kernel
def double(item: kapi.Item, x, y):
    y[item.get_id(0)] = x[item.get_id(0)] + x[item.get_id(0)]

def declare(name, most):
    sizes = {"n": 64}
    pattern = Pattern(name, guide="none", lesson="Is picky.", presets={"smoke": sizes, "default": sizes})
    seeds = Seeds(set(), most)

    @pattern.problem
    def numbers(rng, n):
        seeds.made.add(rng.bit_generator.seed_seq.entropy)
        if len(seeds.made) > seeds.most:
            raise ValueError("singular: give another seed")
        return Problem(x=rng.random(n, dtype=np.float32), y=output(n, np.float32))

    pattern.reference(lambda p: {"y": 2 * p.x})

    def launch(session, p):
        session.launch(double, kapi.Range(p.n), p.x, p.y)

    def launch_again(session, p):
        launch(session, p)

    pattern.naive(launch)
    pattern.optimized(launch_again)
    return pattern

refuses_the_second = declare("refuses_the_second", 1)
refuses_the_third = declare("refuses_the_third", 2)
"""
