"""How many work-items fill a device."""

from __future__ import annotations

from typing import Any

import pytest
from fake_device import sycl_device

pytestmark = pytest.mark.device  # importing the session loads dpctl


@pytest.fixture
def device_lanes(monkeypatch: pytest.MonkeyPatch) -> Any:
    """`device_lanes` of devices that are not there: the driver tells what they say of ``told``."""
    from xebench.session import spread

    monkeypatch.setattr(spread, "intel_device_info", lambda device: device.told)
    return lambda **facts: spread.device_lanes(sycl_device(**{"told": {}, **facts}))


def test_a_driver_that_tells_its_threads_is_believed(device_lanes: Any) -> None:
    facts = {"max_compute_units": 512, "sub_group_sizes": [16, 32], "told": {"gpu_hw_threads_per_eu": 8}}
    assert device_lanes(name="a GPU of tomorrow", **facts) == 512 * 8 * 32


def test_the_threads_of_a_known_gpu_are_looked_up(device_lanes: Any) -> None:
    facts = {"max_compute_units": 96, "sub_group_sizes": [8, 16, 32]}
    assert device_lanes(name="Intel(R) Iris(R) Xe Graphics", **facts) == 96 * 7 * 32


def test_a_vector_width_of_one_is_no_reason_for_132_work_items(device_lanes: Any) -> None:
    facts = {"max_compute_units": 132, "sub_group_sizes": [32], "native_vector_width_int": 1}
    assert device_lanes(name="NVIDIA H200", **facts) == 270_336


def test_a_cpu_has_several_work_groups_for_each_core(device_lanes: Any) -> None:
    cpu = {"is_gpu": False, "is_cpu": True, "max_compute_units": 2, "sub_group_sizes": [4, 8, 16, 32, 64]}
    assert device_lanes(name="AMD EPYC", **cpu) == 4096


def test_a_gpu_without_sub_groups_is_counted_by_its_threads(device_lanes: Any) -> None:
    facts = {"max_compute_units": 10, "sub_group_sizes": [], "told": {"gpu_hw_threads_per_eu": 8}}
    assert device_lanes(**facts) == 80


@pytest.mark.parametrize(
    ("facts", "threads"),
    [
        ({"told": {"gpu_hw_threads_per_eu": 8, "gpu_eu_count_per_subslice": 8}, "name": "a GPU of tomorrow"}, 64),
        ({"name": "Intel(R) Iris(R) Xe Graphics"}, 112),
        ({"name": "NVIDIA H200", "max_compute_units": 132, "sub_group_sizes": [32]}, 2048 // 16),
        ({"name": "AMD EPYC", "is_gpu": False, "is_cpu": True, "max_compute_units": 2}, 2048 // 16),
    ],
)
def test_threads_of_a_core(monkeypatch: pytest.MonkeyPatch, facts: dict[str, Any], threads: int) -> None:
    from xebench.session import spread

    monkeypatch.setattr(spread, "intel_device_info", lambda device: device.told)
    assert spread.core_threads(sycl_device(**{"told": {}, **facts}), 16) == threads


def test_a_session_tells_what_pattern_files_size_launches_by() -> None:
    from xebench.session.session import Session
    from xebench.system.runtime import select_device

    device = select_device("auto").device
    session = Session.on(device.device)
    assert session.lanes >= device.compute_units
    assert session.sub_group_size in device.sub_group_sizes
