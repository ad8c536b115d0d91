"""Host and device take turns with an array: a buffer, shared memory, whose pages move, or explicit copies.

The host's loop is numpy's, which has native references, but for the one through the accessor, which is C++ (-O3).
"""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="usm_vs_buffers",
    catalogue=("E63",),
    guide="Host/Device Memory, Buffer and USM / Performance Impact of USM and Buffers",
    lesson=(
        "Shared memory moves page by page when it is touched, device memory as a whole when it is told to, a buffer as "
        "accessors ask. Loop over a host accessor's pointer, not through its references."
    ),
    claim=(
        # explicit copies "can" be best, says the guide: shared memory moves only what the host touches
        Claim("faster", on=("gpu",), where={"stride": [1, 1000]}, strength="implied", source="G 6691 to 6740"),
        Claim("slower", on=("gpu",), where={"stride": 200_000}, strength="implied", source="G 6740"),
        Claim("faster", "buffer_by_reference", on=("gpu",), where={"stride": 1}, strength="implied", source="G 6740"),
    ),
    presets={
        "smoke": {"n": (1 << 14, 16381), "steps": 2, "device_steps": 10},
        "default": {"n": {"cpu": 1 << 19, "gpu": fit(1 << 19, per_lane=16)}, "steps": 3, "device_steps": 20},
        # the guide's 10 steps are alike, and each takes a core of the host seconds
        "guide": {"n": 10_000_000, "steps": 2, "device_steps": 1000},
    },
    own_sizes="two of the guide's ten steps",
    axes={"stride": (1, 1000, 200_000), "work_group_size": (256,)},
    metric="wall",
)

# In C++ device memory comes off better: 0.68x of shared memory where Python has 0.57x (results/studies/beside-cpp.md).
CACHED = 1 << 14  # elements that stay in a cache of a core


@kernel
def advance(item: kapi.NdItem, data, device_steps):
    i = item.get_global_id(0)
    if i < data.shape[0]:
        value = data[i]
        for _ in range(device_steps):
            value += np.float32(1)
        data[i] = value


@pattern.problem
def state(rng, n, steps, device_steps, stride):
    touched = ceil_div(n, stride)
    return Problem(
        start=rng.integers(0, 128, n, dtype=np.uint8).astype(np.float32),  # whole numbers: exact in float32
        data=output(n, np.float32, host=True),
        bytes_moved=2 * 4 * n * steps,
        operations=n * steps * device_steps,
        host_bytes=2 * 4 * (n + (steps - 1) * touched),
    )


@pattern.reference
def expected(p):
    data = p.start + p.steps * p.device_steps
    data[:: p.stride] += p.steps
    return {"data": data}


def on_device(session, p, data, work_group_size):
    groups = ceil_div(p.n, work_group_size)
    space = kapi.NdRange((groups * work_group_size,), (work_group_size,))
    session.launch(advance, space, data, p.device_steps)


def on_host(data, stride):
    data[::stride] += np.float32(1)


@pattern.baseline
def serial_on_host(session, p, stride):
    """No device: a core of the host does both parts."""
    p.data[:] = p.host.start
    for _ in range(p.steps):
        for first in range(0, p.n, CACHED):
            part = p.data[first : first + CACHED]
            for _ in range(p.device_steps):
                part += np.float32(1)
        on_host(p.data, stride)


@pattern.naive(requires=("usm_shared",))
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


def take_turns(session, p, work_group_size, on_host):
    """A buffer that accessors move: the guide's loop, with another function for the host's part."""
    data = session.buffer(p.n, np.float32)

    def timed():
        with session.host_accessor(data, "write", no_init=True) as host:
            host.array[:] = p.host.start
        for _ in range(p.steps):
            on_device(session, p, session.accessor(data), work_group_size)
            with session.host_accessor(data) as host:
                on_host(host)
        with session.host_accessor(data, "read") as host:
            p.data[:] = host.array

    return timed


@pattern.antipattern(
    claim=(
        Claim("slower", "buffer_by_pointer", where={"stride": 1}, source="G 6648"),
        # "the runtime does not move all the data to the host"
        Claim("faster", "device_memory", on=("gpu",), where={"stride": 200_000}, strength="implied", source="G 6648"),
    )
)
def buffer_by_reference(session, p, stride, work_group_size):
    """A buffer: the host's part goes through references of the host accessor."""
    return take_turns(session, p, work_group_size, lambda host: host.add(1, stride))


@pattern.intermediate
def buffer_by_pointer(session, p, stride, work_group_size):
    """A buffer: the host's part has native references, as of the accessor's `get_pointer()`."""
    return take_turns(session, p, work_group_size, lambda host: on_host(host.array, stride))


@pattern.optimized
def device_memory(session, p, stride, work_group_size):
    """Device USM, allocated once; every step copies all of it in and back."""
    data = session.alloc(p.n, np.float32)
    of_host = np.empty(p.n, np.float32)

    # the host writes the array before and reads it afterwards, as in the other variant
    def timed():
        of_host[:] = p.host.start
        for _ in range(p.steps):
            session.copy(data, of_host)
            on_device(session, p, data, work_group_size)
            session.copy(of_host, data)
            session.wait()
            on_host(of_host, stride)
        p.data[:] = of_host

    return timed
