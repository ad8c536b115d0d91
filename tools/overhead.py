"""Cost of a launch: ``python -m tools.overhead``.

It prints what a launch of a kernel with three arrays and a number takes on the host, beside dpctl's own submission, and
what the limit of its narrowed module adds.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from xebench.system import runtime

#: Launches of each kind, in turns.
LAUNCHES = 2000


def guarded_launches() -> dict[str, float]:
    """Host time in ns of a submission by dpctl, of prepared launches, and of prepared launches with other arguments."""
    runtime.load()
    from numba_sycl import PreparedLaunch, build, compile_kernel
    from numba_sycl.tensor import tensor as dpt
    from xebench import kernel
    from xebench import kernel_api as kapi

    @kernel
    def add_scaled(item: kapi.NdItem, x: Any, y: Any, z: Any, n: Any) -> None:
        i = item.get_global_id(0)
        if i < n:
            z[i] = x[i] + y[i]

    arrays = [dpt.zeros(64, dtype="f4") for _ in range(3)]
    queue, space, arguments = arrays[0].sycl_queue, kapi.NdRange((64,), (64,)), (*arrays, 64)
    compiled = compile_kernel(add_scaled, space, arguments)
    plain = build(compiled, queue)
    wide, narrow = (PreparedLaunch(build(one, queue), queue, space, arguments) for one in (compiled, compiled.narrowed))
    assert narrow.device_kernel.compiled.bounded
    flat: list[Any] = []
    for array in arrays:  # as numba-dpex flattens them: elements, size of one, pointer, extents, strides in bytes
        numbers = [ctypes.c_longlong(number) for number in (array.size, array.itemsize, *array.shape, array.itemsize)]
        flat += [*numbers[:2], array.usm_data, *numbers[2:]]
    flat.append(ctypes.c_longlong(64))

    def rebound(launch: PreparedLaunch) -> Any:
        launch.rebind(arguments)
        return launch.submit()

    ways: dict[str, Callable[[], Any]] = {
        "dpctl": lambda: queue.submit_async(plain.kernel, flat, [64], [64]),
        "prepared": wide.submit,
        "prepared, 32 bits": narrow.submit,
        "prepared, other arguments": lambda: rebound(wide),
        "prepared, other arguments, 32 bits": lambda: rebound(narrow),
    }
    taken: dict[str, list[int]] = {way: [] for way in ways}
    for _ in range(LAUNCHES):
        for way, submit in ways.items():
            begin = time.perf_counter_ns()
            event = submit()
            taken[way].append(time.perf_counter_ns() - begin)
            event.wait()
    return {way: median(times) for way, times in taken.items()}


if __name__ == "__main__":
    print(f"host time of a submission, medians of {LAUNCHES}:")
    for what, host_ns in guarded_launches().items():
        print(f"  {what:42}{host_ns / 1e3:7.2f} us")
