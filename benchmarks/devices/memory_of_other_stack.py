"""Let a stack work on its own memory: that of the other one is further away."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="memory_of_other_stack",
    catalogue=("E86",),
    guide="Multiple Stacks / Memory in FLAT Mode",
    lesson="A kernel may read memory of another stack of its card; it takes longer than reading its own stack's.",
    presets={
        "smoke": {"n": (1 << 14, 16381)},
        "default": {"n": {"cpu": 1 << 20, "gpu": 1 << 26}},
        "guide": {"n": 1 << 27},
    },
    own_sizes="the guide names no size",
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "COMPOSITE"},  # sub-devices are what FLAT calls devices
    short_launches="each sample has one launch of a fixed size for all GPUs of two stacks",
)

SUMS = 1 << 16  # work-items, each with a sum of its own: as many as lanes of 16 fill a stack of a Max


@kernel
def add_up(item: kapi.Item, x, sums):
    total = np.int32(0)
    for k in range(item.get_id(0), x.shape[0], SUMS):
        total = np.int32(total + x[k])
    sums[item.get_id(0)] = total


@pattern.problem
def numbers(rng, n):
    return Problem(x=rng.integers(0, 100, n, dtype=np.int32), sums=output(SUMS, np.int32, host=True))


@pattern.reference
def expected(p):
    padded = np.zeros(ceil_div(p.n, SUMS) * SUMS, np.int32)
    padded[: p.n] = p.x
    return {"sums": padded.reshape(-1, SUMS).sum(axis=0, dtype=np.int32)}


def reading_from(session, p, stack):
    """A sample: a kernel of the first stack adds up numbers in memory of a stack."""
    queues = session.queues_on(2, kind="sub-devices")
    x = session.alloc(p.n, np.int32, queue=queues[stack])
    sums = session.alloc(SUMS, np.int32, queue=queues[0])
    session.copy(x, p.host.x, queue=queues[stack]).wait()

    def timed():
        session.launch(add_up, kapi.Range(SUMS), x, sums, queue=queues[0])
        session.copy(p.sums, sums, queue=queues[0])

    return timed


@pattern.naive
def other_stack(session, p):
    """The numbers are in memory of the second stack."""
    return reading_from(session, p, 1)


# Between stacks there is about the bandwidth that the memory of one has, says the guide elsewhere (G 16610).
@pattern.optimized(claim=Claim("faster", on=("gpu",), requires=("stacks=2",), source="G 16877"))
def own_stack(session, p):
    """The numbers are in memory of the first stack, on which the kernel runs."""
    return reading_from(session, p, 0)
