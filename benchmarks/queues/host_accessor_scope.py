"""End a host accessor before other work of the host: kernels of its buffer do not start while it is alive."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="host_accessor_scope",
    catalogue=("host_accessor_blocks",),
    guide="Host/Device Memory, Buffer and USM / Performance Impact of USM and Buffers",
    lesson="A host accessor that is alive keeps kernels of its buffer waiting, also when the host does not use it.",
    presets={
        "smoke": {"n": (1 << 14, 16381), "device_steps": 10, "host_steps": 2},
        "default": {
            "n": {"cpu": 1 << 16, "gpu": fit(1 << 18, per_lane=4)},
            "device_steps": {"cpu": 1 << 8, "gpu": 1 << 13},
            "host_steps": 100,
        },
        "guide": {"n": 10_000_000, "device_steps": 1000, "host_steps": 30},  # of the program that warns of it
    },
    axes={"work_group_size": (256,)},
    metric="wall",
)

FACTOR, SUMMAND = 1_664_525, 1_013_904_223  # of a generator of random numbers: the compiler cannot skip steps
CHUNK = 1 << 18  # elements on which the host works meanwhile: 1 MiB


@kernel
def advance(item: kapi.NdItem, data, steps):
    i = item.get_global_id(0)
    if i < data.shape[0]:
        value = data[i]
        for _ in range(steps):
            value = np.int32(value * FACTOR + SUMMAND)
        data[i] = value


@pattern.problem
def two_arrays(rng, n, device_steps, host_steps):
    return Problem(
        start=rng.integers(0, 1 << 30, n, dtype=np.int32),
        of_host=rng.integers(0, 16, CHUNK).astype(np.float32),
        data=output(n, np.int32, host=True),
        other=output(CHUNK, np.float32, host=True),
        bytes_moved=2 * 4 * n,
        operations=2 * n * device_steps,
        operation_kind="int32",
    )


@pattern.reference
def expected(p):
    factor, summand = 1, 0
    for _ in range(p.device_steps):
        factor, summand = factor * FACTOR % 2**32, (summand * FACTOR + SUMMAND) % 2**32
    data = (p.start.astype(np.uint32) * np.uint32(factor) + np.uint32(summand)).view(np.int32)
    return {"data": data, "other": p.of_host + np.float32(p.host_steps)}


def submit(session, p, data, work_group_size):
    groups = ceil_div(p.n, work_group_size)
    space = kapi.NdRange((groups * work_group_size,), (work_group_size,))
    session.launch(advance, space, session.accessor(data), p.device_steps)


def work_of_host(p):
    p.other[:] = p.host.of_host
    for _ in range(p.host_steps):
        np.add(p.other, np.float32(1), out=p.other)


@pattern.naive
def alive_meanwhile(session, p, work_group_size):
    """The accessor that filled the buffer lives to the end of the function, over work on something else."""

    def timed():
        with session.buffer(p.data) as data, session.host_accessor(data, "write", no_init=True) as host:
            host.array[:] = p.host.start
            submit(session, p, data, work_group_size)
            work_of_host(p)

    return timed


@pattern.optimized(claim=Claim("faster", source="G 6650"))
def ended_before(session, p, work_group_size):
    """Its block ends with its use: kernel and host work side by side."""

    def timed():
        with session.buffer(p.data) as data:
            with session.host_accessor(data, "write", no_init=True) as host:
                host.array[:] = p.host.start
            submit(session, p, data, work_group_size)
            work_of_host(p)

    return timed
