"""Copies to and from all stacks of a GPU: by queues of the undivided device, or by a queue of each stack."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, output

from ..common import parts

pattern = Pattern(
    name="implicit_scaling_copies",
    catalogue=("ja_implicit_scaling_limits",),
    guide="Multiple Stacks / Implicit Scaling, notes of the Japanese edition",
    lesson="Implicit scaling copies by the engine of the first stack alone; a queue for each stack uses that of each.",
    presets={
        "smoke": {"n": (1 << 12, 4093)},
        "default": {"n": 1 << 24},
        "guide": {"n": 1 << 26},
    },
    own_sizes="the guide names no size",
    axes={"devices": (2,)},
    metric="wall",
    requires=("intel_gpu", "usm_host"),
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "COMPOSITE"},  # else each stack is a device of its own
)


PAGE = 1024  # elements of a page of 4 KiB


@pattern.problem
def one_array(rng, n):
    """The result is an element of each page that came back: a copy of all would be a third one."""
    a = rng.integers(0, 128, n, dtype=np.uint8).astype(np.float32)
    return Problem(a=a, seen=output(ceil_div(n, PAGE), np.float32, host=True), host_bytes=2 * 4 * n)


@pattern.reference
def expected(p):
    return {"seen": p.a[::PAGE]}


def copies_by(session, p, queues):
    """A sample: each queue takes its pages to the device and back, from host memory that the driver has pinned."""
    places = []
    for queue, of_part in zip(queues, parts.slices(p.seen.size, [1] * len(queues)), strict=True):
        part = p.host.a[of_part.start * PAGE : of_part.stop * PAGE]
        there, on_device, back = (
            session.alloc(part.size, np.float32, usm=usm, queue=queue) for usm in ("host", "device", "host")
        )
        session.copy(there, part, queue=queue)
        places.append((queue, of_part, there, on_device, back))
    session.wait()

    def sample():
        for queue, _, there, on_device, back in places:
            session.copy(on_device, there, queue=queue)
            session.copy(back, on_device, queue=queue)
        session.wait()
        for _, of_part, _, _, back in places:
            p.seen[of_part] = np.frombuffer(back.usm_data, np.float32)[: back.size : PAGE]

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
