from __future__ import annotations

import pytest

from xebench.vocabulary import find_baseline


@pytest.mark.parametrize(
    ("members", "baseline"),
    [
        (["optimized.a", "naive.b", "naive.c"], "naive.b"),
        (["antipattern.a", "baseline.b", "optimized.c"], "baseline.b"),
        (["baseline.a", "naive.b"], "naive.b"),
        (["optimized.a", "antipattern.b"], "antipattern.b"),
        (["optimized.a", "intermediate.b"], None),
        ([], None),
    ],
)
def test_the_baseline_is_the_first_of_the_best_role(members: list[str], baseline: str | None) -> None:
    assert find_baseline(members, role=lambda member: member.partition(".")[0]) == baseline
