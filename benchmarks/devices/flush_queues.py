"""Two devices share a problem: are their kernels begun as they are submitted, or when the host waits for them?"""

import numpy as np

from xebench import Claim, Pattern

from ..common import parts, staying_parts

pattern = Pattern(
    name="flush_queues",
    catalogue=("queue_flush",),
    guide="Host/Device Coordination / Using Multiple Heterogeneous Devices",
    lesson="What is submitted need not have begun: on OpenCL flush the queues of all devices before the first wait.",
    presets={
        "smoke": {"n": (1 << 12, 4093), "rounds": 2},
        "default": {"n": {"cpu": 1 << 20, "gpu": 1 << 24}, "rounds": {"cpu": 8, "gpu": 32}},
        "guide": {"n": 13_762_560, "rounds": 10},  # of the guide's published program
    },
    # beside the device the CPU, as in the guide, or another device or part of its kind
    axes={"beside": ("another", "cpu")},
    metric="wall",
    requires=("opencl",),  # Level Zero has nothing to flush
)


@pattern.problem
def two_arrays(rng, n):
    return staying_parts.two_arrays(rng, n)


@pattern.reference
def expected(p):
    return {"sums": staying_parts.folded(p.a + p.b)}


def halves(session, p, beside, begin):
    """A sample: all additions of both halves are submitted, then the host waits for one device after the other.

    Args:
        begin: called with each queue before the first wait.
    """
    queues = session.queues_on(2) if beside == "another" else (*session.queues_on(1, kind="cpu"), session.queue)
    placed = []
    for queue, where in zip(queues, parts.slices(p.n, [1, 1]), strict=True):
        a, b = parts.upload(session, queue, p.host.a[where], p.host.b[where])
        placed.append((queue, where.start, a, b, session.alloc(a.shape, np.float32, queue=queue)))
    fold_all = staying_parts.folder(session, p, [(queue, first, total) for queue, first, _a, _b, total in placed])

    def sample():
        for _ in range(p.rounds):
            for queue, _first, a, b, total in placed:
                session.launch(parts.add_elements, parts.items(total.shape[0]), a, b, total, queue=queue)
        for queue in queues:
            begin(queue)
        for queue in queues:
            queue.wait()
        fold_all()

    return sample


@pattern.naive
def begun_by_waits(session, p, beside):
    """The second queue may be held back until the host, which waits for the first one, waits for it as well."""
    return halves(session, p, beside, lambda queue: None)


# "On certain platforms" is said of no platform that is named: so this is ours.
@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="ours", source="G 8031 to 8085"))
def flushed(session, p, beside):
    """Both queues are flushed before the host waits for either."""
    return halves(session, p, beside, session.flush)
