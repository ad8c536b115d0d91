"""The driver's own words about what it does not build, on one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from numba_sycl import device_kernel, level_zero_library, opencl_library
from numba_sycl.device_kernel import NO_REASON, driver_reason

LOG = """
error: in kernel 'k': Double type is not supported on this platform.
error: backend compiler failed build.

error: in kernel 'k': Double type is not supported on this platform.
error: backend compiler failed build.
"""


def device_of(backend: str) -> Any:
    return SimpleNamespace(backend=SimpleNamespace(name=backend), name="a GPU", driver_version="1")


def test_level_zero_says_each_reason_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(level_zero_library, "open_library", lambda: None)
    monkeypatch.setattr(level_zero_library, "build_log", lambda _library, name, spirv, options: LOG)
    assert driver_reason(b"spirv", "spirv", device_of("level_zero"), "") == (
        "error: in kernel 'k': Double type is not supported on this platform.; error: backend compiler failed build."
    )


def test_a_device_that_level_zero_does_not_find_has_no_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    library = SimpleNamespace(zeDriverGet=lambda _count, _handles: 0)
    monkeypatch.setattr(level_zero_library, "open_library", lambda: library)
    reason = driver_reason(b"spirv", "spirv", device_of("level_zero"), "")
    assert reason == f"{NO_REASON} (the device is not found through Level Zero)"


def test_an_empty_log_is_no_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """As PoCL's is, where the device's compiler refuses SPIR-V."""

    @contextmanager
    def program(*_: Any) -> Iterator[None]:
        yield None

    library = SimpleNamespace(clBuildProgram=lambda *_: -11, clGetProgramBuildInfo=None)
    monkeypatch.setattr(device_kernel, "_program", program)
    monkeypatch.setattr(opencl_library, "open_library", lambda: library)
    monkeypatch.setattr(opencl_library, "find_device", lambda *_: None)
    monkeypatch.setattr(opencl_library, "text", lambda *_: " \n")
    assert driver_reason(b"spirv", "spirv", device_of("opencl"), "") == f"{NO_REASON} (OpenCL error -11)"


def test_level_zero_without_a_log_gives_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def built_module(*_: Any) -> Iterator[tuple[int, None, None]]:
        yield 0x70000004, None, None

    monkeypatch.setattr(level_zero_library, "built_module", built_module)
    monkeypatch.setattr(level_zero_library, "open_library", lambda: None)
    reason = driver_reason(b"spirv", "spirv", device_of("level_zero"), "")
    assert reason == f"{NO_REASON} (Level Zero error 0x70000004)"


def test_a_loader_that_is_not_there_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(level_zero_library, "LOADER", "libno_such_loader.so.1")
    assert driver_reason(b"spirv", "spirv", device_of("level_zero"), "").startswith(f"{NO_REASON} (")


def test_a_backend_that_tells_nothing() -> None:
    assert driver_reason(b"spirv", "spirv", device_of("cuda"), "") == NO_REASON
