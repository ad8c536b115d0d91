"""Add up what two devices hold, so that each has the sum: by MPI on the host, or by the devices themselves.

Libraries such as oneCCL map memory of other processes' devices into kernels. Here one process has both devices, which
stands in for that: each fetches the other's part and adds it, and nothing passes through the host.
"""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

from ..common.messages import SUMS, folded, folder, small_numbers

pattern = Pattern(
    name="allreduce_by_kernels",
    catalogue=("collectives_by_kernels",),
    guide="Using Intel MPI Library / Kernel Based Collectives",
    lesson="A collective that kernels carry out saves the copies to the host that its calls on the host cost.",
    presets={
        "smoke": {"n": (1 << 12, 4093)},
        "default": {"n": {"cpu": 1 << 18, "gpu": 1 << 22}},
        "guide": {"n": 1 << 20},  # 4 MiB, the largest message of the guide's allreduce (G 19268)
    },
    axes={"devices": (2,)},
    metric="wall",
    requires=("several_devices",),
    stand_in="The guide's kernels read memory of another process (oneCCL maps it by IPC handles). No release of dpctl "
    "opens one. zeMemGetIpcHandle by ctypes took an array of dpctl on Intel's driver without hardware; its file "
    "descriptor must reach the other process, and zeMemOpenIpcHandle could not be tried without a GPU. One process "
    "with both devices is measured: each fetches the other's part and adds it.",
)


@kernel
def add(item: kapi.Item, own, others, total):
    i = item.get_id(0)
    total[i] = own[i] + others[i]


@pattern.problem
def two_arrays(rng, n, devices):
    return Problem(parts=small_numbers(rng, (devices, n)), sums=output((devices, SUMS), np.int32, host=True, fill=-1))


@pattern.reference
def expected(p, rank=0, ranks=1):
    """A row for each device: all of them for one process, and the own one for each of several ranks."""
    sums = np.full((p.devices, SUMS), -1)
    sums[slice(None) if ranks == 1 else rank] = folded(p.parts.sum(axis=0, dtype=np.int32))
    return {"sums": sums}


def own(session, p, devices):
    """Of a rank: its queue, its part in the memory of its device, room for the sum there, and the sum's fold."""
    rank = session.comm.rank
    queue = session.queues_on(devices)[rank]
    part, total = (session.alloc(p.n, np.int32, queue=queue) for _ in range(2))
    session.copy(part, p.host.parts[rank], queue=queue)
    session.wait()  # MPI knows nothing of queues
    return queue, part, total, folder(session, total, p.sums[rank], queue)


@pattern.naive(ranks=2)
def on_host(session, p, devices):
    """Two ranks: each copies its part to the host, MPI adds there, and each copies the sum back."""
    queue, part, total, fold = own(session, p, devices)
    sent, received = np.empty(p.n, np.int32), np.empty(p.n, np.int32)

    def sample():
        session.copy(sent, part, queue=queue)
        session.wait()
        session.comm.Allreduce(sent, received)
        session.copy(total, received, queue=queue)
        fold()

    return sample


@pattern.intermediate(ranks=2)
def device_pointers(session, p, devices):
    """Two ranks give MPI pointers to device memory: it calls on the host still, and copies as it sees fit."""
    _queue, part, total, fold = own(session, p, devices)
    sent, received = session.mpi_buffer(part), session.mpi_buffer(total)

    def sample():
        session.comm.Allreduce(sent, received)
        fold()

    return sample


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 19059"))
def by_kernels(session, p, devices):
    """Each device fetches the other's part, and a kernel adds it."""
    queues = session.queues_on(devices)
    parts = [session.alloc(p.n, np.int32, queue=queue) for queue in queues]
    for queue, part, values in zip(queues, parts, p.host.parts, strict=True):
        session.copy(part, values, queue=queue)
    session.wait()  # the other queue does not
    others = [session.alloc(p.n, np.int32, queue=queue) for queue in queues]
    totals = [session.alloc(p.n, np.int32, queue=queue) for queue in queues]
    folds = [folder(session, *pair) for pair in zip(totals, p.sums, queues, strict=True)]

    def sample():
        for rank, queue in enumerate(queues):
            session.copy(others[rank], parts[1 - rank], queue=queue)
            session.launch(add, kapi.Range(p.n), parts[rank], others[rank], totals[rank], queue=queue)
        for fold in folds:
            fold()

    return sample
