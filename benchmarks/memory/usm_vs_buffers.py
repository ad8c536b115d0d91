"""Host and device take turns with an array: buffers, shared memory, or explicit copies."""

import numba_dpex as dpex
import numpy as np
from numba_dpex import kernel_api as kapi

from harness import Pattern, Problem, output

pattern = Pattern(
    name="usm_vs_buffers",
    catalogue=("E63",),
    guide="Host/Device Memory, Buffer and USM / Performance Impact of USM and Buffers",
    lesson="A buffer moves whole in each scope, shared memory page by page when touched, device memory when told to.",
    claim={"gpu": "faster"},
    presets={
        "smoke": {"n": 1 << 14, "steps": 2, "device_steps": 10},
        "default": {"n": 1 << 19, "steps": 5, "device_steps": 100},
        "guide": {"n": 10_000_000, "steps": 10, "device_steps": 1000},
    },
    axes={"stride": (1, 200_000), "work_group_size": (256,)},
    metric="wall",
)


@dpex.kernel(error_model="numpy")
def advance(item: kapi.NdItem, data, device_steps):
    i = item.get_global_id(0)
    if i < data.shape[0]:
        value = data[i]
        for _ in range(device_steps):
            value += np.float32(1)
        data[i] = value


@pattern.problem
def state(rng, n, steps, device_steps):
    return Problem(
        start=rng.integers(0, 100, n).astype(np.float32),  # whole numbers: exact in float32
        data=output(n, np.float32, host=True),
        bytes_moved=2 * 4 * n * steps,
        operations=n * steps * device_steps,
    )


@pattern.reference
def expected(p):
    data = p.start + p.steps * p.device_steps
    data[:: p.stride] += p.steps
    return {"data": data}


def on_device(session, p, data, work_group_size):
    groups = -(-p.n // work_group_size)
    space = kapi.NdRange((groups * work_group_size,), (work_group_size,))
    session.launch(advance, space, data, p.device_steps)


def on_host(data, stride):
    data[::stride] += np.float32(1)


@pattern.naive
def buffer_each_step(session, p, stride, work_group_size):
    """What a buffer does in each scope: allocate, copy in, run, copy back, free."""
    p.data[:] = p.host.start
    for _ in range(p.steps):
        buffer = session.alloc(p.n, np.float32)
        session.copy(buffer, p.data)
        on_device(session, p, buffer, work_group_size)
        session.copy(p.data, buffer)
        session.wait()
        del buffer
        on_host(p.data, stride)


@pattern.intermediate(requires=("usm_shared",))
def shared_memory(session, p, stride, work_group_size):
    """Shared USM: host and device use the same pointer, the driver moves the pages."""
    data = session.alloc(p.n, np.float32, usm="shared")
    view = np.frombuffer(data.usm_data, np.float32)

    def timed():
        view[:] = p.host.start
        for _ in range(p.steps):
            on_device(session, p, data, work_group_size)
            session.wait()
            on_host(view, stride)
        p.data[:] = view

    return timed


@pattern.optimized
def device_memory(session, p, stride, work_group_size):
    """Device USM, allocated once; every step copies all of it in and back."""
    data = session.alloc(p.n, np.float32)

    def timed():
        p.data[:] = p.host.start
        for _ in range(p.steps):
            session.copy(data, p.data)
            on_device(session, p, data, work_group_size)
            session.copy(p.data, data)
            session.wait()
            on_host(p.data, stride)

    return timed
