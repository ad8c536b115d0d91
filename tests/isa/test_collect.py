"""The kernels of patterns: collected in worker processes, and the same bytes that a run measures."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest
from command_kit import run_quietly

import xebench
from xebench.isa.asked_gpu import asked_gpu
from xebench.isa.collect import Collected, KernelLaunch, collect
from xebench.patterns.plan import build_plan
from xebench.patterns.registry import discover, read, select

pytestmark = pytest.mark.device
HERE = Path(__file__).parent


def collected(*names: str) -> Collected:
    return collect(build_plan(select(discover(), names), "smoke"), asked_gpu([]))


@pytest.fixture(scope="module")
def together() -> Collected:
    """Of several patterns at once, by as many workers as there are cores."""
    files = [HERE / "option_patterns.py", HERE.parent / "faulty/faulty_patterns.py"]
    own = [info for info in read(files) if info.name in {"register_modes", "lacks", "broken_problem"}]
    suite = select(discover(), ("slm_convolution_cache", "reduction_sum", "partial_subgroups"))
    return collect(build_plan([*own, *suite], "smoke"), asked_gpu([]))


def launches(found: Collected, pattern: str) -> list[KernelLaunch]:
    return [launch for launch in found.launches if launch.pattern == pattern]


@pytest.mark.nightly
def test_kernels_are_what_a_run_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_SYCL_NARROW", "on")  # as on a GPU
    found = collected("slm_convolution_cache")
    options = ("--preset", "smoke", "--state", "hot", "--device", "auto", "--max-samples", "6")
    done = run_quietly("run", "slm_convolution_cache", *options, "--output", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    measured = {
        (case.pattern, case.variant, kernel["spirv_sha256"])
        for case in xebench.load_run(tmp_path / "run").cases.itertuples()
        for kernel in json.loads(str(case.kernels))
    }
    assert measured
    assert {(each.pattern, each.variant, each.spirv_sha256) for each in found.launches} == measured
    for each in found.launches:
        assert sha256(each.spirv).hexdigest() == each.spirv_sha256


def test_a_launch_tells_its_geometry(together: Collected) -> None:
    by_variant = {launch.variant: launch for launch in launches(together, "slm_convolution_cache")}
    assert by_variant["global_memory"].local_bytes == 0
    cached = by_variant["cooperative_halo"]
    # 256 work-items and a halo of 256, of four bytes
    assert (cached.local_size, cached.local_bytes) == ((256,), 2048)
    assert cached.global_size[0] % 256 == 0
    assert (cached.role, cached.chapter) == ("optimized", "slm")
    assert json.loads(cached.axes) == {"work_group_size": 256}


def test_a_crash_or_a_hang_costs_one_variant() -> None:
    plan = build_plan(read([HERE / "troubled_patterns.py"]), "smoke")
    collected = collect(plan, asked_gpu([]), timeout_s=8, processes=1)
    reasons = {(missing.pattern, missing.variant): missing.reason for missing in collected.missing}
    crash = reasons.pop(("crashes", "end_of_process"))
    assert "troubled_patterns.py:" in crash and crash.endswith(" (end_of_process)")
    assert reasons == {
        ("hangs", "endless"): "no answer for 8 s",
        ("raises", "exception"): "ValueError: on purpose",
        ("exits", "end_of_python"): "SystemExit: 0",
    }
    # what was launched before the crash is kept
    names = [(launch.pattern, launch.variant) for launch in collected.launches]
    assert {launch.kernel for launch in collected.launches} == {"ones"}
    assert names == [
        ("crashes", "end_of_process"),
        ("crashes", "after_the_crash"),
        ("sound", "write_ones"),
        ("sound", "prepared"),
    ]


def test_patterns_that_no_worker_can_read_are_missing(tmp_path: Path) -> None:
    file = tmp_path / "gone.py"
    file.write_text((HERE / "option_patterns.py").read_text())
    plan = build_plan(read([file]), "smoke")
    file.unlink()
    plan += build_plan(read([HERE / "option_patterns.py"]), "smoke")
    collected = collect(plan, asked_gpu([]), processes=1)
    assert {missing.variant for missing in collected.missing} == {"small_file", "large_file", "both"}
    assert all(missing.reason.startswith(f"{file}: FileNotFoundError") for missing in collected.missing)
    assert len(collected.launches) == 4


def test_without_a_device_everything_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", "level_zero:fpga")
    plan = build_plan(read([HERE / "option_patterns.py"]), "smoke")
    collected = collect(plan, asked_gpu([]))
    assert [missing.variant for missing in collected.missing] == ["small_file", "large_file", "both"]
    assert all(missing.reason for missing in collected.missing)


def test_a_module_counts_once_for_each_set_of_options(together: Collected) -> None:
    found = launches(together, "register_modes")
    large = ("-cl-intel-256-GRF-per-thread",)
    options = [(launch.variant, launch.build_options) for launch in found]
    assert options == [("small_file", ()), ("large_file", large), ("both", ()), ("both", large)]
    assert len({launch.spirv_sha256 for launch in found}) == 1


def test_a_kernel_that_this_device_cannot_run_is_found(together: Collected) -> None:
    launch = next(each for each in launches(together, "lacks") if each.variant == "too_much_local_memory")
    assert (launch.kernel, launch.local_bytes) == ("local", 4 << 30)
    missing = [missing.reason for missing in together.missing if missing.pattern in {"lacks", "broken_problem"}]
    assert missing == ["KeyError: 'missing'"]


def test_a_library_call_has_no_kernel_of_ours(together: Collected) -> None:
    missing = {each.variant: each.reason for each in together.missing if each.pattern == "reduction_sum"}
    assert missing == dict.fromkeys(("serial_on_host", "library_sum"), "launches no kernel through the session")


def test_kernels_are_in_the_order_of_the_axes_whichever_worker_found_them(together: Collected) -> None:
    points = [json.loads(launch.axes) for launch in launches(together, "partial_subgroups")]
    assert list(dict.fromkeys(point["odd_size"] for point in points)) == [7, 17, 31]
    assert {point["sub_group_size"] for point in points} == {16}, "no device is asked: the guide's size"
