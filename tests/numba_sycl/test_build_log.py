"""The driver's own words about what it does not build, on one line."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from numba_sycl import level_zero_library
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


def test_a_loader_that_is_not_there_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(level_zero_library, "LOADER", "libno_such_loader.so.1")
    assert driver_reason(b"spirv", "spirv", device_of("level_zero"), "").startswith(f"{NO_REASON} (")


def test_a_backend_that_tells_nothing() -> None:
    assert driver_reason(b"spirv", "spirv", device_of("cuda"), "") == NO_REASON
