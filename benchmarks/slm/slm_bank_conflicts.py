"""Neighbouring work-items should read neighbouring words of shared local memory, not words of one bank."""

import numpy as np

from xebench import Claim, Figure, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="slm_bank_conflicts",
    catalogue=("E33",),
    guide="Shared Local Memory / Bank Conflicts",
    lesson="SLM lies in 16 banks of 4 bytes: at a stride of 16 words all lanes queue at one bank.",
    presets={
        # no multiples of HOPS: a ring's order shows in the result only where the last round is not complete
        "smoke": {"n": (1 << 13, 251 << 5), "steps": 62},
        "default": {"n": {"cpu": 1 << 14, "gpu": fit(1 << 20, per_lane=16)}, "steps": 254},
        # two steps fewer than the guide's, for the reason above; one work-group, and so one or two threads, which
        # cannot use all of SLM's bandwidth: 16 times is out of reach
        "guide": {"n": 32, "steps": 1024 * 1024 - 2},
    },
    # The guide has 16 banks and a stride of 16. At 2 and 8, fewer lanes share a bank; at 17, no two of 16 do.
    axes={"stride": (16, 2, 8, 17, 32), "work_group_size": (32,)},
)

HOPS = 4  # words of SLM for each work-item: with 32 items at stride 16 they take the guide's 8 KiB


@kernel
def chase(item: kapi.NdItem, next_hop, ends, slm, stride, steps):
    i = item.get_global_id(0)
    first = np.uint32(item.get_local_id(0) * stride)  # unsigned, so that no read has to ask whether a place is negative
    row = np.uint32(item.get_local_range(0) * stride)
    for hop in range(HOPS):
        slm[first + hop * row] = first + next_hop[hop, i] * row
    kapi.group_barrier(item.get_group())
    # What is read says where to read next, so that no compiler can keep these words in registers. Four reads are on
    # their way at once, each from a place of its own: they wait for the banks, not for one another.
    # The bank depends on lane and stride alone, because a row spreads over all banks evenly.
    a, b, c, d = first, np.uint32(first + row), np.uint32(first + 2 * row), np.uint32(first + 3 * row)
    for _ in range(steps):
        a, b, c, d = slm[a], slm[b], slm[c], slm[d]
    for hop in range(HOPS):
        slm[first + hop * row] = hop
    ends[i] = slm[a] + 4 * slm[b] + 16 * slm[c] + 64 * slm[d]


@pattern.problem
def rings(rng, n, steps, work_group_size):
    """Each work-item gets a random ring through its own words."""
    if n % work_group_size:
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {work_group_size}")
    order = rng.permuted(np.tile(np.arange(HOPS, dtype=np.int32), (n, 1)), axis=1).T
    next_hop = np.empty((HOPS, n), np.int32)
    np.put_along_axis(next_hop, order, np.roll(order, -1, axis=0), axis=0)
    words = 4 * n  # each of them 4 bytes
    return Problem(
        next_hop=next_hop,
        ends=output(n, np.int32),
        bytes_moved=(HOPS + 1) * words,
        slm_bytes=(1 + steps + 2) * HOPS * words,
    )


@pattern.reference
def expected(p):
    hops = np.repeat(np.arange(HOPS)[:, None], p.n, axis=1)
    for _ in range(p.steps % HOPS):
        hops = np.take_along_axis(p.next_hop, hops, axis=0)
    return {"ends": (HOPS ** np.arange(HOPS)) @ hops}


def run(session, p, work_group_size, stride, words):
    slm = kapi.LocalAccessor(words, np.uint32)
    session.launch(chase, kapi.NdRange((p.n,), (work_group_size,)), p.next_hop, p.ends, slm, stride, p.steps)


@pattern.naive
def strided(session, p, work_group_size, stride):
    """Neighbouring items read words that lie ``stride`` apart: at 16 and 32, all of one bank."""
    run(session, p, work_group_size, stride, words=work_group_size * stride * HOPS)


@pattern.optimized(
    claim=(
        # 1/16 of the bandwidth, by the guide's reasoning; it measured nothing
        Claim("faster", on=("gpu",), where={"stride": 16}, figure=Figure(16.0, line="G 2845")),
        Claim("faster", on=("gpu",), where={"stride": (2, 8, 32)}, strength="implied", source="G 2819"),
        Claim("same", on=("gpu",), where={"stride": 17}, strength="implied", source="G 2819"),
    )
)
def adjacent(session, p, work_group_size, stride):
    """Neighbouring items read neighbouring words; as much SLM is taken, so as many groups are resident."""
    run(session, p, work_group_size, 1, words=work_group_size * stride * HOPS)


in_opencl(pattern, adjacent)
