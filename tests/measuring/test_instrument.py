"""The instrument's own error: the host's clock made up, a kernel of known length, and what a sample costs."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.device


def test_the_host_clock_tells_its_step_and_its_price() -> None:
    from xebench.measuring.instrument import host_clock

    ticks = iter(n // 4 * 100 for n in range(10_000))
    step, price = host_clock(lambda: next(ticks))
    assert step == 100
    assert price == pytest.approx(25, rel=0.01)
    assert host_clock(lambda: 5) == (None, 0.0)


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


def test_overheads_of_both_sides_are_times() -> None:
    from xebench.measuring.instrument import empty_launch, sample_overheads
    from xebench.session.session import Session

    session = Session.on("cpu")
    overheads = sample_overheads(session, *empty_launch(session), rounds=1)
    assert overheads.sample_ns > 0 and overheads.bare_ns > 0 and overheads.launch_ns > 0
