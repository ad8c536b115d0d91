"""Several queues: in one context they cost nothing, in contexts of their own they build and copy everything again."""

import numba_dpex as dpex
import numpy as np
from numba_dpex import kernel_api as kapi

from harness import Pattern, Problem, inout

pattern = Pattern(
    name="multiple_queues",
    catalogue=("E53",),
    guide="Kernels / Submitting Kernels to Multiple Queues",
    lesson="Queues that share a context share memory and built kernels; a context of its own repeats both.",
    claim="faster",
    presets={
        "smoke": {"n": 1 << 12, "rounds": 2, "work": 1},
        "default": {"n": 1 << 15, "rounds": 10, "work": 1},
        "guide": {"n": 1 << 15, "rounds": 10, "work": 1000},
    },
    metric="wall",
)

QUEUES = 3
GROUP = 256  # one work-group a kernel: a single kernel cannot fill the device


@dpex.kernel(error_model="numpy")
def accumulate(item: kapi.NdItem, x, total, work):
    i = item.get_global_id(0)
    for _ in range(work):
        for k in range(i, x.shape[0], GROUP):
            total[k] += x[k]


@pattern.problem
def three_sums(rng, n, rounds, work):
    x = rng.integers(0, 100, n, dtype=np.int32)
    zero = np.zeros(n, np.int32)
    return Problem(x=x, a=inout(zero), b=inout(zero), c=inout(zero))


@pattern.reference
def expected(p):
    total = p.x * np.int32(p.rounds * p.work)
    return {"a": total, "b": total, "c": total}


def rounds_on(session, p, queues, inputs, totals):
    for _ in range(p.rounds):
        for queue, x, total in zip(queues, inputs, totals, strict=True):
            session.launch(accumulate, kapi.NdRange((GROUP,), (GROUP,)), x, total, p.work, queue=queue)


@pattern.naive
def separate_contexts(session, p):
    """A context for each queue: kernels are built in each, and data copied to each and back."""
    queues = [session.new_queue(context="separate") for _ in range(QUEUES)]
    inputs = [session.alloc(p.n, np.int32, queue=queue) for queue in queues]
    totals = [session.alloc(p.n, np.int32, queue=queue) for queue in queues]
    host = np.empty(p.n, np.int32)
    for queue, x, total in zip(queues, inputs, totals, strict=True):
        session.copy(x, p.host.x, queue=queue)
        session.copy(total, p.host.a, queue=queue)
    rounds_on(session, p, queues, inputs, totals)
    for queue, total, result in zip(queues, totals, (p.a, p.b, p.c), strict=True):
        session.copy(host, total, queue=queue).wait()
        session.copy(result, host)
        session.wait()


@pattern.intermediate
def one_queue(session, p):
    """One queue for everything."""
    rounds_on(session, p, [session.queue] * QUEUES, [p.x] * QUEUES, (p.a, p.b, p.c))


@pattern.optimized
def shared_context(session, p):
    """Three queues in the session's context."""
    queues = [session.new_queue() for _ in range(QUEUES)]
    rounds_on(session, p, queues, [p.x] * QUEUES, (p.a, p.b, p.c))
