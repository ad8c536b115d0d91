"""Declare what a kernel only reads as read-only: an accessor that may write makes the next kernel wait.

The kernels are independent, and cannot fill the device; only their accessors order them.
"""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="accessor_modes",
    catalogue=("E67",),
    guide="Host/Device Memory, Buffer and USM / Buffer Accessor Modes",
    lesson="Kernels that read the same buffer run side by side; accessors that could write it serialise them.",
    presets={
        "smoke": {"n": (1 << 10, 1021), "rounds": 2, "work": 100},
        "default": {"n": 1 << 13, "rounds": 4, "work": 220},
        "guide": {"n": 100, "rounds": 100, "work": 1},
    },
    own_sizes="the guide has no program with several readers; length and rounds are those of its loop",
    metric="wall",
)

# Kernels that take less than a launch do not overlap in Python, where in C++ they do (results/studies/beside-cpp.md).
GROUP = 256  # one work-group a kernel: a single kernel cannot fill the device
SPACE = kapi.NdRange((GROUP,), (GROUP,))


@kernel
def add_up(item: kapi.NdItem, a, b, totals, work):
    lane = item.get_local_id(0)
    total = np.int32(0)
    for k in range(work):
        for i in range(lane, a.shape[0], GROUP):
            total = np.int32(total + (np.int32(a[i] + b[i]) ^ np.int32(k)))
    totals[lane] = total


@pattern.problem
def two_arrays(rng, n, rounds, work):
    a, b = rng.integers(0, 10, (2, n), dtype=np.int32)
    totals = {name: output(GROUP, np.int32, host=True) for name in ("first", "second", "third", "fourth")}
    return Problem(a=a, b=b, **totals, operations=3 * 4 * rounds * work * n, operation_kind="int32")


@pattern.reference
def expected(p):
    added = sum((p.a + p.b) ^ k for k in range(p.work)).astype(np.int32)
    totals = [added[lane::GROUP].sum(dtype=np.int32) for lane in range(GROUP)]
    return dict.fromkeys(("first", "second", "third", "fourth"), np.array(totals, np.int32))


def all_rounds(session, p, mode):
    """Buffers, and four kernels a round that read the same two in this mode, on an out-of-order queue."""
    queue = session.new_queue(in_order=False)

    def timed():
        with (
            session.buffer(p.host.a) as a,
            session.buffer(p.host.b) as b,
            session.buffer(p.first) as first,
            session.buffer(p.second) as second,
            session.buffer(p.third) as third,
            session.buffer(p.fourth) as fourth,
        ):
            for _ in range(p.rounds):
                for totals in (first, second, third, fourth):
                    read = session.accessor(a, mode), session.accessor(b, mode)
                    written = session.accessor(totals, "write", no_init=True)
                    session.launch(add_up, SPACE, *read, written, p.work, queue=queue)

    return timed


@pattern.naive
def read_write_inputs(session, p):
    """The default mode for everything: each kernel might change what the next one reads."""
    return all_rounds(session, p, "read_write")


@pattern.optimized(claim=Claim("faster", source="G 7382, 7453"))
def read_only_inputs(session, p):
    """The inputs are declared as read: the runtime orders none of a round's kernels."""
    return all_rounds(session, p, "read")
