"""Neighbouring work-items should read neighbouring words of shared local memory, not words of one bank."""

import numba_dpex as dpex
import numpy as np
from numba_dpex import kernel_api as kapi

from harness import Pattern, Problem, output

pattern = Pattern(
    name="slm_bank_conflicts",
    catalogue=("E33",),
    guide="Shared Local Memory / Bank Conflicts",
    lesson="SLM lies in 16 banks of 4 bytes: at a stride of 16 words all lanes queue at one bank.",
    claim={"gpu": "faster"},
    presets={
        # no multiples of HOPS: a ring's order shows in the result only where the last round is not complete
        "smoke": {"n": 1 << 13, "steps": 62},
        "default": {"n": {"cpu": 1 << 16, "gpu": 1 << 20}, "steps": 254},
        "guide": {"n": 32, "steps": 1024 * 1024},
    },
    axes={"stride": (16,), "work_group_size": (32,)},
)

HOPS = 4  # words of SLM for each work-item: with 32 items at stride 16 they take the guide's 8 KiB


@dpex.kernel(error_model="numpy")
def chase(item: kapi.NdItem, next_hop, total, slm, stride, steps):
    i = item.get_global_id(0)
    first = item.get_local_id(0) * stride
    row = item.get_local_range(0) * stride
    for hop in range(HOPS):
        slm[first + hop * row] = first + next_hop[hop, i] * row
    kapi.group_barrier(item.get_group())
    # What is read says where to read next, so that no compiler can keep these words in registers.
    # The bank depends on lane and stride alone, because a row spreads over all banks evenly.
    place = first
    visited = 0
    for _ in range(steps):
        place = slm[place]
        visited += place
    total[i] = (visited - steps * first) // row


@pattern.problem
def rings(rng, n, steps):
    """Each work-item gets a random ring through its own words."""
    order = rng.permuted(np.tile(np.arange(HOPS, dtype=np.int32), (n, 1)), axis=1).T
    next_hop = np.empty((HOPS, n), np.int32)
    np.put_along_axis(next_hop, order, np.roll(order, -1, axis=0), axis=0)
    words = 4 * n  # each of them 4 bytes
    return Problem(
        next_hop=next_hop, total=output(n, np.int32), bytes_moved=(HOPS + 1) * words, slm_bytes=(HOPS + steps) * words
    )


@pattern.reference
def expected(p):
    rounds, rest = divmod(p.steps, HOPS)
    total = np.full(p.n, rounds * sum(range(HOPS)), np.int32)
    hop = np.zeros((1, p.n), np.int32)
    for _ in range(rest):
        hop = np.take_along_axis(p.next_hop, hop, axis=0)
        total += hop[0]
    return {"total": total}


def run(session, p, work_group_size, stride, words):
    slm = kapi.LocalAccessor(words, np.int32)
    session.launch(chase, kapi.NdRange((p.n,), (work_group_size,)), p.next_hop, p.total, slm, stride, p.steps)


@pattern.naive
def strided(session, p, work_group_size, stride):
    """Neighbouring items read words that lie ``stride`` apart: at 16, all of one bank."""
    run(session, p, work_group_size, stride, words=work_group_size * stride * HOPS)


@pattern.optimized
def adjacent(session, p, work_group_size, stride):
    """Neighbouring items read neighbouring words; as much SLM is taken, so as many groups are resident."""
    run(session, p, work_group_size, 1, words=work_group_size * stride * HOPS)
