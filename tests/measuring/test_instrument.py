"""The instrument's own error: a kernel of known length, and what a sample costs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from xebench.results import TABLES

pytestmark = pytest.mark.device


def test_the_instrument_measures_itself_and_leaves_the_session_as_it_was() -> None:
    from xebench.measuring.instrument import measure_instrument
    from xebench.session.session import Session

    session = Session.on("cpu")
    columns = measure_instrument(session)
    assert columns.keys() <= TABLES["devices"].keys()
    found: dict[str, Any] = {name: value for name, value in columns.items() if value is not None}
    assert all(math.isfinite(value) for value in found.values())
    assert all(found[name] > 0 for name in ("empty_kernel_ns", "launch_overhead_ns", "aa_speedup"))
    assert found["empty_kernel_ns"] <= found["empty_kernel_host_ns"]
    assert found["aa_low"] <= found["aa_speedup"] <= found["aa_high"]
    assert session.measure(lambda: None).events == []
    assert session.take_kernels() == [] and session.take_compilations() == []


def test_the_kernel_of_known_length_does_every_step() -> None:
    from xebench import kernel_api as kapi
    from xebench.measuring.instrument import _known_length
    from xebench.session.device_memory import DeviceMemory
    from xebench.session.session import Session

    session = Session.on("cpu")
    memory = DeviceMemory(session.queue)
    x = memory.upload(np.full(64, 0.5, np.float32))
    session.launch(_known_length, kapi.NdRange((64,), (64,)), x, np.float32(0.5), np.int64(3))
    session.wait()
    assert memory.read(x).tolist() == [0.9375] * 64
