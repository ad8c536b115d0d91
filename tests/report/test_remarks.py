"""What is said of a whole run: in sentences, and in a line each."""

from __future__ import annotations

import json
import math
from typing import Any

import pandas as pd
import pytest
from changed_run import changed
from synthetic import Synthetic, noisy

from xebench.records.claim import Claim, to_json
from xebench.report.remarks import brief_remarks, compilers_line, failures, flag_line, instance_line, notes
from xebench.results import Run


def test_flags_that_tell_of_the_machine_say_what_to_do() -> None:
    made = Synthetic()
    made.sample(made.case("a", "naive"), device_ns=1.0, sample_flags="contention")
    made.sample(made.case("b", "optimized"), device_ns=1.0)
    run = made.run()
    assert flag_line(run) == (
        "flags: 1 contention; of 2 samples 0 are not used; contention: end the other programs that use the cores"
    )
    assert "contention in 50 % of the samples: end the other programs that use the cores" in brief_remarks(run)


def test_a_flag_of_few_samples_is_no_brief_remark(run: Run) -> None:
    few = run.samples.assign(sample_flags=["contention", *[""] * (len(run.samples) - 1)])
    flagged = changed(run, samples=few)
    assert "1 contention" in flag_line(flagged)
    assert not [line for line in brief_remarks(flagged) if "contention" in line]


def test_short_kernels_are_told_of() -> None:
    made = Synthetic(empty_kernel_ns=50.0)
    for variant, role, time_ns in (("a", "naive", 200), ("b", "optimized", 100), ("c", "optimized", 5000)):
        made.times(made.case(variant, role, metric="device"), noisy(time_ns))
    (line,) = [line for line in notes(made.run()) if line.startswith("fixed cost")]
    assert "2 of 2 speed-ups" in line
    assert "fixed cost draws 2 of 2 speed-ups towards 1: take a larger preset" in brief_remarks(made.run())


def test_roofs_that_could_not_be_measured_are_told_with_the_reason(run: Run) -> None:
    halves = "device_to_host: the two halves of its samples give 2 and 40 GB/s"
    some = changed(run, devices=run.devices.assign(roofs_from=f"this run; {halves}"))
    assert f"unknown roofs: {halves}" in notes(some)
    sources: tuple[Any, ...] = ("this run", "xebench roofline of 2026-01-02", pd.NA)
    for source in sources:
        whole = changed(run, devices=run.devices.assign(roofs_from=source))
        assert not [line for line in notes(whole) if line.startswith("roofs that")], source


def test_the_compilers_of_kernels_are_told() -> None:
    made = Synthetic()
    compilers = {"a": "ours 1", "b": "ours 1", "c": "numba-dpex 0.23.0"}
    for number, (variant, compiler) in enumerate(compilers.items()):
        kernels = [{"name": "k", "spirv_sha256": str(number), "compiler": compiler}, {"name": "in_c", "compiler": None}]
        role = "optimized" if number else "naive"
        made.times(made.case(variant, role, kernels=json.dumps(kernels)), noisy(100))
    run = made.run()
    assert run.compilers == {"ours 1": 2, "numba-dpex 0.23.0": 1}
    assert "compiled kernels: 2 by ours 1; 1 by numba-dpex 0.23.0" in notes(run)
    assert compilers_line(changed(run, cases=run.cases.assign(kernels="[]"))) == ""


def test_samples_that_no_check_followed_are_told() -> None:
    made = Synthetic()
    made.sample(made.case("a", "naive"), device_ns=1.0, checked=False)
    made.sample(made.case("b", "optimized"), device_ns=1.0, valid=False, sample_flags="zero")
    assert flag_line(made.run()) == "flags: 1 zero, 1 that no check followed; of 2 samples 2 are not used"
    assert "100 % of the samples are not used: --verbose shows why" in brief_remarks(made.run())


def test_only_intervals_that_are_known_are_counted(run: Run) -> None:
    alone = run.pairs.assign(instances=1)
    unknown = alone.assign(speedup_low=math.nan)
    pairs = pd.concat([run.pairs, alone, unknown], ignore_index=True)
    known = int(run.pairs["speedup_low"].notna().sum())
    assert instance_line(changed(run, pairs=pairs)).startswith(f"{known} of {2 * known} intervals are of one instance")


def test_cases_that_failed_are_told_unless_a_claim_says_that_they_must(all_answers: Run) -> None:
    assert [(key.split("/")[1], status) for key, status, _ in failures(all_answers)] == [
        ("not_here", "skipped"),
        ("crashes", "crashed"),
    ]
    # what was skipped has a sign and a reason in its row
    told = [line for line in brief_remarks(all_answers) if line.startswith("ends/")]
    point = "sub_group_size=16, work_group_size=256"
    assert told == [f"ends/crashes [{point}]: crashed: signal 11 in kernel twice"]


@pytest.mark.parametrize("status", ["refused", "skipped"])
def test_a_case_that_a_claim_says_is_refused_is_no_failure(status: str) -> None:
    made = Synthetic()
    made.case("a", "naive", claims="[]")
    claims = to_json([Claim("error", kind="work-group", source="G 3")])
    made.case("b", "antipattern", claims=claims, status=status, reason="a work-group of 1048576")
    made.case("c", "antipattern", claims="[]", status=status, reason="a work-group of 1048576")
    assert [key.split("/")[1] for key, _, _ in failures(made.run())] == ["c"]


def test_what_an_unfinished_run_lacks_is_one_line() -> None:
    made = Synthetic()
    for variant, role in (("a", "naive"), ("b", "optimized")):
        made.case(variant, role, claims="[]", status="interrupted", reason="interrupted by SIGINT")
    assert brief_remarks(made.run()) == ["2 cases were not measured: interrupted by SIGINT"]
