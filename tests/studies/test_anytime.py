"""A run as it was earlier, and made-up families whose answers are known."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from synthetic import Synthetic

from tools.studies.anytime import Next, in_turn, moments, planned, simulate
from xebench.results import Run
from xebench.results.analysis.claim import Claim, to_json


def run_of_two_families() -> Run:
    """Two families with three instances each, one family after the other; then three more of the first one."""
    made = Synthetic()
    cases = {
        name: [
            made.case(variant, role, pattern=name, claims=claims, stopped_by="precision")
            for variant, role, claims in (
                ("a", "naive", "[]"),
                ("b", "optimized", to_json([Claim("faster")])),
            )
        ]
        for name in ("p", "q")
    }
    block = 0
    for name, instances in (("p", range(3)), ("q", range(3)), ("p", range(3, 6))):
        for instance in instances:
            for _ in range(8):
                for case_id, time_ns in zip(cases[name], (200.0 + 20 * (instance % 3), 100.0), strict=True):
                    made.sample(case_id, block=block, instance=instance, device_ns=time_ns, host_ns=1000.0, batch=1)
                block += 1
    return made.run()


def test_a_run_is_looked_at_after_equal_parts_of_its_time() -> None:
    run = run_of_two_families()
    first, second, last = moments(run, 9.0, 3)
    assert [each.minutes for each in (first, second, last)] == pytest.approx([3.0, 6.0, 9.0])
    assert [each.visited for each in (first, second, last)] == [1, 2, 2]
    assert [each.answered + each.undecided for each in (first, second, last)] == [1, 2, 2]
    assert last.answered == int(run.pairs["answer"].eq("holds").sum()) == 2
    assert last.half_width < first.half_width, "six instances of one family are known better than three"


def test_what_the_study_cannot_date_is_refused(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from tools.studies.anytime import main
    from xebench.errors import XebenchError
    from xebench.results import RunWriter

    with RunWriter.create(tmp_path / "run", {}) as writer:
        writer.finish("complete")
    found = CliRunner().invoke(main, [str(tmp_path / "run")])
    assert isinstance(found.exception, XebenchError) and "in one session" in str(found.exception)


def tally(choose: Next) -> Counter[str]:
    return sum((simulate(choose, seed) for seed in range(4)), Counter())


def test_a_plan_answers_more_and_what_is_equal_looks_different_no_more_often_than_intervals_allow() -> None:
    plan, turns = tally(planned), tally(in_turn)
    assert plan["different: right"] > turns["different: right"]
    assert plan["equal: right"] > turns["equal: right"]
    equal = sum(count for result, count in plan.items() if result.startswith("equal"))
    assert plan["equal: false"] <= 0.06 * equal
    assert not plan["equal: not visited"] and not plan["different: not visited"]
