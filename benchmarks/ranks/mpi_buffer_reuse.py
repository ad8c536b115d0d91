"""Use the same buffers for all messages, instead of new ones for each.

The guide speaks of what Intel's MPI does for a buffer of a GPU that it has not seen: it registers it, and makes one of
its own. An MPI that does not know the device cannot: there a program copies messages to the host itself, and what its
own new buffers cost is the other pair.
"""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

from ..common.messages import exchange
from ..common.staging import host_array

pattern = Pattern(
    name="mpi_buffer_reuse",
    catalogue=("mpi_buffer_reuse",),
    guide="Using Intel MPI Library / Recommendations",
    lesson="To make a buffer for messages is expensive: make it once, and use it for every message.",
    presets={
        "smoke": {"n": (1 << 10, 1021), "messages": 3},
        # 8 MiB, which DPC++ gives back when it is freed: of less, buffers of one sample are those of the next
        "default": {"n": {"cpu": 1 << 14, "gpu": 1 << 21}, "messages": 4},
        "guide": {"n": 1 << 21, "messages": 16},
    },
    own_sizes="8 MiB as the scratch buffers of Intel's MPI (G 19359); the guide names no message",
    ranks=2,
    metric="wall",
    requires=("usm_host",),
)


@kernel
def add(item: kapi.Item, x, sent, number):
    i = item.get_id(0)
    sent[i] = x[i] + number


@kernel
def keep(item: kapi.Item, received, y, row):
    i = item.get_id(0)
    y[row, i] = received[i]


@pattern.problem
def one_array(rng, n, messages):
    return Problem(x=rng.integers(0, 100, n, dtype=np.int32), y=output((messages, n), np.int32))


@pattern.reference
def expected(p, rank=0, ranks=1):
    """The messages of the other rank, a row for each."""
    other = (rank + 1) % ranks
    return {"y": p.x + np.int32(p.messages) * other + np.arange(p.messages, dtype=np.int32)[:, None]}


def device_buffers(session, p):
    """For a message to the other rank and one from it: memory of the device, and what MPI takes for it."""
    arrays = [session.alloc(p.n, np.int32) for _ in range(2)]
    return [(array, session.mpi_buffer(array)) for array in arrays]


def send_and_receive(session, p, row, of_message):
    """Compute a message, exchange it for the other rank's, and keep that; MPI reads and writes the device's memory."""
    (sent, sent_buffer), (received, received_buffer) = of_message
    session.launch(add, kapi.Range(p.n), p.x, sent, p.messages * session.comm.rank + row)
    session.wait()
    exchange(session.comm, sent_buffer, received_buffer)
    session.launch(keep, kapi.Range(p.n), received, p.y, row)
    session.wait()


def buffers_for_each(session, p, make, send):
    """A sample in which each message has buffers of its own."""

    def sample():
        kept = []  # or a pool of the runtime gives the memory of one message to the next
        for row in range(p.messages):
            kept.append(make(session, p))
            send(session, p, row, kept[-1])

    return sample


@pattern.naive
def new_buffers(session, p):
    """Buffers for each message, where it is needed."""
    return buffers_for_each(session, p, device_buffers, send_and_receive)


@pattern.optimized(claim=Claim("faster", on=("gpu",), source="G 19357"))
def same_buffers(session, p):
    """Buffers that were made before the clock started."""
    of_all = device_buffers(session, p)

    def sample():
        for row in range(p.messages):
            send_and_receive(session, p, row, of_all)

    return sample


def host_buffers(session, p):
    """The same for an MPI that does not know the device: device memory, and host USM with its view."""
    return [(session.alloc(p.n, np.int32), *host_array(session, p.n, np.int32)) for _ in range(2)]


def send_and_receive_by_host(session, p, row, of_message):
    """The same with copies to the host, and from it."""
    (sent, sent_usm, sent_view), (received, received_usm, received_view) = of_message
    session.launch(add, kapi.Range(p.n), p.x, sent, p.messages * session.comm.rank + row)
    session.copy(sent_usm, sent)
    session.wait()
    exchange(session.comm, sent_view, received_view)
    session.copy(received, received_usm)
    session.launch(keep, kapi.Range(p.n), received, p.y, row)
    session.wait()


@pattern.baseline
def new_host_buffers(session, p):
    """Buffers for each message, and for the copies of it."""
    return buffers_for_each(session, p, host_buffers, send_and_receive_by_host)


@pattern.optimized(claim=Claim("faster", against="new_host_buffers", on=("gpu",), strength="implied", source="G 19357"))
def same_host_buffers(session, p):
    """Both were made before the clock started."""
    of_all = host_buffers(session, p)

    def sample():
        for row in range(p.messages):
            send_and_receive_by_host(session, p, row, of_all)

    return sample
