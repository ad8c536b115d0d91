"""The predicted occupancy beside what was measured: from what the run kept of the launches and of the GPU."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from synthetic import Synthetic, noisy

from xebench.report.formats import render
from xebench.report.result_rows import result_rows

MAX_1550 = {
    "device": "level_zero:gpu:0",
    "device_class": "gpu",
    "name": "Intel(R) Data Center GPU Max 1550",
    "compute_units": 512,
}


def kernel(**changed: Any) -> dict[str, Any]:
    """Work-groups of 256 in sub-groups of 16, of which four fill an Xe-core; four full rounds of them."""
    launch = {"global_size": [1 << 18], "local_size": [256], "local_bytes": 0, "max_sub_group_size": 16}
    return {"name": "k", "build_options": "", **launch, **changed}


def occupancy(device: dict[str, Any], *kernels: dict[str, Any]) -> list[str]:
    """Of a naive variant with the usual kernel, and of an optimized one with these."""
    made = Synthetic(**device)
    for variant, role, launched in (("plain", "naive", [kernel()]), ("other", "optimized", kernels)):
        case = made.case(variant, role, kernels=json.dumps(launched))
        made.times(case, noisy(1000.0, 20, 1))
    return [row.occupancy for row in result_rows(made.run())]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, "100 %"),
        ({"local_bytes": 64 * 1024}, "50.0 %"),
        ({"local_size": [384], "global_size": [384 * 128]}, "75.0 %"),
        ({"global_size": [256 * 128]}, "50.0 %"),
        # a full round, and a second one of an eighth
        ({"global_size": [256 * (256 + 32)]}, "56.2 %"),
        ({"build_options": "-ze-opt-large-register-file"}, "50.0 %"),
        # the model's rule for what the driver chooses: 256 work-items
        ({"local_size": None}, "100 %"),
        ({"local_size": [16, 16], "global_size": [512, 512]}, "100 %"),
        # a launch that the GPU does not know, a kernel that no driver told the width of, a run of an earlier version
        ({"local_size": [2048]}, ""),
        ({"max_sub_group_size": None}, ""),
        ({"global_size": None}, ""),
    ],
)
def test_it_follows_from_the_launch(changed: dict[str, Any], expected: str) -> None:
    plain, other = occupancy(MAX_1550, kernel(**changed))
    assert (plain, other) == ("100 %", expected)


def test_of_several_kernels_the_lowest_and_the_highest_are_told() -> None:
    assert occupancy(MAX_1550, kernel(), kernel(local_bytes=64 * 1024))[1] == "50.0 % to 100 %"


@pytest.mark.parametrize(
    "device", [{"name": "Test CPU"}, {**MAX_1550, "name": "Another GPU"}, {**MAX_1550, "compute_units": None}]
)
def test_nothing_is_predicted_of_a_cpu_or_of_a_gpu_that_nobody_described(device: dict[str, Any]) -> None:
    assert occupancy(device, kernel()) == ["", ""]


def report(format_name: str, *kernels: dict[str, Any]) -> str:
    made = Synthetic(**MAX_1550)
    for (variant, role), launched in zip((("plain", "naive"), ("other", "optimized")), kernels, strict=True):
        made.times(made.case(variant, role, kernels=json.dumps([launched])), noisy(1000.0, 20, 1))
    return render(made.run(), format_name)


def test_the_terminal_tells_it_where_variants_differ_in_it() -> None:
    text = report("text", kernel(local_bytes=64 * 1024), kernel())
    assert re.search(r"\n  plain +[\d.]+ [nu]s\n +occupancy 50.0 %\n", text)
    assert re.search(r"\n. other .*\n.*; occupancy 100 %\n", text)
    assert "occupancy" not in report("text", kernel(), kernel())


def test_html_and_markdown_tell_it_of_every_row() -> None:
    page = report("html", kernel(), kernel())
    assert page.count("predicted occupancy 100 %") == 2
    table = report("markdown", kernel(), kernel())
    assert table.count("predicted occupancy") == 1 and table.count("| 100 % |") == 2
