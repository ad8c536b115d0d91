"""What tells two equal devices apart: with drivers that are made up, and of the devices of this machine."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from numba_sycl import level_zero_library, opencl_library
from xebench.system.runtime import devices
from xebench.system.runtime.devices import hardware_id

PCI, UUID = 0x410F, 0x106A


def equal_gpu(number: int, backend: str = "opencl") -> Any:
    """One of several equal GPUs; its handle is its number."""
    return SimpleNamespace(name="H200", backend=SimpleNamespace(name=backend), number=number)


@pytest.fixture(autouse=True)
def handles(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if not request.node.get_closest_marker("device"):
        monkeypatch.setattr(devices, "native_handle", lambda device: ctypes.c_void_p(device.number))


class Driver:
    """An OpenCL driver that answers some questions, each with a pattern of its device's number."""

    def __init__(self, answers: Mapping[int, bytes]) -> None:
        self.answers = answers

    def clGetDeviceInfo(self, handle: Any, what: int, size: Any, answer: Any, none: None) -> int:
        if what not in self.answers:
            return -30  # CL_INVALID_VALUE
        assert size.value == 16
        told = bytearray(self.answers[what])
        told[4] |= handle.value or 0
        ctypes.memmove(answer, bytes(told), 16)
        return 0


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({PCI: bytes(16), UUID: bytes(16)}, ["uuid 00000000" + number + "0" * 22 for number in ("03", "5d")]),
        ({PCI: bytes(16)}, ["pci 0000:03:00.0", "pci 0000:5d:00.0"]),
        ({}, [None, None]),
    ],
)
def test_equal_gpus_are_told_apart_by_what_opencl_says(
    answers: dict[int, bytes], expected: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opencl_library, "open_library", lambda: Driver(answers))
    assert [hardware_id(equal_gpu(0x03)), hardware_id(equal_gpu(0x5D))] == expected


@pytest.mark.parametrize(
    ("address", "expected"), [(bytes(16), None), (bytes.fromhex("01" + "00" * 15), "pci 0001:00:00.0")]
)
def test_zeros_are_none(address: bytes, expected: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencl_library, "open_library", lambda: Driver({UUID: bytes(16), PCI: address}))
    assert hardware_id(equal_gpu(0)) == expected


def test_level_zero_gives_a_uuid(monkeypatch: pytest.MonkeyPatch) -> None:
    class Library:
        def zeDeviceGetProperties(self, device: Any, properties: Any) -> int:
            properties._obj.uuid[0] = device.value or 0
            return 0

    monkeypatch.setattr(level_zero_library, "open_library", Library)
    assert hardware_id(equal_gpu(1, "level_zero")) == "uuid 01" + "0" * 30
    assert hardware_id(equal_gpu(2, "level_zero")) == "uuid 02" + "0" * 30
    assert hardware_id(equal_gpu(0, "level_zero")) is None


def test_without_a_driver_s_library_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> Any:
        raise OSError("libze_loader.so.1: cannot open shared object file")

    monkeypatch.setattr(level_zero_library, "open_library", absent)
    assert hardware_id(equal_gpu(1, "level_zero")) is None
    assert hardware_id(equal_gpu(1, "cuda")) is None


@pytest.mark.device
def test_the_handle_of_an_opencl_device_is_its_own() -> None:
    from xebench.system import runtime

    runtime.load()
    import dpctl

    library = opencl_library.open_library()
    for device in dpctl.get_devices(backend="opencl"):
        name = opencl_library.text(library.clGetDeviceInfo, devices.native_handle(device), 0x102B)
        assert name.strip() == device.name.strip()
