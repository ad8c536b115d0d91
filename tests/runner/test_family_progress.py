"""Which variants of a family wait, what became of the others, and what is left to spend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from xebench.errors import PatternError
from xebench.measuring.case_rows import CaseResult, Work, fixed_columns
from xebench.measuring.messages import Instance
from xebench.measuring.sampling import Sampling
from xebench.patterns.declaration import PatternInfo, VariantInfo
from xebench.patterns.plan import Family
from xebench.patterns.problem import Problem, inout, output
from xebench.results.columns import FACTS
from xebench.runner.family_progress import FamilyProgress
from xebench.runner.round_plan import Round
from xebench.vocabulary import State, Status

ROLES = (("a", "naive"), ("b", "intermediate"), ("c", "optimized"))
VARIANTS = tuple(VariantInfo(name, role, (), "") for name, role in ROLES)
INFO = PatternInfo("p", "f", "g", "l", (), "device", {"smoke": {"n": 8}}, {}, VARIANTS, "p.py")
FAMILY = Family(INFO, "smoke", {"n": 8}, {"n": 8})
OK = CaseResult(Status.OK, "", work=Work(bytes_moved=64))


def begin(**limits: Any) -> FamilyProgress:
    fixed = fixed_columns(FAMILY, {"device": "opencl:cpu:0", "device_class": "cpu"}, seed=1)
    return FamilyProgress(FAMILY, fixed, Sampling(**limits), next_block=0)


def sample(number: int, block: int, instance: int | None = 0, state: str = "hot") -> dict[str, Any]:
    return {"case_id": "p/b/smoke/-/cpu", "sample_id": number, "block": block, "instance": instance, "state": state}


def instance(state: State = State.HOT, blocks: int = 0, seconds: float = 0.0, **speedups: Sequence[float]) -> Instance:
    return Instance(number=0, state=state, speedups=speedups, blocks=blocks, seconds=seconds)


def test_every_variant_waits_until_it_has_its_result() -> None:
    progress = begin()
    assert progress.waiting == ["a", "b", "c"]
    assert {row["status"] for row in progress.rows()} == {"interrupted"}
    assert progress.finish("b", OK)["status"] == "ok"
    (lost,) = progress.give_up(["a"], Status.CRASHED, "check: signal SIGSEGV")
    assert (lost["variant"], lost["status"], lost["reason"]) == ("a", "crashed", "check: signal SIGSEGV")
    assert progress.waiting == ["c"]
    assert progress.statuses() == {"a": "crashed", "b": "ok", "c": "interrupted"}


def test_a_later_round_is_for_what_is_good_and_what_is_known_stands_meanwhile() -> None:
    progress = begin()
    progress.finish("a", OK)
    progress.finish("b", CaseResult(Status.WRONG, "x"))
    progress.finish("c", OK)
    progress.begin(Round(1))
    assert progress.waiting == ["a", "c"]
    assert progress.statuses() == {"a": "interrupted", "b": "wrong", "c": "interrupted"}
    assert [row["status"] for row in progress.rows()] == ["ok", "wrong", "ok"]
    (lost,) = progress.give_up(["c"], Status.TIMEOUT, "hung")
    assert (lost["status"], lost["bytes_moved"]) == ("timeout", 64), "what its problem needs is known"


def test_what_is_known_precisely_does_not_wait_for_a_later_round() -> None:
    progress = begin()
    for variant, stopped_by in (("a", "precision"), ("b", "round"), ("c", "precision")):
        progress.finish(variant, CaseResult(Status.OK, "", stopped_by))
    progress.begin(Round(1))
    assert progress.waiting == ["b"]


def test_medians_are_of_each_variant_over_its_instances() -> None:
    progress = begin()
    progress.instances = [instance(b=[0.1, 0.2, 0.3], c=[0.0]), instance(b=[0.4, 0.5]), instance(b=[])]
    assert progress.medians("hot") == [[0.2, 0.45], [0.0]]
    assert progress.medians("cold") == []


def test_a_slow_start_is_in_no_median() -> None:
    progress = begin()
    later = np.random.default_rng(1).normal(0.1, 0.02, 60)
    progress.instances = [instance(b=[*np.full(20, 0.9), *later])]
    assert progress.medians("hot") == [[np.median(later)]]


def test_nothing_waits_when_all_samples_are_taken() -> None:
    progress = begin(max_blocks=2)
    for variant in progress.fixed:
        progress.finish(variant, OK)
    progress.instances = [instance(blocks=2)]
    progress.begin(Round(1))
    assert progress.waiting == []


@pytest.mark.parametrize(("spent_s", "own_s"), [(0.0, 4.0), (5.0, 4.0), (8.0, 1.0)])
def test_a_round_has_its_own_time_and_no_more_than_is_left(spent_s: float, own_s: float) -> None:
    progress = begin(budget_s=9.0)
    progress.lost_s = spent_s
    progress.begin(Round(1, 4.0))
    assert progress.limits(left_s=100.0).budget_s == own_s
    assert progress.limits(left_s=0.5).budget_s == 0.5
    assert progress.limits(left_s=-1.0).budget_s == 0.0


def test_numbers_go_on_counting_and_compilations_are_not_asked_for_twice() -> None:
    progress = begin()
    progress.number(sample(0, -1, instance=None, state="compile"))
    progress.number(sample(1, 6, instance=2))
    progress.number(sample(2, 3, instance=1))
    assert (progress.next_block, progress.next_instance, progress.compiled) == (7, 3, {"b"})


def test_instances_and_lost_workers_have_spent_their_time() -> None:
    progress = begin(budget_s=9.0)
    progress.lost_s = 4.0
    assert (progress.spent_s, progress.rest_s) == (4.0, 5.0)
    rows = progress.add(
        Instance(number=0, state=State.HOT, seconds=3.0, parts={"sampling": 3.0}, results=dict.fromkeys("abc", OK))
    )
    assert (progress.spent_s, progress.rest_s, progress.seconds) == (7.0, 2.0, {"sampling": 3.0})
    assert [(row["status"], row["stopped_by"]) for row in rows] == [("ok", "round")] * 3, "until the round is over"
    assert progress.waiting == ["a", "b", "c"]
    progress.finish_all("precision")
    assert not progress.waiting and {row["stopped_by"] for row in progress.rows()} == {"precision"}


def test_a_variant_that_drops_out_of_an_instance_waits_no_more() -> None:
    progress = begin()
    results = {"a": OK, "b": CaseResult(Status.WRONG, "x"), "c": OK}
    rows = progress.add(Instance(number=0, state=State.HOT, results=results))
    assert [row["status"] for row in rows] == ["ok", "wrong", "ok"]
    assert progress.waiting == ["a", "c"]
    assert len(progress.add(Instance(number=1, state=State.HOT, results=results))) == 2, "its result stands"


@pytest.mark.parametrize(("sampling_s", "max_blocks", "last"), [(9.0, 9, True), (3.0, 9, False), (3.0, 1, True)])
def test_a_round_is_the_last_when_it_takes_what_is_left(sampling_s: float, max_blocks: int, last: bool) -> None:
    progress = begin(budget_s=9.0, max_blocks=max_blocks)
    progress.begin(Round(0, sampling_s, 2))
    assert progress.is_last(progress.limits(left_s=20.0)) == last


@pytest.mark.parametrize(("sampling_s", "stopped_by"), [(9.0, "budget"), (3.0, "round")])
def test_the_budget_of_a_round_is_not_that_of_the_family(sampling_s: float, stopped_by: str) -> None:
    for end, expected in (("budget", stopped_by), ("max blocks", "max blocks")):
        progress = begin(budget_s=9.0, max_blocks=1)
        progress.begin(Round(0, sampling_s, 2))
        progress.finish_all(end)
        assert progress.rows()[0]["stopped_by"] == expected


def test_a_round_takes_its_part_of_the_blocks() -> None:
    progress = begin(max_blocks=60)
    for instances, blocks, least in ((1, 10, 1), (2, 20, 2), (6, 60, 6), (None, 60, 6)):
        progress.begin(Round(0, 1.0, instances))
        limits = progress.limits(left_s=9.0)
        assert (limits.max_blocks, limits.round_instances) == (blocks, least)


def test_a_family_is_over_when_nothing_waits_for_a_round() -> None:
    progress = begin()
    assert not progress.is_over
    progress.begin(Round())
    progress.finish("a", CaseResult(Status.OK, "", "round"))
    progress.finish("b", CaseResult(Status.WRONG, "x"))
    assert not progress.is_over
    progress.finish("a", CaseResult(Status.OK, "", "precision"))
    assert progress.is_over


def test_a_round_tells_what_it_took_beside_sampling_and_for_an_instance() -> None:
    progress = begin()
    progress.begin(Round())
    progress.instances = [instance(blocks=2, seconds=2.0, c=[0.5, 0.5])] * 2
    progress.end(seconds=5.5)
    assert progress.beside_s == 1.5
    assert progress.instance_s == 6.0, "two blocks took 2 s, and an interval needs six"
    progress.begin(Round(1))
    progress.end(seconds=1.0)
    assert (progress.beside_s, progress.instance_s) == (1.0, 6.0)


@pytest.mark.parametrize(
    ("stated", "operations"), [(3, 3), (3.0, 3), (np.int64(3), 3), (np.float32(3), 3), (None, None)]
)
def test_whole_numbers_are_kept_whatever_they_are_written_as(stated: Any, operations: int | None) -> None:
    assert Work.of(Problem(bytes_moved=8, operations=stated)) == Work(8, operations, "fp32")


@pytest.mark.parametrize("stated", [1.5, "many", 2**63, [3]])
def test_work_that_cannot_be_kept_is_an_error_of_the_pattern(stated: Any) -> None:
    with pytest.raises(PatternError, match=r"^what the problem states cannot be kept: .*operations"):
        Work.of(Problem(operations=stated))


def test_a_result_is_read_from_a_row_and_leaves_the_rest() -> None:
    work: dict[str, Any] = {"bytes_moved": 8, "operations": None, "operation_kind": "int32", "slm_bytes": 16}
    work |= {"host_bytes": 4, "working_set_bytes": 32, "read_part": 0.5, "peer_bytes": 64}
    row: dict[str, Any] = {"variant": "a", "status": "ok", "reason": "", "stopped_by": "round", **work}
    row |= {
        "kernels": "[1]",
        "error_ulp": 0.5,
        "devices": "2 devices",
        "data_sets": 2,
        "program": "p",
        "switches_found": "{}",
    }
    row |= {"tolerance_used": 0.25, "rtol": 1e-5, "atol": 0.0, "first_commands": 3, "sampled_commands": 2}
    row |= {"prepared_kernels": 1, "doubt": "a", "odd_size": "right", "results_note": None, "traced": "{}"}
    row |= {"error_text": None}
    row |= dict.fromkeys({column.name for column in FACTS} - row.keys())
    result = CaseResult.of_row(row)
    assert result.status == Status.OK and result.work == Work(8, None, "int32", 16, 4, 32, 0.5, 64)
    assert result.columns() == {name: value for name, value in row.items() if name != "variant"}
    unmade = CaseResult(Status.ERROR, "problem: no")
    assert CaseResult.of_row(unmade.columns()).columns() == unmade.columns()
    assert unmade.columns().keys() == result.columns().keys()


def test_what_a_problem_states_outlasts_a_pass_in_which_it_cannot_be_made() -> None:
    progress = begin()
    progress.finish("a", OK)
    row = progress.finish("a", CaseResult(Status.ERROR, "problem: no"))
    assert (row["status"], row["bytes_moved"]) == ("error", 64)


def test_the_working_set_is_what_the_arrays_occupy_on_the_device() -> None:
    half = np.zeros((4, 8), np.float32)
    arrays: dict[str, Any] = {
        "a": half,
        "b": inout(half),
        "c": output((2, 3), np.int16),
        "d": output(5, np.float64, host=True),
    }
    work = Work.of(Problem(bytes_moved=8, steps=3, name="x", **arrays))
    assert work.working_set_bytes == 2 * half.nbytes + 12
    assert work.host_bytes == 40, "what must arrive on the host"
    assert Work.of(Problem(host_bytes=7, **arrays)).host_bytes == 7


def test_what_is_read_of_the_traffic_follows_from_the_arrays() -> None:
    read, written, both = np.zeros(16, np.float32), output(8, np.float32), inout(np.zeros(16, np.float32))
    parts: list[dict[str, Any]] = [{"a": read}, {"c": written}, {"b": both}]
    parts += [{"a": read, "c": written}, {"a": read, "b": both}, {"n": 8}]
    assert [Work.of(Problem(**fields)).read_part for fields in parts] == [1, 0, 1 / 2, 2 / 3, 2 / 3, None]


def test_the_states_are_those_of_the_pattern_unless_the_user_gives_others() -> None:
    cold = msgspec.structs.replace(INFO, state="cold")
    fixed = {name: {"case_id": name} for name, _ in ROLES}

    def states(*asked: State) -> Sequence[str]:
        family = Family(cold, "smoke", {"n": 8}, {"n": 8})
        return FamilyProgress(family, fixed, Sampling(states=asked), 0).sampling.states

    assert states() == ("cold",)
    assert states(State.HOT) == ("hot",)
