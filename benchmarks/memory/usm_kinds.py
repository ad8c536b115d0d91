"""Where an array lives decides what a kernel pays to reach it: device, host or shared memory, or a copy each time."""

import numpy as np

from xebench import Claim, Figure, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="usm_kinds",
    catalogue=("E62", "memory_kinds_nstream"),
    guide="Host/Device Memory, Buffer and USM / Unified Shared Memory Allocations",
    lesson="Device memory is fastest for kernels; shared memory moves there once, host memory is fetched every time.",
    # The guide's elements are doubles, which not every GPU has; bytes are what this is about. Its arrays are of 512
    # MiB: at an eighth of that a naive sample of 100 steps still takes 27 GB over the link.
    presets={
        "smoke": {"n": (1 << 14, 16381), "steps": 4},
        # the three arrays together at least twice as large as the last cache
        "default": {"n": {"cpu": 1 << 20, "gpu": fit(1 << 22, per_lane=16, per_cache_byte=1 / 6)}, "steps": 4},
        "guide": {"n": 16 << 20, "steps": 100},
    },
    own_sizes="an eighth of the guide's 512 MiB an array",
    axes={"work_group_size": (256,)},
    metric="wall",
)

FACTOR = 3
PAGE = 1024  # elements of a page of 4 KiB
# seconds a step, on one stack of a GPU with two (G 14440 to 14447); that with omp_target_memcpy, 0.011072, is
# the program of `copied_once` as well
COPIED_EACH_STEP, COPIED_ONCE, DEVICE, HOST, SHARED = 0.183604, 0.012757, 0.002499, 0.074412, 0.012491


def faster(seconds, than, lines, against=""):
    """The guide's claim, with the ratio of two of its times."""
    return Claim(
        "faster",
        against=against,
        on=("gpu",),
        figure=Figure(than / seconds, line=lines, metric="wall", device="Max", inferred="G 11858 to 11861"),
    )


@kernel
def add_triad(item: kapi.NdItem, a, b, c):
    i = item.get_global_id(0)
    if i < c.shape[0]:
        c[i] += a[i] + np.float32(FACTOR) * b[i]


@kernel
def clear(item: kapi.Item, c):
    c[item.get_id(0)] = np.float32(0)


@pattern.problem
def three_arrays(rng, n, steps):
    # small whole numbers: exact in float32
    a, b = (rng.integers(0, 128, n, dtype=np.uint8).astype(np.float32) for _ in range(2))
    return Problem(a=a, b=b, y=output(n, np.float32), bytes_moved=steps * 4 * 4 * n, operations=steps * 3 * n)


@pattern.reference
def expected(p):
    return {"y": p.steps * (p.a + FACTOR * p.b)}


def launch(session, p, work_group_size, *arrays):
    groups = ceil_div(p.n, work_group_size)
    session.launch(add_triad, kapi.NdRange((groups * work_group_size,), (work_group_size,)), *arrays)


@pattern.naive
def copied_each_step(session, p, work_group_size):
    """Arrays of the host: every step has memory on the device, copies them there, and the result back."""
    result = np.empty(p.n, np.float32)

    def timed():
        result[:] = 0
        for _ in range(p.steps):
            a, b, c = (session.alloc(p.n, np.float32) for _ in range(3))
            for array, of_host in ((a, p.host.a), (b, p.host.b), (c, result)):
                session.copy(array, of_host)
            launch(session, p, work_group_size, a, b, c)
            session.copy(result, c)
            session.wait()
        session.copy(p.y, c)

    return timed


@pattern.intermediate(
    claim=(
        faster(COPIED_ONCE, COPIED_EACH_STEP, "G 14441 to 14449"),
        faster(COPIED_ONCE, HOST, "G 14442 to 14445", against="host_memory"),
        Claim("same", against="shared_memory", on=("gpu",), within=0.05, source="G 14442 to 14446"),
    )
)
def copied_once(session, p, work_group_size):
    """Arrays of the host, copied to the device before the first step, and the result back after the last."""
    a, b, c = (session.alloc(p.n, np.float32) for _ in range(3))
    result = np.empty(p.n, np.float32)

    def timed():
        result[:] = 0
        for array, of_host in ((a, p.host.a), (b, p.host.b), (c, result)):
            session.copy(array, of_host)
        for _ in range(p.steps):
            launch(session, p, work_group_size, a, b, c)
        session.copy(result, c)
        session.copy(p.y, c)

    return timed


def touched_by_host(session, p, work_group_size, usm):
    """All steps on arrays that the host writes before: an element of every page, which brings the page to it."""
    arrays = [session.alloc(p.n, np.float32, usm=usm) for _ in range(3)]
    views = [np.frombuffer(array.usm_data, np.float32) for array in arrays]
    values = (p.host.a, p.host.b, np.zeros(p.n, np.float32))
    for view, of_host in zip(views, values, strict=True):
        view[:] = of_host

    def timed():
        for view, of_host in zip(views, values, strict=True):
            view[::PAGE] = of_host[::PAGE]
        session.launch(clear, kapi.Range(p.n), arrays[2])
        for _ in range(p.steps):
            launch(session, p, work_group_size, *arrays)
        session.copy(p.y, arrays[2])

    return timed


@pattern.intermediate(claim=faster(HOST, COPIED_EACH_STEP, "G 14441 to 14445"), requires=("usm_host",))
def host_memory(session, p, work_group_size):
    """Host USM: it stays with the host, and kernels reach it over the bus."""
    return touched_by_host(session, p, work_group_size, "host")


@pattern.intermediate(
    claim=(
        faster(SHARED, COPIED_EACH_STEP, "G 14441 to 14453"),
        faster(SHARED, HOST, "G 14445 to 14455", against="host_memory"),
    ),
    requires=("usm_shared",),
)
def shared_memory(session, p, work_group_size):
    """Shared USM: it moves to the device when a kernel first touches it, after the host did."""
    return touched_by_host(session, p, work_group_size, "shared")


@pattern.optimized(
    claim=(
        faster(DEVICE, COPIED_EACH_STEP, "G 14441 to 14451"),
        faster(DEVICE, SHARED, "G 14444 to 14453", against="shared_memory"),
        faster(DEVICE, COPIED_ONCE, "G 14442 to 14444", against="copied_once"),
    )
)
def device_memory(session, p, work_group_size):
    """Device USM: it is on the device all the time."""

    def timed():
        session.launch(clear, kapi.Range(p.n), p.y)
        for _ in range(p.steps):
            launch(session, p, work_group_size, p.a, p.b, p.y)

    return timed
