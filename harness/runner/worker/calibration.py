"""The device's roofs, measured with the same session that the patterns use: memory bandwidth and arithmetic rates."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numba_dpex
import numpy as np
from numba_dpex import kernel_api as kapi

from harness.analysis.metrics import union_ns
from harness.dpex import kernel
from harness.runner.worker.instrument import measure_instrument
from harness.session.cache_flush import cache_bytes
from harness.session.device_memory import DeviceMemory
from harness.session.session import Session

GROUP = 256
REPEATS = 12
MOST_ROUNDS = 5
BETTER = 0.99  # of the best time so far: what counts as an improvement
CHAINS = 8  # independent multiply-adds in flight, enough to hide the latency of one
STEPS = 512


@numba_dpex.kernel(error_model="numpy")  # type: ignore[untyped-decorator]
def _triad(item: kapi.NdItem, a: Any, b: Any, c: Any) -> None:
    i = item.get_global_id(0)
    a[i] = b[i] + np.float32(3) * c[i]


def _multiply_add(cast: Any) -> Any:
    """A kernel of multiply-add chains; ``cast`` keeps the type, since numba promotes int32 products to int64.

    numba-dpex forbids contraction; only fast and relaxed math let a multiply and an add become the one instruction
    that a roof is made of.
    """

    @kernel(fast_math=True, relaxed_math=True)  # type: ignore[untyped-decorator]
    def chains(item: kapi.NdItem, x: Any, factor: Any, steps: Any) -> None:
        # each chain depends on itself only, so the compiler cannot shorten it
        i = item.get_global_id(0)
        a = start = x[i]
        b, c = cast(start + factor), cast(start - factor)
        d, e = cast(b + c), cast(b - c)
        f, g, h = cast(d + a), cast(d + b), cast(d + c)
        for _ in range(steps):
            a = cast(a * factor + start)
            b = cast(b * factor + start)
            c = cast(c * factor + start)
            d = cast(d * factor + start)
            e = cast(e * factor + start)
            f = cast(f * factor + start)
            g = cast(g * factor + start)
            h = cast(h * factor + start)
        x[i] = cast(a + b + c + d + e + f + g + h)

    return chains


def measure_roofs(session: Session) -> dict[str, float | None]:
    """Measure the device's roofs, and the instrument's own error: what a run knows before its first pattern.

    Returns:
        Columns of the table ``devices``: the roofs (the best runs of a triad over several times the cache, and of
        multiply-add chains), and those of :func:`harness.runner.worker.instrument.measure_instrument`.
    """
    measured: dict[str, float | None] = {
        "bandwidth_roof_gbps": _bandwidth(session),
        "fp32_roof_gflops": _rate(session, np.float32),
        "fp64_roof_gflops": _rate(session, np.float64) if session.device.has_aspect_fp64 else None,
        "int32_roof_gops": _rate(session, np.int32),
    }
    session.release()
    return {**measured, **measure_instrument(session)}


def cold_limit_gbps(session: Session) -> float:
    """The bandwidth above which data did not come from the memory.

    A triad counts three arrays, but where a store makes the cache read its line first, four cross the memory; a kernel
    that only reads can be faster by that.
    """
    return 4 / 3 * _bandwidth(session)


_bandwidths: dict[str, float] = {}


def _bandwidth(session: Session) -> float:
    """Of a triad, measured once in a process and device."""
    name = session.device.filter_string
    if name not in _bandwidths:
        _bandwidths[name] = _measure_bandwidth(session)
    return _bandwidths[name]


def _measure_bandwidth(session: Session) -> float:
    # Each array is larger than the last-level cache, yet small in memory.
    memory = session.device.global_mem_size
    size = min(max(64 << 20, 2 * cache_bytes(session.device)), memory // 16)
    n = int(size // 4 // GROUP * GROUP)
    upload = DeviceMemory(session.queue).upload
    a, b, c = (upload(np.full(n, value, np.float32)) for value in (0, 1, 2))
    return 12 * n / _best_ns(session, lambda: session.launch(_triad, kapi.NdRange((n,), (GROUP,)), a, b, c))


def _rate(session: Session, dtype: Any) -> float:
    n = GROUP * 64 * max(1, int(session.device.max_compute_units))
    x = DeviceMemory(session.queue).upload(np.full(n, 1, dtype))
    chains, space, factor, steps = (
        _multiply_add(dtype),
        kapi.NdRange((n,), (GROUP,)),
        dtype(1),
        np.int32(STEPS),
    )
    operations = 2 * CHAINS * STEPS * n
    return operations / _best_ns(session, lambda: session.launch(chains, space, x, factor, steps))


def _best_ns(session: Session, submit: Callable[[], Any]) -> float:
    """The shortest device time; a roof is what the device can reach, not what it does on average.

    Runs on until the last ``REPEATS`` brought nothing new: others who use the machine must not lower the roof.
    """
    best, since_better = math.inf, 0
    for _ in range(REPEATS * MOST_ROUNDS):
        time_ns = union_ns([command.event_times() for command in session.measure(submit).commands])
        since_better = 0 if 0 < time_ns < BETTER * best else since_better + 1
        best = min(best, time_ns or math.inf)
        if since_better >= REPEATS:
            break
    return best
