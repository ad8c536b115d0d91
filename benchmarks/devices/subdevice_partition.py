"""Kernels that cannot fill a device, on sub-devices of it: who cuts a device decides, once, which kernel runs where."""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

from ..common import parts

pattern = Pattern(
    name="subdevice_partition",
    catalogue=("E52",),
    guide="Kernels / Executing Multiple Kernels on the Device at the Same Time",
    lesson="A queue for each sub-device runs small kernels side by side, but cannot move work to where nothing is "
    "left to do.",
    presets={
        "smoke": {"n": (1 << 10, 1021), "work": 10},
        "default": {"n": 1 << 13, "work": 100},
        "guide": {"n": 1 << 15, "work": 1000},
    },
    own_sizes="the guide has no program with sub-devices: these are of the one with kernels of a single work-group",
    axes={"load": ("even", "uneven"), "devices": (2,)},
    metric="wall",
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "COMPOSITE"},  # else each stack is a device, which has no sub-devices
)

KERNELS = 6
GROUP = 256  # one work-group a kernel: a single kernel cannot fill the device


@kernel
def add_up(item: kapi.NdItem, a, totals, row, work):
    lane = item.get_local_id(0)
    totals[row, lane] = np.int32(0)
    for _ in range(work):
        for k in range(lane, a.shape[0], GROUP):
            totals[row, lane] += a[k]


@pattern.problem
def one_array(rng, n, work, load):
    # the same work in all; uneven, the kernels of the first sub-device have nearly all of it
    shares = np.full(KERNELS, work) if load == "even" else np.where(np.arange(KERNELS) % 2, work // 10, 0)
    if load == "uneven":
        shares[::2] = (KERNELS * work - shares.sum()) // (KERNELS // 2)
    return Problem(
        a=rng.integers(0, 3, n, dtype=np.int32),
        passes=tuple(int(share) for share in shares),
        totals=output((KERNELS, GROUP), np.int32, host=True),
        operations=int(shares.sum()) * n,
        operation_kind="int32",
    )


@pattern.reference
def expected(p):
    row = np.array([p.a[lane::GROUP].sum() for lane in range(GROUP)])
    return {"totals": np.outer(p.passes, row)}


def on_queues(session, p, queues):
    """A sample: the queues take kernels in turn; the results come to the host in the end."""
    places = []
    for queue in queues:
        (a,) = parts.upload(session, queue, p.host.a)
        places.append((queue, a, session.alloc((KERNELS, GROUP), np.int32, queue=queue)))
    session.wait()  # an out-of-order queue would not

    def sample():
        rows = []
        for row, passes in enumerate(p.passes):
            queue, a, totals = places[row % len(places)]
            event = session.launch(add_up, kapi.NdRange((GROUP,), (GROUP,)), a, totals, row, passes, queue=queue)
            rows.append((p.totals[row], totals[row], queue, event))
        for target, source, queue, event in rows:
            session.copy(target, source, depends=[event], queue=queue)

    return sample


@pattern.naive
def in_order(session, p):
    """One in-order queue of the undivided device: each kernel waits for the one before."""
    return on_queues(session, p, [session.new_queue()])


@pattern.intermediate(claim=Claim("faster", source="G 4901"))
def out_of_order(session, p):
    """One out-of-order queue of the undivided device: the runtime runs a kernel where there is room."""
    return on_queues(session, p, [session.new_queue(in_order=False)])


@pattern.optimized(
    claim=(
        Claim("faster", where={"load": "even"}, strength="implied", source="G 4920"),
        Claim("slower", against="out_of_order", where={"load": "uneven"}, strength="implied", source="G 4920"),
    )
)
def queue_of_each_sub_device(session, p, devices):
    """An in-order queue for each sub-device, which take the kernels in turn, however long these are."""
    return on_queues(session, p, session.queues_on(devices, kind="sub-devices"))
