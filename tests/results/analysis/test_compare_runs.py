"""Two runs side by side: same, faster, slower, or why not."""

import json
from typing import Any

import numpy as np
import pytest
from changed_run import changed
from synthetic import Synthetic, noisy

from xebench.results import Run, compare_runs


def run(time_ns: float, seed: int, blocks: int = 40, device: dict[str, Any] | None = None, **case: Any) -> Run:
    made = Synthetic(**(device or {}))
    made.times(made.case("v", "optimized", **case), noisy(time_ns, blocks, seed=seed), instances=[0] * blocks)
    return made.run()


@pytest.mark.parametrize(
    ("after_ns", "outcome"),
    [(1000, "same"), (1010, "same"), (1200, "slower"), (800, "faster"), (1050, "inconclusive"), (952, "inconclusive")],
)
def test_outcome(after_ns: float, outcome: str) -> None:
    row = compare_runs(run(1000, 1), run(after_ns, 2)).iloc[0]
    assert row["outcome"] == outcome
    assert row["speedup"] == pytest.approx(1000 / after_ns, rel=0.01)
    assert row["speedup_low"] < row["speedup"] < row["speedup_high"]
    assert (row["before_n"], row["after_n"]) == (40, 40)


def test_the_threshold_decides_what_matters() -> None:
    before, after = run(1000, 1), run(1080, 2)
    assert compare_runs(before, after, 0.03).iloc[0]["outcome"] == "slower"
    assert compare_runs(before, after, 0.2).iloc[0]["outcome"] == "same"
    with pytest.raises(ValueError, match="negative"):
        compare_runs(before, after, -0.1)


def test_two_stacks_are_named() -> None:
    after = run(500, 2)
    other = changed(after, manifest={**after.manifest, "stack": "current"})
    found = compare_runs(run(1000, 1), other).iloc[0]
    assert found["reason"].startswith("different stacks (pinned before, current after): ")
    assert found["outcome"] == compare_runs(run(1000, 1), after).iloc[0]["outcome"] == "faster"


@pytest.mark.parametrize(
    ("generator", "told"), [("PCG64 of numpy 2.0", True), ("MT of numpy 1.0", False), (None, False)]
)
def test_two_generators_of_data_are_named_where_both_are_known(generator: str | None, told: bool) -> None:
    before, after = (
        changed(made, manifest={**made.manifest, "generator": known})
        for made, known in ((run(1000, 1), generator), (run(500, 2), "MT of numpy 1.0"))
    )
    found = compare_runs(before, after).iloc[0]
    named = "different generators (PCG64 of numpy 2.0 before, MT of numpy 1.0 after): "
    assert found["reason"].startswith(named) == told
    assert ("generator" in found["reason"]) == told and found["outcome"] == "faster"


@pytest.mark.parametrize(("after", "told"), [("ours 2", True), ("ours 1", False), (None, False)])
def test_two_compilers_are_named_where_both_runs_know_theirs(after: str | None, told: bool) -> None:
    before, other = (
        run(time_ns, 1, kernels=json.dumps([{"name": "k", "spirv_sha256": "0", "compiler": compiler}, {"name": "c"}]))
        for time_ns, compiler in ((1000, "ours 1"), (500, after))
    )
    found = compare_runs(before, other).iloc[0]
    assert found["reason"].startswith("different compilers (ours 1 before, ours 2 after): ") == told
    assert ("compiler" in found["reason"]) == told and found["outcome"] == "faster"


def test_other_devices_are_named_and_other_classes_not_compared() -> None:
    other = compare_runs(run(1000, 1), run(500, 2, device={"name": "Other CPU"})).iloc[0]
    assert other["outcome"] == "faster"
    assert other["reason"].startswith("different devices (Test CPU, 1.0 before, Other CPU, 1.0 after): ")
    driver = compare_runs(run(1000, 1), run(1000, 2, device={"driver_version": "2.0"})).iloc[0]
    assert driver["reason"].startswith("different devices")
    classes = compare_runs(run(1000, 1), run(500, 2, device={"device_class": "gpu"}))
    assert set(classes["outcome"]) == {"none"}
    assert sorted(classes["reason"]) == ["only in the run after", "only in the run before"]


@pytest.mark.parametrize(("before", "after", "told"), [("a", "b", True), ("a", "a", False), (None, "b", False)])
def test_another_card_of_the_same_model_is_named(before: str | None, after: str, told: bool) -> None:
    one, other = (run(1000, seed, device={"hardware_id": card}) for seed, card in ((1, before), (2, after)))
    reason = compare_runs(one, other).iloc[0]["reason"]
    assert reason.startswith("another card of the model: ") == told


def test_another_pattern_file_is_told_where_both_runs_know_theirs() -> None:
    runs = [run(1000, seed, source_sha256=sha256) for seed, sha256 in ((1, "a"), (2, "b"), (3, None))]
    assert compare_runs(runs[0], runs[1]).iloc[0]["reason"].startswith("the pattern file has changed: ")
    for before, after in ((runs[0], runs[0]), (runs[0], runs[2]), (runs[2], runs[2])):
        assert "pattern file" not in compare_runs(before, after).iloc[0]["reason"]


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ({"status": "wrong", "reason": "bad"}, {}, "wrong before: bad"),
        ({}, {"status": "timeout"}, "timeout after"),
        ({}, {"metric": "wall"}, "its metric was device before and is wall after"),
    ],
)
def test_cases_that_cannot_be_compared_say_why(before: dict[str, Any], after: dict[str, Any], reason: str) -> None:
    row = compare_runs(run(1000, 1, **before), run(1000, 2, **after)).iloc[0]
    assert (row["outcome"], row["reason"]) == ("none", reason)


def test_few_samples_are_inconclusive() -> None:
    row = compare_runs(run(1000, 1), run(100, 2, blocks=4)).iloc[0]
    assert row["outcome"] == "inconclusive"
    assert row["reason"].startswith("too few samples: 4 of the 6")


def test_a_state_of_one_run_only_has_no_outcome() -> None:
    made = Synthetic()
    case = made.case("v", "optimized")
    made.times(case, noisy(1000, 20))
    made.times(case, noisy(3000, 20), state="cold")
    found = compare_runs(run(1000, 1), made.run()).set_index("state")
    assert list(found["outcome"]) == ["same", "none"]
    assert found.loc["cold", "reason"] == "no valid sample before in this state"


def test_two_empty_runs_make_an_empty_table() -> None:
    assert compare_runs(Synthetic().run(), Synthetic().run()).empty


@pytest.mark.nightly
@pytest.mark.slow
def test_what_differs_between_instances_is_in_the_interval() -> None:
    def instances(seed: int) -> Run:
        made, source = Synthetic(), np.random.default_rng(seed)
        times = 1e6 * np.exp(np.repeat(source.normal(0, 0.05, 6), 20) + source.normal(0, 0.002, 120))
        made.times(made.case("v", "optimized"), times, instances=[block // 20 for block in range(120)])
        return made.run()

    rows = [compare_runs(instances(seed), instances(seed + 100)).iloc[0] for seed in range(20)]
    assert sum(row["speedup_low"] <= 1 <= row["speedup_high"] for row in rows) >= 17
    for row in rows:
        assert row["speedup_low"] <= row["speedup"] <= row["speedup_high"]
        assert row["speedup"] == pytest.approx(row["before_ns"] / row["after_ns"])
        assert "120 samples of 6 instances" in row["reason"]


N64, N384 = '{"n": 64}', '{"n": 384}'


def sized(*sizes: str, time_ns: float = 1000) -> Run:
    made = Synthetic()
    for seed, size in enumerate(sizes):
        made.times(made.case("v", "optimized", parameters=size, preset_parameters=size), noisy(time_ns, 40, seed=seed))
    return made.run()


def test_one_size_is_not_compared_with_another() -> None:
    rows = compare_runs(sized(N64), sized(N384, time_ns=100)).set_index("parameters")
    assert set(rows["outcome"]) == {"none"} and rows["speedup"].isna().all()
    assert rows["reason"].to_dict() == {
        N384: "only in the run after, at n=384: the run before has n=64",
        N64: "only in the run before, at n=64: the run after has n=384",
    }
    assert rows["param_n"].to_dict() == {N384: 384, N64: 64}


def test_a_sweep_over_sizes_is_compared_size_by_size() -> None:
    rows = compare_runs(sized(N64, N384), sized(N384, '{"n": 512}')).set_index("param_n")
    assert rows["outcome"].to_dict() == {384: "same", 512: "none", 64: "none"}
    assert rows.loc[512, "reason"] == "only in the run after, at n=512: the run before has n=64 and n=384"
