"""Let the stacks of a GPU take turns at a buffer: in one context it lies where both reach it, in two it moves."""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="buffer_of_context",
    catalogue=("buffer_of_context",),
    guide="Multiple Stacks / COMPOSITE Mode Programming, buffers",
    lesson="A buffer belongs to a context: of the stacks of one GPU it lies on that GPU, of several GPUs on the host.",
    presets={
        "smoke": {"n": (1 << 12, 4093), "rounds": 2},
        "default": {"n": ({"cpu": 1 << 18, "gpu": 1 << 24}, 1 << 15, 1 << 10), "rounds": 8},
        "guide": {"n": 1 << 24, "rounds": 8},
    },
    own_sizes="the guide names no size",
    axes={"devices": (2,)},
    metric="wall",
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "COMPOSITE"},  # else each stack is a device, which has no sub-devices
)

STACKS = ("stacks=2",)


@kernel
def add(item: kapi.Item, total, number, kept):
    """``kept`` is 0 in the first launch, since nothing has filled the buffer before."""
    i = item.get_id(0)
    total[i] = total[i] * kept + number


@pattern.problem
def totals(rng, n, rounds, devices):
    first = int(rng.integers(1, 100))
    return Problem(numbers=tuple(range(first, first + rounds * devices)), total=output(n, np.int32, host=True))


@pattern.reference
def expected(p):
    return {"total": np.full(p.n, sum(p.numbers), np.int32)}


def take_turns(session, p, queues):
    """A sample: each queue in turn adds a number to all elements of one buffer, which the host reads at the end."""

    def sample():
        total = session.buffer(p.n, np.int32)
        for turn, number in enumerate(p.numbers):
            queue = queues[turn % len(queues)]
            accessor = session.accessor(total, queue=queue)
            session.launch(add, kapi.Range(p.n), accessor, np.int32(number), np.int32(turn > 0), queue=queue)
        with session.host_accessor(total, "read") as host:
            p.total[:] = host.array

    return sample


@pattern.naive
def context_for_each_stack(session, p, devices):
    """A context for each sub-device: the runtime copies the buffer to the next one's context before each kernel."""
    return take_turns(session, p, session.queues_on(devices, kind="sub-devices", context="separate"))


@pattern.optimized(claim=Claim("faster", on=("gpu",), requires=STACKS, strength="implied", source="G 17271"))
def context_of_stacks(session, p, devices):
    """One context, whose buffers lie on the whole GPU: each of its stacks reaches them."""
    return take_turns(session, p, session.queues_on(devices, kind="sub-devices"))


@pattern.antipattern(
    claim=Claim(
        "slower",
        against="context_of_stacks",
        on=("gpu",),
        requires=STACKS,
        strength="implied",
        source="G 17271 to 17272",
    )
)
def context_of_devices(session, p, devices):
    """One context of several GPUs, whose buffers lie on the host."""
    return take_turns(session, p, session.queues_on(devices, kind="devices"))
