"""Choose the sub-group's size between few wide threads and many narrow ones: each lane needs its registers."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="sub_group_width",
    catalogue=("sub_group_size_knob",),
    guide="Thread Mapping and GPU Occupancy / Mapping Work-Groups to Xe-cores for Maximum Occupancy",
    lesson="Twice the lanes are half the threads, each of which takes longer and has half the registers for a lane.",
    # What to look for: at few values both fit. At many, sub-groups of 32 spill to memory, and those of 16 do not, or
    # less: `xebench isa`. A launch that leaves threads empty anyway has more of them at work with 16 lanes.
    presets={
        "smoke": {"n": (1 << 12, 4093), "steps": 2},
        "default": {"n": {"cpu": 1 << 14, "gpu": fit(1 << 16, per_lane=2)}, "steps": 4},
        "guide": {"n": 64**3, "steps": 4},  # the example's 262,144 work-items (G 461); its kernel is left open
    },
    short_launches="with 64 values the arrays are eight times as large, and the host makes them",
    axes={"values": (8, 64), "work_group_size": (64,)},
    requires=("sub_groups",),
    rtol=1e-5,  # products may be rounded before they are added, or not
)

PART = 1 << 14  # columns that numpy works on at once


def mix_in(lanes, values):
    """The kernel for sub-groups of ``lanes``; every work-item holds so many values at once."""

    @kernel(sub_group_size=lanes, unroll="full")
    def mix(item: kapi.NdItem, x, y, steps):
        i = item.get_global_id(0)
        if i >= y.shape[1]:
            return
        own = kapi.PrivateArray(values, np.float32)
        for k in range(values):
            own[k] = x[k, i]
        # each value needs its neighbour in every step, so that all of them are alive to the end
        for _ in range(steps):
            for k in range(values):
                own[k] = np.float32(0.5) * own[k] + np.float32(0.25) * own[(k + 1) % values]
        for k in range(values):
            y[k, i] = own[k]

    return mix


@pattern.problem
def rows_of_values(rng, n, values):
    """A column for each work-item, so that neighbours read neighbouring numbers."""
    return Problem(
        x=rng.random((values, n), np.float32),
        y=output((values, n), np.float32),
        bytes_moved=8 * values * n,
    )


@pattern.reference
def expected(p):
    own = p.x.copy()
    for begin in range(0, p.n, PART):
        part = own[:, begin : begin + PART]
        for _ in range(p.steps):
            for k in range(p.values):
                part[k] = np.float32(0.5) * part[k] + np.float32(0.25) * part[(k + 1) % p.values]
    return {"y": own}


def in_sub_groups_of(lanes, session, p, values, work_group_size):
    space = kapi.NdRange((ceil_div(p.n, work_group_size) * work_group_size,), (work_group_size,))
    mix = mix_in(lanes, values)
    return lambda: session.launch(mix, space, p.x, p.y, p.steps)


# Where registers are short the compiler "can" choose fewer lanes by itself (G 1592): whether it does is our question.
@pattern.naive(
    claim=Claim("spills", against="lanes_32", on=("gpu",), where={"values": 64}, strength="ours", source="G 1592")
)
def size_by_compiler(session, p, values, work_group_size):
    """The compiler chooses."""
    return in_sub_groups_of(None, session, p, values, work_group_size)


@pattern.intermediate
def lanes_32(session, p, values, work_group_size):
    """Half the threads, each of 32 lanes."""
    return in_sub_groups_of(32, session, p, values, work_group_size)


# Latency and registers of a thread are all that the guide speaks of: time may go either way.
@pattern.optimized(
    claim=Claim("spills", against="lanes_32", on=("gpu",), where={"values": 64}, strength="implied", source="G 493"),
    requires=("sub_group_size=16",),
)
def lanes_16(session, p, values, work_group_size):
    """Threads of 16 lanes, each lane with twice the registers."""
    return in_sub_groups_of(16, session, p, values, work_group_size)


in_opencl(pattern, size_by_compiler)
