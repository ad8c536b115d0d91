"""Let kernels that do not need each other run at the same time: do not put them into an in-order queue."""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="concurrent_kernels",
    catalogue=("E51",),
    guide="Kernels / Executing Multiple Kernels on the Device at the Same Time",
    lesson="Kernels that cannot fill the device overlap in an out-of-order queue; in order they run one by one.",
    presets={
        "smoke": {"n": (1 << 10, 1021), "rounds": 2, "work": 100},
        "default": {"n": 1 << 13, "rounds": 4, "work": 220},
        "guide": {"n": 1 << 15, "rounds": 10, "work": 1000},  # of the guide's published program
    },
)

KERNELS = 3  # independent ones in a round
GROUP = 256  # one work-group a kernel: a single kernel cannot fill the device


@kernel
def add_up(item: kapi.NdItem, a, b, totals, work):
    lane = item.get_local_id(0)
    totals[lane] = np.int32(0)
    for _ in range(work):
        for k in range(lane, a.shape[0], GROUP):
            totals[lane] += a[k] + b[k]


@pattern.problem
def two_arrays(rng, n, rounds, work):
    return Problem(
        a=rng.integers(0, 10, n, dtype=np.int32),
        b=rng.integers(0, 10, n, dtype=np.int32),
        first=output(GROUP, np.int32),
        second=output(GROUP, np.int32),
        third=output(GROUP, np.int32),
        operations=2 * KERNELS * rounds * work * n,
        operation_kind="int32",
    )


@pattern.reference
def expected(p):
    totals = [p.work * (p.a + p.b)[lane::GROUP].sum() for lane in range(GROUP)]
    return {"first": totals, "second": totals, "third": totals}


SPACE = kapi.NdRange((GROUP,), (GROUP,))


def submit_rounds(session, p, queues):
    """A round's kernels are independent; each waits for the one of the round before that wrote to the same place."""
    last = [()] * KERNELS
    for _ in range(p.rounds):
        for k, totals in enumerate((p.first, p.second, p.third)):
            last[k] = (session.launch(add_up, SPACE, p.a, p.b, totals, p.work, depends=last[k], queue=queues[k]),)


@pattern.naive
def in_order_queue(session, p):
    """An in-order queue: each kernel waits for the one before."""
    queue = session.new_queue()
    return lambda: submit_rounds(session, p, [queue] * KERNELS)


@pattern.intermediate
def three_in_order_queues(session, p):
    """An in-order queue for each of the three chains of kernels."""
    queues = [session.new_queue() for _ in range(KERNELS)]
    return lambda: submit_rounds(session, p, queues)


@pattern.optimized(claim=Claim("faster", source="G 4886 to 4901"))
def out_of_order_queue(session, p):
    """SYCL's default: only the stated dependences order the kernels."""
    queue = session.new_queue(in_order=False)
    return lambda: submit_rounds(session, p, [queue] * KERNELS)
