"""Ping-pong of device memory between two ranks: how much of the line do messages of a size use?

Look at the part of the host link's roof: on one machine it is the line, as the network is between two. Device pointers
need a GPU-aware MPI; without one, a message goes through the host by hand, in one piece or in chunks.
"""

import numpy as np

from xebench import Claim, Pattern, Problem, output

from ..common.messages import other_rank
from ..common.staging import host_array

pattern = Pattern(
    name="mpi_line_saturation",
    catalogue=("mpi_line_saturation",),
    guide="Using Intel MPI Library / Line Saturation Test",
    lesson="Large messages saturate the line, if a part of one travels on while the next part is still copied.",
    presets={
        "smoke": {"rounds": 1},
        "default": {"rounds": 2},
        "guide": {"rounds": 100},
    },
    own_sizes="messages of up to 4 MiB; the guide's go to 256 MiB: --set message=...",
    axes={"message": (1 << 10, 65521, 1 << 20, 1 << 22)},  # bytes
    ranks=2,
    metric="wall",
    requires=("usm_host",),
    stand_in="The guide's line is a network between two machines; ranks here are on one, since the launcher starts "
    "them beside the run. The same exchange over the host's memory or the link of the device is measured.",
)

CHUNK = 1 << 19  # bytes: from this size on Intel's MPI works in a pipeline (G 19360)


@pattern.problem
def one_message(rng, message, rounds):
    # on each rank a message goes out and one comes in, in each round
    return Problem(
        x=rng.integers(0, 256, message, dtype=np.uint8), y=output(message, np.uint8), host_bytes=4 * message * rounds
    )


@pattern.reference
def expected(p):
    return {"y": p.x}


def ping_pong(session, p, send, receive):
    """A sample: rank 0 sends first, rank 1 returns what it got."""
    there, back = (send, p.x), (receive, p.y)
    if session.comm.rank:
        there, back = (receive, p.y), (send, p.y)

    def sample():
        for _ in range(p.rounds):
            for act, array in (there, back):
                act(array)

    return sample


@pattern.naive
def in_one_piece(session, p):
    """Copy the message to the host, then send it; receive it, then copy it to the device."""
    comm, other = session.comm, other_rank(session.comm)
    usm, view = host_array(session, p.message, np.uint8)

    def send(array):
        session.copy(usm, array)
        session.wait()
        comm.Send(view, other)

    def receive(array):
        comm.Recv(view, other)
        session.copy(array, usm)
        session.wait()

    return ping_pong(session, p, send, receive)


@pattern.optimized(claim=Claim("faster", on=("gpu",), where={"message": 1 << 22}, strength="implied", source="G 19360"))
def in_chunks(session, p):
    """While a chunk travels, the next one is copied; a message that is no larger than a chunk gains nothing."""
    comm, other = session.comm, other_rank(session.comm)
    usm, view = host_array(session, p.message, np.uint8)
    chunks = [slice(begin, begin + CHUNK) for begin in range(0, p.message, CHUNK)]

    def send(array):
        copies = [session.copy(usm[chunk], array[chunk]) for chunk in chunks]
        requests = []
        for chunk, copied in zip(chunks, copies, strict=True):
            copied.wait()
            requests.append(comm.Isend(view[chunk], other))
        for request in requests:
            request.Wait()

    def receive(array):
        requests = [comm.Irecv(view[chunk], other) for chunk in chunks]
        for chunk, request in zip(chunks, requests, strict=True):
            request.Wait()
            session.copy(array[chunk], usm[chunk])
        session.wait()

    return ping_pong(session, p, send, receive)


@pattern.optimized(
    claim=Claim("faster", on=("gpu",), where={"message": 1 << 22}, strength="implied", source="G 19020 and 19299")
)
def device_pointers(session, p):
    """MPI reads and writes the device's memory, and cuts messages as it sees fit."""
    comm, other = session.comm, other_rank(session.comm)
    buffers = {id(array): session.mpi_buffer(array) for array in (p.x, p.y)}
    return ping_pong(
        session,
        p,
        lambda array: comm.Send(buffers[id(array)], other),
        lambda array: comm.Recv(buffers[id(array)], other),
    )
