"""Variants that run in ranks of MPI, and some that one rank spoils."""

import os
import signal
import time

import numpy as np

from xebench import Pattern, Problem, output
from xebench import kernel_api as kapi

from .kernels import double

N = 1 << 10


def problem_of(pattern):
    """The problem and reference of all patterns here."""

    @pattern.problem
    def problem(rng):
        return Problem(x=rng.standard_normal(N).astype(np.float32), y=output(N, np.float32, fill=-9), bytes_moved=8 * N)

    @pattern.reference
    def reference(p, rank, ranks):
        y = np.full(N, -9, np.float32)
        y[rank::ranks] = 2 * p.x[rank::ranks]
        return {"y": y}


def pattern_of(name, **options):
    """A pattern whose ranks each double some elements."""
    pattern = Pattern(
        name, guide="Tests", lesson="Ranks share the work.", presets={"smoke": {}, "default": {}}, **options
    )
    problem_of(pattern)
    return pattern


def part(session, p):
    """Double what is this rank's, on the device, and put it among what is others'."""
    comm = session.comm
    mine = np.ascontiguousarray(p.host.x[comm.rank :: comm.size])
    x, y = session.alloc(mine.size, np.float32), session.alloc(mine.size, np.float32)
    result, whole = np.empty_like(mine), np.full(N, -9, np.float32)

    def sample():
        session.copy(x, mine)
        session.launch(double, kapi.Range(mine.size), x, y)
        session.copy(result, y)
        session.wait()
        whole[comm.rank :: comm.size] = result
        session.copy(p.y, whole)

    return sample


shared = pattern_of("shared_work", metric="wall", ranks=2)


@shared.naive(ranks=1)
def one(session, p):
    return part(session, p)


@shared.optimized
def two(session, p):
    return part(session, p)


@shared.intermediate(ranks=0)
def without(session, p):
    return part(session, p)


@shared.intermediate
def exchanged(session, p):
    """Each rank gets the other's inputs from it, and gives back what it makes of them."""
    comm = session.comm
    other = (comm.rank + 1) % comm.size
    theirs = session.alloc(N, np.float32)
    back = session.alloc(N, np.float32)
    y = session.alloc(N, np.float32)
    whole = np.full(N, -9, np.float32)
    result = np.empty(N, np.float32)
    own = session.alloc(N, np.float32)
    session.copy(own, p.host.x)
    session.wait()
    sent = session.mpi_buffer(own)  # from here on this alone keeps the array

    def sample():
        comm.Sendrecv(sent, dest=other, recvbuf=session.mpi_buffer(theirs), source=other)
        session.launch(double, kapi.Range(N), theirs, y)
        session.wait()
        comm.Sendrecv(session.mpi_buffer(y), dest=other, recvbuf=session.mpi_buffer(back), source=other)
        session.copy(result, back)
        session.wait()
        whole[comm.rank :: comm.size] = result[comm.rank :: comm.size]
        session.copy(p.y, whole)

    return sample


@shared.intermediate
def unlike(session, p):
    """Rank 1 takes ms, the other much less: what they do next must not depend on the time of each."""
    sample = part(session, p)

    def longer():
        sample()
        time.sleep(0.003 * session.comm.rank)

    return longer


spoiled = pattern_of("spoiled_by_one", metric="wall", ranks=2)


@spoiled.naive
def good(session, p):
    return part(session, p)


@spoiled.intermediate
def good_after(session, p):
    return part(session, p)


@spoiled.intermediate
def dies(session, p):
    """Rank 1 is killed while the other waits for it."""
    if session.comm.rank == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    session.comm.Barrier()
    return part(session, p)


@spoiled.intermediate
def raises(session, p):
    """Rank 1 fails while the other waits for it."""
    if session.comm.rank == 1:
        raise RuntimeError("rank 1 has had enough")
    session.comm.Barrier()
    return part(session, p)


@spoiled.intermediate
def wrong_on_one(session, p):
    """Rank 1 writes nothing right."""
    sample = part(session, p)

    def both():
        sample()
        if session.comm.rank == 1:
            session.fill(p.y, 7.0)

    return both
