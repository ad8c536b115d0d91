"""Remarks on how cases were measured, from what the tables hold."""

from __future__ import annotations

import json
from typing import Any

import pytest
from synthetic import Synthetic, noisy

from xebench.report.case_remarks import case_remarks
from xebench.report.remarks import brief_remarks, untried_line


def pair(**of_variant: Any) -> tuple[Synthetic, str, str]:
    """A family of two, whose variant has further columns."""
    made = Synthetic()
    keys = [made.case("a", "naive"), made.case("b", "optimized", **of_variant)]
    for key in keys:
        made.times(key, noisy(1000))
    return made, keys[0], keys[1]


@pytest.mark.parametrize(
    ("columns", "remark"),
    [
        ({"first_commands": 2, "sampled_commands": 1}, "its first call submits 2 commands, its samples 1"),
        ({"prepared_kernels": 1}, "its preparation submits 1 kernel"),
        ({"prepared_kernels": 3}, "its preparation submits 3 kernels"),
        ({"tolerance_used": 0.753, "rtol": 0.02, "atol": 0.0}, "error 75.3 % of rtol=0.02"),
        ({"results_note": "all results are 0"}, "all results are 0"),
        ({"odd_size": "wrong at n=63: y: 15 of 64 elements differ"}, "wrong at n=63: y: 15 of 64 elements differ"),
        (
            {"kernels": json.dumps([{"name": "k", "fp64_beside_fp32": True}])},
            "kernel k computes in fp64, its arrays are float32",
        ),
        (
            {"kernels": json.dumps([{"name": "k", "mixes_fp64_fp32": True}] * 2)},
            "kernel k has float64 arrays beside float32 ones",
        ),
    ],
)
def test_what_a_case_says_of_itself_is_a_remark(columns: dict[str, Any], remark: str) -> None:
    made, _, variant = pair(**columns)
    assert case_remarks(made.run()) == {variant: [remark]}


def test_wide_products_are_a_cause_of_wrong_results_alone() -> None:
    kernels = json.dumps([{"name": "k", "shifts_wide_products": True}])
    made, _, variant = pair(kernels=kernels, status="wrong", reason="y: 1 of 4 elements differ")
    (said,) = case_remarks(made.run())[variant]
    assert said.startswith("kernel k shifts right a product of uint32 in 64 bits")
    made, _, variant = pair(kernels=kernels)
    assert variant not in case_remarks(made.run())


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"prepared_kernels": 0},
        {"tolerance_used": 0.9, "rtol": 1e-5, "atol": 0.0},
        {"tolerance_used": 0.001, "rtol": 0.02, "atol": 0.0},
        {"odd_size": "right at n=63"},
        {"kernels": json.dumps([{"name": "k", "fp64_beside_fp32": False}, {"name": "of an earlier run"}])},
    ],
)
def test_what_is_as_it_should_be_is_none(columns: dict[str, Any]) -> None:
    made, _, _ = pair(**columns)
    assert case_remarks(made.run()) == {}


def test_a_kernel_that_is_made_in_each_call_is_named_with_its_time() -> None:
    made, _, variant = pair(traced=json.dumps({"making_ns": 500_000}))
    assert case_remarks(made.run()) == {variant: ["500 us of each call go into making kernels"]}


def test_what_one_side_alone_does_is_named_with_its_bytes() -> None:
    converts = {"moved": {"fills": 1000}, "converted": {"convert float64 to float32": 1}}
    made, _, variant = pair(traced=json.dumps(converts))
    copies = {"moved": {"copies pageable_to_device": 16_000_000}, "allocations": 1}
    made.cases[0]["traced"] = json.dumps(copies)
    assert case_remarks(made.run()) == {
        variant: [
            "1 x convert float64 to float32 in each call",
            "fills 1.00 kB in each call, none of its baseline",
            "copies pageable_to_device 16.0 MB in each call of its baseline alone",
            "1 allocation in each call of its baseline alone",
        ]
    }


def test_patterns_that_ran_at_no_odd_size_are_counted_in_the_plain_report() -> None:
    made, _, _ = pair(odd_size="not tried: n=63: IndexSpaceError: no whole number of work-groups")
    line = "1 of 1 patterns could not run at odd sizes, and need odd_sizes=: p"
    assert untried_line(made.run()) == line
    assert line in brief_remarks(made.run())
    for words in (None, "right at n=63", "wrong at n=63: y", "refused: n=63: give a multiple of 16"):
        tried, _, _ = pair(odd_size=words)
        assert untried_line(tried.run()) == ""


@pytest.mark.parametrize(
    ("own", "of_baseline", "remark"),
    [
        (
            {"sweep": [16, 16384]},
            {"sweep": [20, 20480]},
            "16 launches of kernel sweep in each call, 20 of its baseline",
        ),
        (
            {"wrap": [1, 4096]},
            {"wrap": [1, 65536]},
            "4096 work-items of kernel wrap in each call, 65536 of its baseline",
        ),
        ({"halves": [2, 4096]}, {"halves": [1, 4096]}, None),
        ({"tiles": [1, 64]}, {"plain": [1, 4096]}, None),
    ],
)
def test_amounts_of_work_of_one_kernel_are_compared(own: Any, of_baseline: Any, remark: str | None) -> None:
    made, _, variant = pair(traced=json.dumps({"launches": own}))
    made.cases[0]["traced"] = json.dumps({"launches": of_baseline})
    assert case_remarks(made.run()) == ({variant: [remark]} if remark else {})


@pytest.mark.parametrize(("metric", "remarked"), [("wall", True), ("device", False)])
def test_the_hosts_own_work_is_compared_where_it_is_timed(metric: str, remarked: bool) -> None:
    made, _, variant = pair(traced=json.dumps({"own_ns": 11_100}), metric=metric)
    made.cases[0] |= {"traced": json.dumps({"own_ns": 7_000}), "metric": metric}
    words = "11.1 us of each call are the host's own work, 7.00 us of its baseline's"
    assert case_remarks(made.run()) == ({variant: [words]} if remarked else {})


def test_scratch_of_both_sides_is_compared() -> None:
    made, _, variant = pair(scratch_bytes=33_000)
    made.cases[0] |= {"scratch_bytes": 131_000}
    assert case_remarks(made.run()) == {variant: ["33.0 kB of scratch, 131 kB of its baseline"]}
    made, _, _ = pair(scratch_bytes=33_000)
    made.cases[0] |= {"scratch_bytes": 0}
    assert case_remarks(made.run()) == {}
