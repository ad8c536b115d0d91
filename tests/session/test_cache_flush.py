"""Emptying the caches of a device."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.device


def test_a_flush_goes_over_more_than_the_last_level_cache_and_sees_the_memory() -> None:
    from xebench.session.device_memory import FIRST_FLUSHES, DeviceMemory, Flusher, cache_bytes
    from xebench.session.session import Session
    from xebench.system.runtime.machine import last_level_cache_bytes

    session = Session.on("cpu")
    flusher = Flusher(session.queue)
    assert cache_bytes(session.device) >= max(session.device.global_mem_cache_size, last_level_cache_bytes() or 0)
    assert flusher._buffer.nbytes >= 2 * cache_bytes(session.device)
    seen = flusher.limit_gbps
    assert seen > 0
    before = DeviceMemory(session.queue).read(flusher._buffer[-4:])
    flusher.flush()
    after = DeviceMemory(session.queue).read(flusher._buffer[-4:])
    assert np.array_equal(after - before, np.ones(4, np.int32)), "the whole buffer is written"
    assert flusher.limit_gbps >= seen
    assert FIRST_FLUSHES > 0
    assert session.measure(lambda: None).events == [], "a flush belongs to no sample"
    assert session.take_kernels() == []


def test_an_unknown_cache_is_no_small_one() -> None:
    from xebench.session.device_memory import flush_bytes

    mib = 1 << 20
    assert flush_bytes(32 * mib, 9000 * mib) == (64 * mib, True)
    assert flush_bytes(0, 9000 * mib) == (816 * mib, True), "twice the largest that is known"
    assert flush_bytes(0, 512 * mib) == (512 * mib, False), "no room for that: nobody knows whether it is enough"
    assert flush_bytes(408 * mib, 512 * mib) == (512 * mib, False)
