"""Describing and choosing devices, without any."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest
from fake_device import GPU, sycl_device

from xebench.errors import NoDevice
from xebench.system.runtime import devices
from xebench.system.runtime.variables import HIDING

GPU_CL = replace(GPU, device="opencl:gpu:0", backend="opencl")
CPU = replace(GPU, device="opencl:cpu:0", backend="opencl", device_class="cpu", name="Xeon")


@pytest.fixture(autouse=True)
def no_driver_is_asked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenCL looks for its drivers once a process, and must not before the runtime is loaded."""
    if not request.node.get_closest_marker("device"):
        monkeypatch.setattr(devices, "extensions_of", lambda device: ())
        monkeypatch.setattr(devices, "hardware_id", lambda device: None)
        monkeypatch.setattr(devices, "has_several", lambda device: False)


@pytest.fixture
def nothing_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in HIDING:
        monkeypatch.delenv(name, raising=False)


def test_describe_reads_a_sycl_device() -> None:
    info = devices.describe(sycl_device())
    assert info.device == "opencl:gpu:0"
    assert info.name == "Arc"
    assert info.device_class == "gpu"
    assert info.sub_group_sizes == (8, 16, 32)
    assert info.aspects == ("fp16", "gpu")
    assert info.max_clock_mhz == 2100


@pytest.mark.parametrize("sizes", [None, [], [0]])
def test_a_device_without_sub_groups_has_no_sizes(sizes: list[int] | None) -> None:
    assert devices.describe(sycl_device(sub_group_sizes=sizes)).sub_group_sizes == ()


def test_a_clock_that_is_not_told_is_none() -> None:
    assert devices.describe(sycl_device(max_clock_frequency=0)).max_clock_mhz is None


def test_accelerators_are_neither_gpu_nor_cpu() -> None:
    assert devices.device_class(sycl_device(is_gpu=False)) is None
    assert devices.device_class(sycl_device(is_gpu=False, is_cpu=True)) == "cpu"


def test_to_row_has_the_columns_of_the_table_as_plain_values() -> None:
    row = GPU.to_row()
    assert row["sub_group_sizes"] == "16,32"
    assert row["aspects"].startswith("gpu,fp16,")
    assert set(row) == set(asdict(GPU))
    assert all(isinstance(value, str | int) for value in row.values())


def test_order_is_level_zero_opencl_other_gpus_then_cpus() -> None:
    other = replace(GPU, device="cuda:gpu:0", backend="cuda")
    second = replace(GPU, device="level_zero:gpu:1")
    assert devices.in_order([CPU, other, GPU_CL, GPU, second]) == [GPU, second, GPU_CL, other, CPU]


def test_of_one_back_end_the_gpu_with_more_compute_units_comes_first_and_the_others_are_named() -> None:
    card = replace(GPU, device="level_zero:gpu:1", name="A770", compute_units=512)
    small = replace(GPU, name="UHD", compute_units=32)
    for request in ("auto", "gpu"):
        chosen = devices.choose(devices.in_order([CPU, small, card, GPU_CL]), request)
        assert chosen.device == card
        assert chosen.notice == (
            "2 GPUs: level_zero:gpu:1 (A770, 512 compute units) is taken, as no other has more compute units; "
            "--device takes level_zero:gpu:0 (UHD, 32 compute units)"
        )


def test_auto_takes_the_first_gpu_in_silence() -> None:
    chosen = devices.choose([GPU, GPU_CL, CPU], "auto")
    assert chosen.device is GPU
    assert chosen.notice is None


def test_auto_falls_back_to_the_cpu_and_says_so() -> None:
    chosen = devices.choose([CPU], "auto")
    assert chosen.device is CPU
    assert chosen.notice is not None
    assert chosen.notice.startswith("no GPU found: falling back to the CPU device opencl:cpu:0 (Xeon)")


def test_a_class_that_is_asked_for_comes_without_notice() -> None:
    assert devices.choose([GPU, CPU], "cpu") == devices.Selection(CPU)
    assert devices.choose([GPU, CPU], "gpu") == devices.Selection(GPU)


@pytest.mark.usefixtures("nothing_hidden")
@pytest.mark.parametrize(("request_", "require_gpu"), [("gpu", False), ("auto", True), ("gpu", True)])
def test_without_a_gpu_a_gpu_is_refused(request_: str, require_gpu: bool) -> None:
    with pytest.raises(NoDevice, match=r"^no GPU found \(available: opencl:cpu:0 \(Xeon\)\): see xebench doctor, or"):
        devices.choose([CPU], request_, require_gpu)


def test_require_gpu_contradicts_cpu() -> None:
    with pytest.raises(NoDevice, match="leave out one"):
        devices.choose([GPU, CPU], "cpu", require_gpu=True)


@pytest.mark.usefixtures("nothing_hidden")
def test_what_hides_devices_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCL_ICD_FILENAMES", "/env/lib/libintelocl.so")
    monkeypatch.setattr(devices, "find_library", lambda name: Path("/env/lib", name))
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", "opencl:gpu")
    with pytest.raises(NoDevice, match=r"^no SYCL device found \(ONEAPI_DEVICE_SELECTOR=opencl:gpu may hide it: unset"):
        devices.choose([], "auto")
    with pytest.raises(
        NoDevice, match=r"\(Xeon\); ONEAPI_DEVICE_SELECTOR=opencl:gpu may hide others\): see xebench doctor"
    ):
        devices.choose([CPU], "gpu")


@pytest.mark.usefixtures("nothing_hidden")
def test_nothing_at_all_names_the_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "find_library", lambda name: "/lib/" + name)
    with pytest.raises(NoDevice, match=r"^no SYCL device found \(.*xebench doctor\)$"):
        devices.choose([], "auto")
    monkeypatch.setattr(devices, "find_library", lambda name: None)
    with pytest.raises(NoDevice, match="driver is missing.*intel-opencl-rt"):
        devices.choose([], "auto")


def test_a_filter_string_may_name_any_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "list_devices", lambda: [GPU, CPU])
    monkeypatch.setattr(devices, "open_device", lambda name: sycl_device(filter_string="opencl:gpu:1"))
    assert devices.select_device("opencl:gpu:1").device.device == "opencl:gpu:1"


def test_an_unknown_filter_string_is_answered_with_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "list_devices", lambda: [CPU])
    monkeypatch.setattr(devices, "open_device", lambda name: None)
    with pytest.raises(NoDevice, match=r"no device 'tpu' \(available: opencl:cpu:0 \(Xeon\)\)"):
        devices.select_device("tpu")


def test_a_cpu_by_filter_string_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "list_devices", lambda: [CPU])
    monkeypatch.setattr(devices, "open_device", lambda name: sycl_device(is_gpu=False, is_cpu=True))
    with pytest.raises(NoDevice, match="a GPU is required"):
        devices.select_device("opencl:cpu:0", require_gpu=True)


@pytest.mark.device
def test_the_devices_of_this_machine() -> None:
    listed = devices.list_devices()
    assert listed
    for device in listed:
        assert device.device_class in ("gpu", "cpu")
        assert device.max_work_group_size >= 1
        assert device.global_memory_bytes > device.local_memory_bytes > 0
        assert devices.select_device(device.device).device == device


@pytest.mark.device
def test_filter_strings_that_no_device_answers() -> None:
    with pytest.raises(NoDevice, match="available: "):
        devices.select_device("opencl:cpu:99")
    with pytest.raises(NoDevice, match="no device 'nonsense'"):
        devices.select_device("nonsense")
