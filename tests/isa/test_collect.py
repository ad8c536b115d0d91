"""The kernels of patterns: found in child processes, and the same bytes that a run measures."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

import harness
from harness.isa.collect import Collected, collect
from harness.patterns.plan import build_plan
from harness.patterns.reading import read
from harness.patterns.registry import discover, select

pytestmark = pytest.mark.device
HERE = Path(__file__).parent


def collected(names: list[str], folder: Path) -> Collected:
    return collect(build_plan(select(discover(), names), "smoke"), folder)


def test_kernels_are_what_a_run_measures(tmp_path: Path) -> None:
    found = collected(["subgroup_vector_payload", "slm_convolution_cache"], tmp_path / "isa")
    command = [sys.executable, "-m", "harness", "run", "subgroup_vector_payload", "slm_convolution_cache"]
    options = ["--preset", "smoke", "--device", "auto", "--budget", "0.2", "--output", str(tmp_path / "run")]
    subprocess.run([*command, *options], check=False, capture_output=True)
    measured = {
        (case.pattern, case.variant, kernel["spirv_sha256"])
        for case in harness.load_run(tmp_path / "run").cases.itertuples()
        for kernel in json.loads(case.kernels)
    }
    assert measured
    assert {(each.pattern, each.variant, each.spirv_sha256) for each in found.launches} == measured
    for each in found.launches:
        assert sha256(each.spirv.read_bytes()).hexdigest() == each.spirv_sha256


def test_a_launch_tells_its_geometry(tmp_path: Path) -> None:
    found = collected(["slm_convolution_cache"], tmp_path)
    by_variant = {launch.variant: launch for launch in found.launches}
    assert by_variant["global_memory"].local_bytes == 0
    cached = by_variant["cooperative_halo"]
    # 256 work-items and a halo of 256, of four bytes
    assert (cached.local_size, cached.local_bytes) == ((256,), 2048)
    assert cached.global_size[0] % 256 == 0
    assert (cached.role, cached.chapter) == ("optimized", "slm")
    assert json.loads(cached.axes) == {"work_group_size": 256}


def test_a_crash_or_a_hang_costs_one_pattern(tmp_path: Path) -> None:
    plan = build_plan(read([HERE / "troubled_patterns.py"]), "smoke")
    found = collect(plan, tmp_path, timeout_s=3, processes=1)
    reasons = {missing.pattern: missing.reason for missing in found.missing}
    assert reasons == {
        "crashes": "crashed (SIGSEGV)",
        "hangs": "not finished within 3 s",
        "raises": "ValueError: on purpose",
    }
    # what was launched before the crash is kept
    names = [(launch.pattern, launch.variant, launch.kernel) for launch in found.launches]
    assert names == [
        ("crashes", "end_of_process", "ones"),
        ("sound", "write_ones", "ones"),
        ("sound", "prepared", "ones"),
    ]


def test_a_module_counts_once_for_each_set_of_options(tmp_path: Path) -> None:
    found = collect(build_plan(read([HERE / "option_patterns.py"]), "smoke"), tmp_path)
    large = ("-cl-intel-256-GRF-per-thread",)
    options = [(launch.variant, launch.build_options) for launch in found.launches]
    assert options == [("small_file", ()), ("large_file", large), ("both", ()), ("both", large)]
    assert len({launch.spirv_sha256 for launch in found.launches}) == 1


def test_a_kernel_that_this_device_cannot_run_is_found(tmp_path: Path) -> None:
    plan = build_plan(read([HERE.parent / "faulty/faulty_patterns.py"]), "smoke")
    found = collect([family for family in plan if family.pattern.name in {"lacks", "broken_problem"}], tmp_path)
    launch = next(each for each in found.launches if each.variant == "too_much_local_memory")
    assert (launch.kernel, launch.local_bytes) == ("local", 4 << 30)
    assert [missing.reason for missing in found.missing] == ["KeyError: 'missing'"]


def test_a_library_call_has_no_kernel_of_ours(tmp_path: Path) -> None:
    found = collected(["reduction_sum"], tmp_path)
    missing = {each.variant: each.reason for each in found.missing}
    assert missing == {"library_sum": "launches no kernel through the session"}
