"""Benchmarks that pytest-benchmark has stored (``--benchmark-compare``) are of this device, or not compared."""

from __future__ import annotations

from typing import Any, Final

import pytest

#: What stored benchmarks say of themselves (``extra_info``), by test.
STORED: Final[pytest.StashKey[dict[str, dict[str, Any]]]] = pytest.StashKey()


def refuse_other_device(request: pytest.FixtureRequest, fullname: str, device_class: str, name: str) -> None:
    """Fail the test if a stored benchmark of that name is of another device."""
    stored = request.config.stash[STORED].get(fullname, {})
    theirs, ours = (stored.get("device_class"), stored.get("device")), (device_class, name)
    if None not in theirs and theirs != ours:
        there, here = " ".join(map(str, theirs)), " ".join(ours)
        pytest.fail(
            f"the stored benchmark is of {there}, this one of {here}: times of two devices are not compared; "
            "choose the device with --xebench-device, or compare with another file",
            pytrace=False,
        )
