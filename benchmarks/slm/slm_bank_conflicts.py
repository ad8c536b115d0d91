"""Neighbouring work-items should read and write neighbouring words of shared local memory, not words of one bank."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="slm_bank_conflicts",
    catalogue=("E33",),
    guide="Shared Local Memory / Bank Conflicts",
    lesson="SLM lies in 16 banks of 4 bytes: at a stride of 16 words all lanes queue at one bank.",
    presets={
        "smoke": {"n": (1 << 13, 251 << 5), "steps": 62},
        "default": {"n": {"cpu": 1 << 14, "gpu": fit(1 << 20, per_lane=16)}, "steps": 254},
        # one work-group, and so one or two threads: they wait for the barrier rather than for all of SLM's bandwidth
        "guide": {"n": 32, "steps": 1024 * 1024},
    },
    # The guide has 16 banks and a stride of 16. At 2 and 8, fewer lanes share a bank; at 17, no two of 16 do.
    axes={"stride": (16, 2, 8, 17, 32), "work_group_size": (32,)},
)

WORDS = 64  # of SLM for each work-item, as in the guide, whatever the stride: so many groups are resident


@kernel
def add_steps(item: kapi.NdItem, y, slm, stride, steps):
    i = np.uint32(item.get_global_id(0))
    place = item.get_local_id(0) * stride
    slm[place] = np.uint32(0)
    kapi.group_barrier(item.get_group())
    for step in range(steps):
        slm[place] += np.uint32(i * np.uint32(step))
        # behind a barrier the word must be read again: it cannot stay in a register
        kapi.group_barrier(item.get_group())
    y[i] = slm[place]


@pattern.problem
def sums(rng, n, steps, work_group_size):
    if n % work_group_size:
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {work_group_size}")
    return Problem(y=output(n, np.uint32), bytes_moved=4 * n, slm_bytes=2 * (1 + steps) * 4 * n)


@pattern.reference
def expected(p):
    # modulo 2**32, as on the device
    return {"y": (np.arange(p.n, dtype=np.uint64) * (p.steps * (p.steps - 1) // 2)).astype(np.uint32)}


def run(session, p, work_group_size, stride):
    slm = kapi.LocalAccessor(work_group_size * WORDS, np.uint32)
    session.launch(add_steps, kapi.NdRange((p.n,), (work_group_size,)), p.y, slm, stride, p.steps)


@pattern.naive
def strided(session, p, work_group_size, stride):
    """The words of neighbouring items lie ``stride`` apart: at 16 and 32, all of them in one bank."""
    run(session, p, work_group_size, stride)


@pattern.optimized(
    claim=(
        # 1/16 of the bandwidth where SLM has 16 banks, by the guide's reasoning; it measured nothing
        Claim("faster", on=("gpu",), where={"stride": 16}, strength="implied", source="G 2845"),
        Claim("faster", on=("gpu",), where={"stride": (2, 8, 32)}, strength="implied", source="G 2819"),
        Claim("same", on=("gpu",), where={"stride": 17}, strength="implied", source="G 2819"),
    )
)
def adjacent(session, p, work_group_size):
    """The words of neighbouring items are neighbours."""
    run(session, p, work_group_size, 1)


in_opencl(pattern, adjacent)
