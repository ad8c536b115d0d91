"""Why advice hurts, as far as a run measured it."""

from __future__ import annotations

import json
from typing import Any

from xebench.report.run_summary import causes

PAIR: dict[str, Any] = {
    "pattern": "a",
    "family_id": "a/default",
    "state": "hot",
    "variant": "v",
    "case_id": "a/v",
    "baseline": "naive",
    "baseline_case_id": "a/naive",
    "speedup": 0.5,
    "claimed_for": None,
    "device_class": "cpu",
    "roof_fraction": float("nan"),
    "times_empty_kernel": None,
}


def test_nothing_measured_is_nothing_said() -> None:
    assert causes([PAIR], PAIR, {}) == ""


def test_the_roof_the_class_of_devices_and_the_fixed_cost() -> None:
    known = {**PAIR, "claimed_for": "gpu", "roof_fraction": 0.02, "nearest_roof": "fp32", "times_empty_kernel": 3.0}
    told = "claimed for GPUs; it reaches 2.00 % of the roof fp32; only 3 empty kernels long"
    assert causes([known], known, {}) == told


def test_a_twin_in_opencl_tells_the_kernel_from_the_compiler() -> None:
    twin = {**PAIR, "variant": "v_in_opencl", "baseline": "v"}
    assert causes([PAIR, {**twin, "speedup": 1.02}], PAIR, {}) == "as slow in OpenCL C"
    assert causes([PAIR, {**twin, "speedup": 3.0}], PAIR, {}) == "3.00x in OpenCL C"
    assert causes([PAIR, {**twin, "state": "cold", "speedup": 3.0}], PAIR, {}) == "", "of other caches"


def test_in_what_the_launches_differ() -> None:
    naive = {"name": "k", "global_size": [64, 16], "local_size": [16, 1], "local_bytes": 0, "max_sub_group_size": 16}
    finish = {**naive, "global_size": [1], "local_size": [1], "max_sub_group_size": None}
    kernels = {"a/naive": json.dumps([naive]), "a/v": json.dumps([finish, {**naive, "local_bytes": 2048}])}
    assert causes([PAIR], PAIR, kernels) == "kernels 2 instead of 1; SLM 2K instead of 0"
    drivers = {**naive, "local_size": None, "global_size": [32, 16]}
    assert causes([PAIR], PAIR, {**kernels, "a/v": json.dumps([drivers])}) == "work-items 512 instead of 1024"
    assert causes([PAIR], PAIR, {**kernels, "a/v": json.dumps([{"name": "k"}])}) == "", "an earlier run"
