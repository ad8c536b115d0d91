"""What a device lacks, in one line."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fake_device import GPU
from hypothesis import given
from hypothesis import strategies as st

from xebench.system.runtime.devices import known_requirements, missing, narrow_sub_group_size, usual_sub_group_size


@pytest.mark.parametrize(
    "name", ["fp64", "fp16", "atomic64", "usm_device", "usm_shared", "sub_groups", "gpu", "level_zero"]
)
def test_a_device_that_has_it_lacks_nothing(name: str) -> None:
    assert missing(GPU, [name]) is None


@pytest.mark.parametrize(
    ("name", "aspect"),
    [
        ("fp64", "fp64"),
        ("fp16", "fp16"),
        ("atomic64", "atomic64"),
        ("usm_atomic_host", "usm_atomic_host_allocations"),
        ("usm_device", "usm_device_allocations"),
        ("usm_shared", "usm_shared_allocations"),
        ("several_devices", "several_devices"),
    ],
)
def test_a_name_asks_for_its_aspect(name: str, aspect: str) -> None:
    without = replace(GPU, aspects=tuple(has for has in GPU.aspects if has != aspect))
    reason = missing(without, [name])
    assert reason is not None
    assert name in reason


def test_extensions_of_opencl_c() -> None:
    assert missing(GPU, ["intel_subgroups"]) is None  # on Level Zero, where every compiler of Intel's has it
    opencl = replace(GPU, backend="opencl")
    lacking = "the device has no Intel's sub-group functions (cl_intel_subgroups)"
    assert missing(opencl, ["intel_subgroups"]) == lacking
    assert missing(replace(opencl, aspects=("cl_intel_subgroups",)), ["intel_subgroups"]) is None
    assert missing(GPU, ["xmx"]) == (
        "the device has no matrix engine that OpenCL C reaches (cl_intel_subgroup_matrix_multiply_accumulate)"
    )
    assert missing(replace(GPU, vendor="Intel(R) Corporation"), ["intel_gpu"]) is None
    assert missing(replace(GPU, vendor="another", name="A card"), ["intel_gpu"]) == (
        "needs a GPU of Intel, the device is A card"
    )
    assert missing(replace(GPU, vendor="another", name="A card"), ["onemkl"]) == (
        "oneMKL computes on CPUs and on Intel's GPUs, the device is A card"
    )
    assert missing(replace(GPU, vendor="another", device_class="cpu"), ["onemkl"]) is None


def test_reasons_name_both_sides() -> None:
    assert missing(GPU, ["usm_host"]) == "the device has no USM host allocations (usm_host)"
    assert missing(GPU, ["cpu"]) == "needs a CPU, the device is a GPU"
    assert missing(GPU, ["opencl"]) == "needs the opencl backend, the device is on level_zero"
    assert missing(replace(GPU, sub_group_sizes=()), ["sub_groups"]) == "the device offers no sub-groups"


def test_numbers() -> None:
    assert missing(GPU, work_group_size=1024, sub_group_size=16, local_memory_bytes=131072) is None
    assert missing(GPU, work_group_size=2048) == "needs work-groups of 2048, the device allows 1024"
    assert missing(GPU, sub_group_size=8) == "needs sub-groups of 8, the device offers 16, 32"
    assert missing(GPU, local_memory_bytes=131073) == (
        "needs 131073 B of local memory a work-group, the device has 131072 B"
    )
    assert missing(GPU, global_memory_bytes=2**37) == "needs 128.00 GiB of device memory, the device has 64.00 GiB"
    assert "none" in (missing(replace(GPU, sub_group_sizes=()), sub_group_size=8) or "")


def test_numbers_can_be_written_as_names() -> None:
    assert missing(GPU, ["work_group_size=1024", "sub_group_size = 16"]) is None
    assert missing(GPU, ["work_group_size=2048"]) == missing(GPU, work_group_size=2048)


def test_the_first_reason_is_given() -> None:
    assert missing(GPU, ["fp64", "usm_host", "cpu"], work_group_size=1 << 20) == missing(GPU, ["usm_host"])


@pytest.mark.parametrize("wrong", ["fp32", "work_group_size", "fp64=1", "subgroups=16"])
def test_unknown_names_are_refused_and_known_ones_named(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"unknown requirement .*fp64, .*local_memory_bytes="):
        missing(GPU, [wrong])


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="work_group_size=many is no whole number"):
        missing(GPU, ["work_group_size=many"])


def test_every_known_requirement_is_understood() -> None:
    for name in known_requirements():
        missing(GPU, [f"{name}16" if name.endswith("=") else name])


@given(st.integers(1, 1 << 40), st.integers(1, 1 << 40))
def test_least_amounts_are_thresholds(has: int, wants: int) -> None:
    device = replace(GPU, max_work_group_size=has, local_memory_bytes=has, global_memory_bytes=has)
    for name in ("work_group_size", "local_memory_bytes", "global_memory_bytes"):
        assert (missing(device, (), **{name: wants}) is None) == (wants <= has)


@pytest.mark.parametrize(("offered", "size"), [((8, 16, 32), 16), ((32,), 32), ((4, 8), 8), ((), 16)])
def test_the_usual_sub_group_size_is_the_guides_or_the_largest(offered: tuple[int, ...], size: int) -> None:
    assert usual_sub_group_size(offered) == size


@pytest.mark.parametrize(("offered", "size"), [((8, 16, 32), 8), ((16, 32), 16), ((32,), 32), ((4, 8), 8), ((), 8)])
def test_a_narrow_sub_group_has_eight_lanes_or_the_fewest_that_there_are(offered: tuple[int, ...], size: int) -> None:
    assert narrow_sub_group_size(offered) == size


def test_a_matrix_engine_must_be_as_wide_as_a_kernel_needs() -> None:
    engine = "cl_intel_subgroup_matrix_multiply_accumulate"
    large = replace(GPU, sub_group_sizes=(16, 32), aspects=(*GPU.aspects, engine))
    arc = replace(large, sub_group_sizes=(8, 16, 32))
    assert missing(large, ["matrix_lanes=16"]) is None
    assert missing(arc, ["matrix_lanes=8"]) is None
    assert missing(arc, ["matrix_lanes=16"]) == "needs a matrix engine (XMX) of 16 lanes, the device has one of 8"
    assert missing(GPU, ["matrix_lanes=16"]) == missing(GPU, ["xmx"])
