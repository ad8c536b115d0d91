"""Several queues: in one context they cost nothing, in contexts of their own they build and copy everything again."""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="multiple_queues",
    catalogue=("E53",),
    guide="Kernels / Submitting Kernels to Multiple Queues",
    lesson="Queues that share a context share memory and built kernels; a context of its own repeats both.",
    presets={
        "smoke": {"n": (1 << 10, 1021), "rounds": 2},
        "default": {"n": 1 << 12, "rounds": 3},
        "guide": {"n": 1 << 15, "rounds": 10},  # of the guide's published program
    },
    axes={"work": (1, 30, 1000)},  # the more a kernel computes, the less the copies and the builds weigh
    metric="wall",
    environment={"NEO_CACHE_PERSISTENT": "0"},  # or Intel's driver reads its builds of an earlier run from a file
)

# The guide prints no figure for "similar": a tenth, by which single host times like its own differ anyway.
SIMILAR = 0.1
QUEUES = 3
GROUP = 256  # one work-group a kernel: a single kernel cannot fill the device


@kernel
def add_up(item: kapi.NdItem, a, b, totals, row, work):
    lane = item.get_local_id(0)
    totals[row, lane] = np.int32(0)
    for _ in range(work):
        for k in range(lane, a.shape[0], GROUP):
            totals[row, lane] += a[k] + b[k]


@pattern.problem
def two_arrays(rng, n, rounds, work):
    return Problem(
        a=rng.integers(0, 3, n, dtype=np.int32),
        b=rng.integers(0, 3, n, dtype=np.int32),
        totals=output((QUEUES, rounds, GROUP), np.int32, host=True),
        host_bytes=2 * 4 * n + 4 * QUEUES * rounds * GROUP,
        operations=2 * n * work * rounds * QUEUES,
        operation_kind="int32",
    )


@pattern.reference
def expected(p):
    row = [p.work * (p.a + p.b)[lane::GROUP].sum() for lane in range(GROUP)]
    return {"totals": np.broadcast_to(row, (QUEUES, p.rounds, GROUP))}


def place_inputs(session, p, queue):
    """Copy the inputs into the queue's context."""
    arrays = [session.alloc(p.n, np.int32, queue=queue) for _ in range(2)]
    copies = [session.copy(*pair, queue=queue) for pair in zip(arrays, (p.host.a, p.host.b), strict=True)]
    return arrays, copies


def run_rounds(session, p, work, queues):
    """All kernels are independent of each other; inputs go once to each context, results come back at the end."""
    of_context = {queue.sycl_context: queue for queue in queues}
    inputs = {context: place_inputs(session, p, queue) for context, queue in of_context.items()}
    space = kapi.NdRange((GROUP,), (GROUP,))
    totals = [session.alloc((p.rounds, GROUP), np.int32, queue=queue) for queue in queues]
    kernels = [[] for _ in queues]
    for row in range(p.rounds):
        for k, queue in enumerate(queues):
            arrays, copies = inputs[queue.sycl_context]
            kernels[k].append(session.launch(add_up, space, *arrays, totals[k], row, work, depends=copies, queue=queue))
    for k, queue in enumerate(queues):
        session.copy(p.totals[k], totals[k], depends=kernels[k], queue=queue)
    session.wait()


def run_by_buffers(session, p, work, queues):
    """The guide's own program, in which the runtime brings the inputs to each kernel's context."""
    space = kapi.NdRange((GROUP,), (GROUP,))
    totals = [[session.buffer((1, GROUP), np.int32) for _ in range(p.rounds)] for _ in queues]
    inputs = session.buffer(p.host.a), session.buffer(p.host.b)
    for row in range(p.rounds):
        for k, queue in enumerate(queues):
            accessors = [session.accessor(each, "read", queue=queue) for each in inputs]
            accessors += [session.accessor(totals[k][row], queue=queue)]
            session.launch(add_up, space, *accessors, 0, work, queue=queue)
    for k, row in np.ndindex(len(queues), p.rounds):
        with session.host_accessor(totals[k][row], "read") as host:
            p.totals[k, row] = host.array[0]


@pattern.naive
def default_queues(session, p, work):
    """Three queues that name no context, as the guide's: DPC++ gives them a common one."""
    queues = [session.new_queue(in_order=False, context="default") for _ in range(QUEUES)]
    return lambda: run_rounds(session, p, work, queues)


@pattern.antipattern(
    claim=(
        Claim("slower", against="one_queue", where={"work": 1}, strength="implied", source="G 5025"),
        Claim("slower", against="one_queue", where={"work": 1000}, strength="implied", source="G 5025 to 5036"),
    )
)
def separate_contexts(session, p, work):
    """A context for each queue, which needs its own copy of the inputs and its own build of the kernel.

    The guide's inputs are buffers, which go to the next kernel's context each time; here each context has them once.
    A context keeps what it built, so each sample makes new ones. That counts here, and not in the guide.
    """
    run_rounds(session, p, work, [session.new_queue(in_order=False, context="separate") for _ in range(QUEUES)])


@pattern.intermediate(
    claim=(
        Claim("slower", against="one_queue", where={"work": 1}, strength="implied", source="G 5025"),
        Claim("same", against="one_queue", within=SIMILAR, where={"work": 1000}, strength="implied", source="G 5036"),
    )
)
def separate_contexts_built_before(session, p, work):
    """Contexts that have built the kernel already: the inputs are copied into each, and nothing else is repeated."""
    queues = [session.new_queue(in_order=False, context="separate") for _ in range(QUEUES)]
    return lambda: run_rounds(session, p, work, queues)


@pattern.optimized(claim=Claim("faster", where={"work": 1}, source="G 5008 to 5025"))
def one_queue(session, p, work):
    """One queue for everything."""
    queue = session.new_queue(in_order=False)
    return lambda: run_rounds(session, p, work, [queue] * QUEUES)


@pattern.optimized(claim=Claim("same", against="one_queue", within=SIMILAR, source="G 5014"))
def shared_context(session, p, work):
    """Three queues in one context."""
    queues = [session.new_queue(in_order=False) for _ in range(QUEUES)]
    return lambda: run_rounds(session, p, work, queues)


@pattern.intermediate
def buffers_in_one_queue(session, p, work):
    """One queue, and the inputs in buffers, which go to the device once."""
    queue = session.new_queue(in_order=False)
    return lambda: run_by_buffers(session, p, work, [queue] * QUEUES)


@pattern.antipattern(
    claim=(
        Claim("slower", against="buffers_in_one_queue", where={"work": 1}, source="G 5025"),
        Claim(
            "same",
            against="buffers_in_one_queue",
            within=SIMILAR,
            where={"work": 1000},
            strength="implied",
            source="G 5036",
        ),
    )
)
def buffers_in_separate_contexts(session, p, work):
    """Three contexts that have built the kernel already: buffers move to the context of each kernel."""
    queues = [session.new_queue(in_order=False, context="separate") for _ in range(QUEUES)]
    return lambda: run_by_buffers(session, p, work, queues)
