"""Copies to and from all stacks of a GPU: by queues of the undivided device, or by a queue of each stack."""

import numpy as np

from xebench import Claim, Pattern, Problem, output

from ..common import parts

pattern = Pattern(
    name="implicit_scaling_copies",
    catalogue=("ja_implicit_scaling_limits",),
    guide="Multiple Stacks / Implicit Scaling, notes of the Japanese edition",
    lesson="Implicit scaling copies by the engine of the first stack alone; a queue for each stack uses that of each.",
    presets={
        "smoke": {"n": (1 << 12, 4093)},
        "default": {"n": 1 << 24},
        "guide": {"n": 1 << 26},  # the guide names no size
    },
    axes={"devices": (2,)},
    metric="wall",
    requires=("intel_gpu", "usm_host"),
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "COMPOSITE"},  # else each stack is a device of its own
)


@pattern.problem
def one_array(rng, n):
    return Problem(a=rng.integers(0, 100, n, dtype=np.uint8).astype(np.float32), total=output(n, np.float32, host=True))


@pattern.reference
def expected(p):
    return {"total": p.a}


def copies_by(session, p, queues):
    """A sample: each queue takes its part of the array to the device and back; then the host gathers the parts."""
    places = []
    for queue, where in zip(queues, parts.slices(p.n, [1] * len(queues)), strict=True):
        size = where.stop - where.start
        there, on_device, back = (
            session.alloc(size, np.float32, usm=usm, queue=queue) for usm in ("host", "device", "host")
        )
        session.copy(there, p.host.a[where], queue=queue)
        places.append((queue, where, there, on_device, back))
    session.wait()

    def sample():
        for queue, _where, there, on_device, back in places:
            session.copy(on_device, there, queue=queue)
            session.copy(back, on_device, queue=queue)
        for queue, where, _there, _on_device, back in places:
            session.copy(p.total[where], back, queue=queue)

    return sample


@pattern.naive
def queues_of_undivided_device(session, p, devices):
    """As many queues, all of the undivided device: the driver may use one copy engine for all of them."""
    session.queues_on(devices, kind="sub-devices")  # a device without stacks is told from others, and left out
    return copies_by(session, p, [session.new_queue() for _ in range(devices)])


# Only the first stack has a link to the host (G 17790), so the engines may end up waiting for the same link.
@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="Japanese edition, 21896"))
def queue_of_each_stack(session, p, devices):
    """A queue for each stack."""
    return copies_by(session, p, session.queues_on(devices, kind="sub-devices"))
