"""Intel's own GPU driver with no hardware behind it: devices are listed, kernels are built and submitted, nothing runs.

Debian stable's driver can be told by debug variables to pretend a GPU. It compiles with Intel's graphics compiler and
accepts submissions, so that selection, capabilities, builds and limits can be tested on an Intel GPU that is not
there. Results are not computed, so nothing of it may enter a results table.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from optional import needs
from pretended_gpus import Driver, Tried, installed_driver, try_patterns

from xebench.patterns.registry import builtin_files

pytestmark = [needs("GPU driver"), pytest.mark.slow]  # the whole suite is built, for two GPUs

GPUS = ("dg2", "tgllp")
# dpnp and oneMKL bring code for the devices that they were built for, and this driver is not among them.
OF_LIBRARIES = (
    "gemm_consecutive/",
    "gemm_groups/",
    "gemm_padded_rows/",
    "matrix_engine_modes/",
    "random_generators/made_by_library",
    "reduction_sum/library_sum",
    "update_what_changed/",
    "zero_copy/",
)
OF_FOURIER = "fourier_correlation/"  # oneMKL ends the process
# Without hardware this driver refuses every fill of USM memory, which these need before their kernels.
OF_FILLS = (
    "atomics_dtype/",
    "atomics_usm_kind/",
    "compressible_lines/",
    "fence_and_counter/",
    "multi_stream_pipeline/",
    "update_what_changed/",
)
# SYCL's buffers need headers that the pinned stack lacks; OpenCL's, which serve there, can do less.
OF_BUFFERS = ("accessor_modes/", "host_accessor_scope/", "usm_vs_buffers/")
FILLS = "unexpected SubmissionError: the runtime refused to fill an array"


@pytest.fixture(scope="module")
def driver() -> Driver:
    return installed_driver()


@pytest.fixture(scope="module", params=GPUS)
def gpu(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def tried(driver: Driver, gpu: str, tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """Every pattern's kernels built for, and submitted to, a GPU that is not there."""
    found = try_patterns(driver, gpu, tmp_path_factory.mktemp(gpu), builtin_files())
    if not found.device:
        pytest.skip("this version of the driver does not pretend")
    return found


def test_selection_prefers_the_gpu_and_knows_it(tried: Tried, gpu: str) -> None:
    device = tried.device
    assert device["device"] == "opencl:gpu:0"
    assert device["sub_group_sizes"] == "8,16,32"
    assert device["local_memory_bytes"] == 64 * 1024
    assert device["max_work_group_size"] == {"dg2": 1024, "tgllp": 512}[gpu]
    assert "fp64" not in device["aspects"].split(",")
    assert device["compute_units"] == {"dg2": 512, "tgllp": 96}[gpu]


def test_kernels_of_every_pattern_build_and_are_submitted(tried: Tried) -> None:
    print(tried.counts())
    wrong = tried.wrong
    allowed = (
        (OF_LIBRARIES, ("Unsupported: ", "unexpected RuntimeError: Native API failed")),
        (OF_FOURIER, "the process ended"),
        (OF_FILLS, FILLS),
        (OF_BUFFERS, "Unsupported: "),
        ("heterogeneous_split/by_speed", "unexpected IndexError"),  # speeds of kernels that never ran
    )
    for names, refusal in allowed:
        wrong = {
            name: text for name, text in wrong.items() if not (name.startswith(names) and text.startswith(refusal))
        }
    assert not wrong
    assert len(tried.patterns) > 0.8 * len({name.partition("/")[0] for name in tried.outcomes})


@pytest.mark.numba_dpex
def test_limits_of_the_gpu_come_out_as_our_errors(driver: Driver, gpu: str, tried: Tried, tmp_path: Path) -> None:
    found = driver.tell(gpu, tmp_path, "answers.py", "limits", tried.device["device"])
    assert found["fits"] == "submitted"
    limit = {"dg2": 1024, "tgllp": 512}[gpu]
    assert found["work_group"].startswith("UnsupportedByDevice: ") and str(limit) in found["work_group"]
    assert found["local_memory"].startswith("UnsupportedByDevice: ") and "65536" in found["local_memory"]
    assert found["sub_group"].startswith("UnsupportedByDevice: ") and "8, 16, 32" in found["sub_group"]
    assert found["fp64"].startswith(("Unsupported: ", "KernelBuildError: ")), found["fp64"]
    assert all("\n" not in text for text in found.values())


def test_nothing_of_it_enters_a_results_table(driver: Driver, tmp_path: Path) -> None:
    output = tmp_path / "run"
    done = driver.run(
        "dg2", tmp_path, "-m", "xebench", "run", "slm_convolution_cache", "--preset", "smoke",
        "--device", "gpu",
        "--output", str(output),
    )  # fmt: skip
    if "no GPU" in done.stderr:
        pytest.skip("this version of the driver does not pretend")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "self-test" in done.stderr and len(done.stderr.strip().splitlines()[-1:]) == 1
    assert not list(tmp_path.rglob("pairs.*"))
