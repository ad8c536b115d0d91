"""Where an array lives decides what a kernel pays to reach it: device, host or shared memory, or a copy each time."""

import numba_dpex as dpex
import numpy as np
from numba_dpex import kernel_api as kapi

from harness import Pattern, Problem, output

pattern = Pattern(
    name="usm_kinds",
    catalogue=("E62", "memory_kinds_nstream"),
    guide="Host/Device Memory, Buffer and USM / Unified Shared Memory Allocations",
    lesson="Device memory is fastest for kernels; shared memory moves there once, host memory is fetched every time.",
    claim={"gpu": "faster"},
    presets={
        "smoke": {"n": 1 << 14, "steps": 4},
        "default": {"n": 1 << 20, "steps": 10},
        "guide": {"n": 64 << 20, "steps": 100},  # the guide's are doubles; not every GPU has them
    },
    axes={"work_group_size": (256,)},
)

FACTOR = 3


@dpex.kernel(error_model="numpy")
def triad(item: kapi.NdItem, a, b, c):
    i = item.get_global_id(0)
    if i < c.shape[0]:
        c[i] = a[i] + np.float32(FACTOR) * b[i]


@pattern.problem
def three_arrays(rng, n, steps):
    # small whole numbers: exact in float32
    a, b = (rng.integers(0, 100, n).astype(np.float32) for _ in range(2))
    return Problem(a=a, b=b, y=output(n, np.float32), bytes_moved=steps * 3 * 4 * n, operations=steps * 2 * n)


@pattern.reference
def expected(p):
    return {"y": p.a + FACTOR * p.b}


def all_items(p, work_group_size):
    return kapi.NdRange((-(-p.n // work_group_size) * work_group_size,), (work_group_size,))


def launch_on(session, p, work_group_size, usm):
    """All steps on arrays of one kind of USM; the result is handed over once, at the end."""
    a, b, c = (session.alloc(p.n, np.float32, usm=usm) for _ in range(3))
    session.copy(a, p.a)
    session.copy(b, p.b)
    session.wait()

    def timed():
        for _ in range(p.steps):
            session.launch(triad, all_items(p, work_group_size), a, b, c)
        session.copy(p.y, c)

    return timed


@pattern.naive
def copied_each_step(session, p, work_group_size):
    """Arrays of the host: every step copies the inputs to the device and the result back."""
    a, b, c = (session.alloc(p.n, np.float32) for _ in range(3))
    result = np.empty(p.n, np.float32)

    def timed():
        for _ in range(p.steps):
            session.copy(a, p.host.a)
            session.copy(b, p.host.b)
            session.launch(triad, all_items(p, work_group_size), a, b, c)
            session.copy(result, c)
        session.copy(p.y, c)

    return timed


@pattern.intermediate(claim={"gpu": "faster"}, requires=("usm_host",))
def host_memory(session, p, work_group_size):
    """Host USM: it stays with the host, and kernels reach it over the bus."""
    return launch_on(session, p, work_group_size, "host")


@pattern.intermediate(claim={"gpu": "faster"}, requires=("usm_shared",))
def shared_memory(session, p, work_group_size):
    """Shared USM: it moves to the device when a kernel first touches it."""
    return launch_on(session, p, work_group_size, "shared")


@pattern.optimized
def device_memory(session, p, work_group_size):
    """Device USM: it is on the device all the time."""
    return launch_on(session, p, work_group_size, "device")
