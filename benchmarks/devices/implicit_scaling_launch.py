"""Launches on one stack of a GPU, and on all of them at once: what the driver's distribution of the work costs."""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

from ..common import parts

pattern = Pattern(
    name="implicit_scaling_launch",
    catalogue=("implicit_scaling_launch_cost",),
    guide="Multiple Stacks / Implicit Scaling, performance expectations",
    lesson="A launch that the driver distributes over the stacks of a GPU takes longer than one on a single stack.",
    presets={
        "smoke": {"launches": 10},
        "default": {"launches": 100},
        "guide": {"launches": 1000},
    },
    own_sizes="the guide names no number",
    axes={"devices": (2,)},
    metric="wall",
    requires=("intel_gpu",),
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "COMPOSITE"},  # else each stack is a device, and nothing is distributed
)

ITEMS = 2 * parts.GROUP  # a work-group for each of two stacks


@kernel
def add_one(item: kapi.NdItem, counts):
    counts[item.get_global_id(0)] += np.int32(1)


@pattern.problem
def counters(rng, launches):
    return Problem(start=rng.integers(0, 100, ITEMS, dtype=np.int32), counts=output(ITEMS, np.int32, host=True))


@pattern.reference
def expected(p):
    return {"counts": p.start + p.launches}


def launches_on(session, p, queue):
    """A sample: short kernels, each of which the host waits for."""
    counts = session.alloc(ITEMS, np.int32, queue=queue)

    def sample():
        session.copy(counts, p.host.start, queue=queue)
        for _ in range(p.launches):
            session.launch(add_one, parts.items(ITEMS), counts, queue=queue).wait()
        session.copy(p.counts, counts, queue=queue)

    return sample


@pattern.naive
def every_stack(session, p, devices):
    """A queue of the undivided device: the driver hands the work-groups to the stacks (implicit scaling)."""
    session.queues_on(devices, kind="sub-devices")  # a device without stacks is told from others, and left out
    return launches_on(session, p, session.new_queue())


# the guide says about 3 us more of the Data Center GPU Max, and not of how many
@pattern.optimized(claim=Claim("faster", on=("gpu",), source="G 17790"))
def one_stack(session, p, devices):
    """A queue of the first stack alone."""
    first, *_ = session.queues_on(devices, kind="sub-devices")
    return launches_on(session, p, first)
