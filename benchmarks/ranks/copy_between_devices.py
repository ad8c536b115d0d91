"""Copy between two devices directly, not over the host.

What a GPU-aware MPI saves, without MPI: it stands in for `mpi_gpu_aware` where there is none for the device.
"""

import numpy as np

from xebench import Claim, Pattern, Problem, output

from ..common.messages import SUMS, folded, folder, small_numbers

pattern = Pattern(
    name="copy_between_devices",
    catalogue=("mpi_naive_vs_gpu_aware",),
    guide="Using Intel MPI Library / Execution Models",
    lesson="Data of one device that another needs need not pass through host memory.",
    presets={
        "smoke": {"n": (1 << 12, 4093)},
        "default": {"n": ({"cpu": 1 << 20, "gpu": 1 << 24}, 1 << 14, 1 << 8)},
        "guide": {"n": 1 << 24},
    },
    own_sizes="the guide names no size",
    axes={"devices": (2,)},
    metric="wall",
    requires=("several_devices",),
    stand_in="MPICH and Open MPI of PyPI take no pointers to memory of a GPU. Intel's MPI does (impi-rt), with Level "
    "Zero; without hardware it was seen to find no GPU to talk to. One process copies between two devices instead, "
    "directly and by way of the host; mpi_gpu_aware is the lesson itself where there is such an MPI.",
)


@pattern.problem
def one_array(rng, n):
    return Problem(x=small_numbers(rng, n), sums=output(SUMS, np.int32, host=True), peer_bytes=4 * n)


@pattern.reference
def expected(p):
    return {"sums": folded(p.x)}


def placed(session, p, devices):
    """Queues of the first and the last device, with an array in the memory of each, and the fold of the second."""
    first, *_, last = session.queues_on(devices)
    source, target = (session.alloc(p.n, np.int32, queue=queue) for queue in (first, last))
    session.copy(source, p.host.x, queue=first)
    session.wait()  # the other queue does not
    return first, last, source, target, folder(session, target, p.sums, last)


@pattern.naive
def through_host(session, p, devices):
    """To the host and from there, as each message of an MPI that knows no devices."""
    first, last, source, target, fold = placed(session, p, devices)
    on_host = np.empty(p.n, np.int32)

    def sample():
        arrived = session.copy(on_host, source, queue=first)
        session.copy(target, on_host, queue=last, depends=[arrived])
        fold()

    return sample


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 18997 to 19020"))
def directly(session, p, devices):
    """One copy, from memory to memory."""
    _first, last, source, target, fold = placed(session, p, devices)

    def sample():
        session.copy(target, source, queue=last)
        fold()

    return sample
