"""Intel's own GPU driver with no hardware behind it: devices are listed, kernels are built and submitted, nothing runs.

Debian stable's driver can be told by debug variables to pretend a GPU. It compiles with Intel's graphics compiler and
accepts submissions, so that selection, capabilities, builds and limits can be tested on an Intel GPU that is not
there. Results are not computed, so nothing of it may enter a results table.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.patterns.registry import builtin_files
from harness.runtime import opencl_drivers

ROOT = Path(__file__).parents[2]
GPUS = {"dg2": "8x4x16", "tgllp": "1x6x16"}
# dpnp brings code for the devices that it was built for, and this driver is not among them.
LIBRARY_VARIANTS = {"reduction_sum/library_sum"}
# Claimed to be refused, and how.
REFUSED = {
    "barrier_work_group/beyond_the_limit": "UnsupportedByDevice: ",
    "random_numbers/rand_in_kernel": "unexpected KernelCompileError: ",
}
# Without hardware this driver refuses every fill of USM memory, which these need before their kernels.
FILLS = "unexpected SubmissionError: the runtime refused to fill an array"


def driver() -> str:
    """The path of the driver, or a skip."""
    registered = opencl_drivers.registered_drivers(opencl_drivers.vendor_folders(os.environ))
    found = [path for path in registered if "igdrcl" in path and opencl_drivers.driver_exists(path)]
    if not found:
        pytest.skip("Intel's OpenCL driver for GPUs (intel-opencl-icd) is not installed")
    return found[0]


def pretend(gpu: str) -> dict[str, str]:
    return {
        **os.environ,
        "NEOReadDebugKeys": "1",
        "SetCommandStreamReceiver": "1",
        "ProductFamilyOverride": gpu,
        "HardwareInfoOverride": GPUS[gpu],
    }


def child(gpu: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the pretended GPU beside the CPU device; in a folder, where the driver leaves its files."""
    driver()
    return subprocess.run(
        [sys.executable, *arguments],
        env=pretend(gpu),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture(scope="module", params=GPUS)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Every pattern's kernels built for, and submitted to, a GPU that is not there."""
    folder = tmp_path_factory.mktemp(request.param)
    done = child(request.param, folder, str(Path(__file__).parent / "build_patterns.py"), *map(str, builtin_files()))
    assert done.returncode == 0, done.stderr[-2000:]
    # MKL may print a warning behind it
    result: dict[str, Any] = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    if result["device"]["device_class"] != "gpu":
        pytest.skip("this version of the driver does not pretend")
    return {**result, "gpu": request.param}


def test_selection_prefers_the_gpu_and_knows_it(built: dict[str, Any]) -> None:
    device = built["device"]
    assert device["device"] == "opencl:gpu:0"
    assert device["sub_group_sizes"] == "8,16,32"
    assert device["local_memory_bytes"] == 64 * 1024
    assert device["max_work_group_size"] == {"dg2": 1024, "tgllp": 512}[built["gpu"]]
    assert "fp64" not in device["aspects"].split(",")
    assert device["compute_units"] == {"dg2": 512, "tgllp": 96}[built["gpu"]]


def test_kernels_of_every_pattern_build_and_are_submitted(built: dict[str, Any]) -> None:
    for name in LIBRARY_VARIANTS:
        assert built["outcomes"][name].startswith("Unsupported: ")
    for name, refusal in REFUSED.items():
        assert built["outcomes"][name].startswith(refusal)
    asked = {name: text for name, text in built["outcomes"].items() if name not in LIBRARY_VARIANTS | set(REFUSED)}
    fill_first = {name.partition("/")[0] for name, text in asked.items() if text.startswith(FILLS)}
    assert fill_first <= {"atomics_dtype", "atomics_usm_kind", "sync_mechanisms"}
    outcomes = {name: text for name, text in asked.items() if not text.startswith(FILLS)}
    assert len(outcomes) > 50
    wrong = {name: text for name, text in outcomes.items() if not text.startswith(("submitted ", "skipped: "))}
    assert not wrong
    launched = [text for text in outcomes.values() if text.startswith("submitted ") and text != "submitted 0"]
    assert len(launched) > 0.9 * len(outcomes)


LIMITS = """
import json, sys
from harness import runtime
runtime.load()
import numpy as np
from numba_dpex import kernel_api as kapi
from harness.dpex import kernel
from harness.session.session import Session

session = Session.on("opencl:gpu:0")
y = session.alloc(1 << 14, np.float32)

@kernel
def plain(item: kapi.NdItem, y):
    y[item.get_global_id(0)] = np.float32(1)

@kernel
def with_local(item: kapi.NdItem, y, slm):
    slm[item.get_local_id(0)] = np.float32(1)
    y[item.get_global_id(0)] = slm[0]

@kernel(sub_group_size=64)
def sixty_four(item: kapi.NdItem, y):
    y[item.get_global_id(0)] = np.float32(1)

@kernel
def in_double(item: kapi.NdItem, y):
    y[item.get_global_id(0)] = np.float32(np.float64(y[0]) * np.float64(1.1))

def outcome(kernel, group, *more):
    try:
        session.launch(kernel, kapi.NdRange((1 << 14,), (group,)), y, *more)
        session.wait()
        return "submitted"
    except Exception as error:
        return f"{type(error).__name__}: {error}"

print(json.dumps({
    "fits": outcome(plain, 512),
    "work_group": outcome(plain, 2048),
    "local_memory": outcome(with_local, 64, kapi.LocalAccessor(64 * 1024, np.float32)),
    "sub_group": outcome(sixty_four, 64),
    "fp64": outcome(in_double, 64),
}))
"""


@pytest.mark.parametrize("gpu", GPUS)
def test_limits_of_the_gpu_come_out_as_our_errors(gpu: str, tmp_path: Path) -> None:
    done = child(gpu, tmp_path, "-c", LIMITS)
    if "opencl:gpu:0" in done.stderr:
        pytest.skip("this version of the driver does not pretend")
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["fits"] == "submitted"
    limit = {"dg2": 1024, "tgllp": 512}[gpu]
    assert found["work_group"].startswith("UnsupportedByDevice: ") and str(limit) in found["work_group"]
    assert found["local_memory"].startswith("UnsupportedByDevice: ") and "65536" in found["local_memory"]
    assert found["sub_group"].startswith("UnsupportedByDevice: ") and "8, 16, 32" in found["sub_group"]
    assert found["fp64"].startswith(("Unsupported: ", "KernelBuildError: ")), found["fp64"]
    assert all("\n" not in text for text in found.values())


def test_nothing_of_it_enters_a_results_table(tmp_path: Path) -> None:
    output = tmp_path / "run"
    done = child(
        "dg2", tmp_path, "-m", "harness", "run", "slm_convolution_cache", "--preset", "smoke",
        "--device", "gpu",
        "--output", str(output),
    )  # fmt: skip
    if "no GPU" in done.stderr:
        pytest.skip("this version of the driver does not pretend")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "self-test" in done.stderr and len(done.stderr.strip().splitlines()[-1:]) == 1
    assert not list(tmp_path.rglob("pairs.*"))
