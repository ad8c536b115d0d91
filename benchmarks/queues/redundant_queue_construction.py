"""Make a queue once: queues cost little, but a context of its own has every kernel built again."""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="redundant_queue_construction",
    catalogue=("E54",),
    guide="Kernels / Avoiding Redundant Queue Constructions",
    lesson="Contexts cost, queues do not: DPC++ gives queues that name none a common one, which keeps its kernels.",
    # "quite dramatically" (G 5204) has no figure: a tenth at least
    claim=Claim("faster", at_least=1.1, source="G 5133 to 5207"),
    presets={
        "smoke": {"n": (1 << 14, 16381), "steps": 2},
        "default": {"n": 1 << 20, "steps": 3},
        "guide": {"n": 1024 * 1024, "steps": 10},
    },
    own_sizes="10 of the guide's 100 steps, which are alike: a context for each has the kernel built again",
    axes={"work_group_size": (512,)},
    metric="wall",
    environment={"NEO_CACHE_PERSISTENT": "0"},  # or Intel's driver reads its builds of an earlier run from a file
)


@kernel
def add_in_one_group(item: kapi.NdItem, x, total, scratch):
    lane = item.get_local_id(0)
    active = item.get_local_range(0)
    own = np.int32(0)
    for k in range(lane, x.shape[0], active):
        own = np.int32(own + x[k])
    scratch[lane] = own
    while active > 1:
        half = (active + 1) // 2
        kapi.group_barrier(item.get_group())
        if lane + half < active:
            scratch[lane] += scratch[lane + half]
        active = half
    if lane == 0:
        total[0] = scratch[0]


@pattern.problem
def numbers(rng, n, steps):
    return Problem(
        x=rng.integers(0, 100, n, dtype=np.int32),
        totals=output(steps, np.int32, host=True),
        bytes_moved=4 * n * steps,
        host_bytes=4 * steps,
        operations=n * steps,
        operation_kind="int32",
    )


@pattern.reference
def expected(p):
    return {"totals": np.full(p.steps, p.x.sum())}


def place_data(session, p, queue):
    """Copy the input into the queue's context, to which memory belongs."""
    x = session.alloc(p.n, np.int32, queue=queue)
    session.copy(x, p.host.x, queue=queue)
    total = session.alloc(1, np.int32, queue=queue)
    session.wait()
    return x, total


def step(session, p, queue, data, work_group_size, number):
    scratch = kapi.LocalAccessor(work_group_size, np.int32)
    space = kapi.NdRange((work_group_size,), (work_group_size,))
    x, total = data
    session.launch(add_in_one_group, space, x, total, scratch, queue=queue)
    session.copy(p.totals[number : number + 1], total, queue=queue)
    session.wait()


@pattern.naive
def queue_each_step(session, p, work_group_size):
    """Every step makes a queue that names no context; the guide's timer begins after the queue was made."""
    there = place_data(session, p, session.queue)

    def timed():
        for number in range(p.steps):
            queue = session.new_queue(context="default")
            is_common = queue.sycl_context == session.queue.sycl_context
            step(session, p, queue, there if is_common else place_data(session, p, queue), work_group_size, number)

    return timed


@pattern.antipattern(claim=Claim("slower", against="one_queue"))
def queue_and_context_each_step(session, p, work_group_size):
    """Every step makes a queue with a context of its own: the kernel is built and the input copied each time."""
    for number in range(p.steps):
        queue = session.new_queue(context="separate")
        step(session, p, queue, place_data(session, p, queue), work_group_size, number)


@pattern.optimized
def one_queue(session, p, work_group_size):
    """One queue serves all steps."""
    queue = session.new_queue()
    data = place_data(session, p, queue)

    def timed():
        for number in range(p.steps):
            step(session, p, queue, data, work_group_size, number)

    return timed


@pattern.optimized(claim=Claim("faster", source="G 5281"))
def queue_each_step_shared_context(session, p, work_group_size):
    """Every step makes a queue, and names the context that is there."""
    data = place_data(session, p, session.queue)

    def timed():
        for number in range(p.steps):
            step(session, p, session.new_queue(), data, work_group_size, number)

    return timed


# The same, says the guide, by means of host times without the making of queues: such differ by a twentieth anyway.
@pattern.optimized(claim=Claim("same", against="one_queue", within=0.05, source="G 5281 to 5313"))
def queues_made_before(session, p, work_group_size):
    """A queue for each step in one context, made outside the measured time, as the guide's timer has it."""
    queues = [session.new_queue() for _ in range(p.steps)]
    data = place_data(session, p, queues[0])

    def timed():
        for number, queue in enumerate(queues):
            step(session, p, queue, data, work_group_size, number)

    return timed
