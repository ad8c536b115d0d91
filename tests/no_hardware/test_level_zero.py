"""Intel's current driver with no hardware behind it, on Level Zero: devices are listed, kernels built and submitted.

``make level-zero`` makes the root that the driver comes from, and runs this.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from optional import needs
from pretended_gpus import HERE, OF_ONEMKL, Driver, Tried, current_driver, try_patterns

from xebench.patterns.registry import builtin_files

# Needs two devices, or two stacks of one: see test_several_gpus.
OF_SEVERAL = {
    *("axpy_devices", "matmul_devices", "streams_over_devices", "vector_add_devices"),
    *("implicit_scaling_launch", "implicit_scaling_copies", "build_for_stacks", "memory_of_other_stack"),
    *("allreduce_by_kernels", "buffer_of_context", "copy_between_devices", "mpi_pinning"),
}
# Divides the work by measured speed, and this driver gives no times.
BY_SPEED = {"heterogeneous_split/by_speed"}
# Of oneMKL, in the order in which they are asked for.
MODES = ("standard", "float_to_bf16", "float_to_bf16x2", "float_to_bf16x3", "float_to_tf32")
LIMITS = {"dg2": (512, "8,16,32", 64), "pvc": (512, "16,32", 128), "bmg": (160, "16,32", 128)}

pytestmark = [pytest.mark.slow, needs("Level Zero driver")]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Driver:
    return current_driver(tmp_path_factory.mktemp("driver"))


@pytest.fixture(scope="module", params=LIMITS)
def gpu(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def tried(driver: Driver, gpu: str, tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """Every pattern's kernels built for, and submitted to, a GPU that is not there."""
    return try_patterns(driver, gpu, tmp_path_factory.mktemp(gpu), builtin_files())


def test_kernels_of_every_pattern_build_and_are_submitted(tried: Tried) -> None:
    print(tried.counts())
    assert set(tried.wrong) - tried.refused_by_library == BY_SPEED
    assert all("gives no times of commands" in tried.wrong[name] for name in BY_SPEED)
    assert {name.partition("/")[0] for name in tried.refused_by_library} <= OF_ONEMKL
    assert not tried.ends
    without = {name.partition("/")[0] for name in tried.outcomes} - tried.patterns - tried.without_headers
    assert without <= OF_SEVERAL


def test_columns_of_the_device(tried: Tried, gpu: str) -> None:
    units, sub_groups, local_memory_kib = LIMITS[gpu]
    assert tried.device["device"] == "level_zero:gpu:0"
    assert tried.device["backend"] == "level_zero"
    assert "intel" in tried.device["vendor"].lower()
    assert tried.device["compute_units"] == units
    assert tried.device["sub_group_sizes"] == sub_groups
    assert tried.device["local_memory_bytes"] == local_memory_kib * 1024
    assert tried.device["max_work_group_size"] == 1024
    assert 0 < tried.device["max_alloc_bytes"] <= tried.device["global_memory_bytes"]
    aspects = tried.device["aspects"].split(",")
    assert ("fp64" in aspects) == (gpu != "dg2")
    assert {"fp16", "atomic64", "usm_device_allocations"} <= set(aspects)
    # of the same device on OpenCL, since Level Zero does not know the names
    assert {"cl_intel_subgroups", "cl_intel_subgroup_matrix_multiply_accumulate"} <= set(aspects)


def test_level_zero_is_chosen_before_opencl_and_both_before_the_cpu(driver: Driver, tmp_path: Path) -> None:
    found = driver.tell("dg2", tmp_path, "answers.py", "devices", "opencl:gpu:0")
    assert found["listed"] == ["level_zero:gpu:0", "opencl:gpu:0", "opencl:cpu:0"]
    assert (found["auto"], found["gpu"], found["asked"]) == ("level_zero:gpu:0", "level_zero:gpu:0", "opencl:gpu:0")


@pytest.mark.numba_dpex
def test_limits_and_build_logs_come_out_as_our_errors(driver: Driver, gpu: str, tmp_path: Path) -> None:
    found = driver.tell(gpu, tmp_path, "answers.py", "limits", "level_zero:gpu:0")
    _, sub_groups, local_memory_kib = LIMITS[gpu]
    assert found["fits"] == "submitted"
    assert found["work_group"].startswith("UnsupportedByDevice: ") and "1024" in found["work_group"]
    assert found["local_memory"].startswith("UnsupportedByDevice: ")
    assert str(local_memory_kib * 1024) in found["local_memory"]
    assert found["sub_group"].startswith("UnsupportedByDevice: ")
    assert sub_groups.replace(",", ", ") in found["sub_group"]
    if gpu == "dg2":
        assert found["fp64"].startswith("KernelBuildError: kernel in_double does not build")
        assert found["fp64"].count("Double type is not supported on this platform") == 1
    else:
        assert found["fp64"] == "submitted"
    assert all("\n" not in text for text in found.values())


@pytest.mark.numba_dpex
def test_large_register_file_reaches_the_compiler(driver: Driver, gpu: str, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    variables = {"IGC_ShaderDumpEnable": "1", "IGC_DumpToCustomDir": str(dump), "NEO_CACHE_PERSISTENT": "0"}
    found = driver.tell(gpu, tmp_path, "answers.py", "registers", "level_zero:gpu:0", more=variables)
    assert found == {"default": "submitted", "large": "submitted"}
    assembly = [file.read_text(encoding="utf-8") for file in dump.glob("*.asm")]
    assert sorted(re.findall(r"numGRF=(\d+)", "".join(assembly))) == ["128", "256"]


def test_memory_of_numpy_is_imported_while_it_lives(driver: Driver, gpu: str, tmp_path: Path) -> None:
    found = driver.tell(gpu, tmp_path, "answers.py", "imported", "level_zero:gpu:0")
    assert found == {"before": False, "during": True, "after": False}


def test_modes_of_products_are_those_that_the_library_is_given(driver: Driver, tmp_path: Path) -> None:
    """On a Max it also takes each for matrices of 1024."""
    for _ in range(12):  # it refuses the device in some processes: see OF_ONEMKL
        arguments = (HERE / "no_hardware" / "answers.py", "products", "level_zero:gpu:0")
        done = driver.run("pvc", tmp_path, *arguments, more={"MKL_VERBOSE": "2"})
        given = re.findall(r"row_major::gemm\[float\]\(.*,1024,(\w+),Vector.*\) mode:(\w+)", done.stdout)
        if len(given) == len(MODES):
            break
    assert given == [(mode, mode) for mode in MODES], done.stdout + done.stderr


@pytest.mark.numba_dpex
def test_missing_times_end_in_one_clear_line(driver: Driver, tmp_path: Path) -> None:
    found = driver.tell("pvc", tmp_path, "answers.py", "times", "level_zero:gpu:0")
    assert set(found) == {"kernel", "copy", "fill", "barrier"}
    (line,) = set(found.values())
    assert re.fullmatch(
        r"ProfilingUnavailable: the driver of Intel.* \(level_zero\) gives no times of commands, .*", line
    )
    assert "choose another device" in line


def test_nothing_of_it_enters_a_results_table(driver: Driver, tmp_path: Path) -> None:
    run = ("-m", "xebench", "run", "vector_add_groups", "--preset", "smoke", "--output", str(tmp_path / "run"))
    done = driver.run("bmg", tmp_path, *run)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "(level_zero:gpu:0, driver " in done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith("xebench: level_zero:gpu:0 failed its self-test")
    assert not list(tmp_path.rglob("pairs.*"))
