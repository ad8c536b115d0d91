"""Ask for as much shared local memory as a work-group needs: what it has, no other group on the core can have."""

import numpy as np

from xebench import Claim, Pattern, ceil_div, fit, kernel
from xebench import kernel_api as kapi

from ..common import latency_chain
from ..common.latency_chain import ROW, advance

pattern = Pattern(
    name="slm_per_work_group",
    catalogue=("E07",),
    guide="Thread Mapping and GPU Occupancy / Impact of Local Memory Within Work-group",
    lesson="A core's SLM is cut among its resident work-groups: one that asks for all of it is alone there.",
    # What to look for: the kernel is the same, and uses 4 bytes a work-item. Only what it asks for differs, and so
    # how many work-groups are there to run while one waits.
    presets={
        "smoke": {"n": (1 << 14, 16381), "steps": 16},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 20, per_lane=16)}, "steps": 64},
        "guide": {"n": 64 * 64 * 128, "steps": 64},
    },
    axes={"work_group_size": (128,), "sub_group_size": "device"},  # the guide's row (G 516)
    requires=("sub_groups",),
)


@kernel(sub_group_size="sub_group_size")
def meet(item: kapi.NdItem, x, y, of_group, steps):
    i = item.get_global_id(0)
    place = item.get_local_id(0)
    own = advance(x[i], steps // 2) if i < y.shape[0] else np.int32(0)
    of_group[place] = own
    kapi.group_barrier(item.get_group())
    if i < y.shape[0]:
        y[i] = advance(np.int32(own ^ of_group[place ^ (ROW - 1)]), steps // 2)


@pattern.problem
def integers(rng, n, steps, work_group_size):
    if work_group_size % ROW:
        raise ValueError(f"work_group_size={work_group_size}: give a multiple of {ROW}")
    return latency_chain.integers(rng, n, steps)


@pattern.reference
def expected(p):
    return {"y": latency_chain.met(p)}


LARGEST = 64 * 1024  # bytes; what the guide's query of a GPU tells of a work-group (G 2813); others have 48 or 128 KiB


def launch_with(slm_bytes, session, p, work_group_size):
    """A launch in which every work-group asks for so much shared local memory."""
    groups = ceil_div(p.n, work_group_size)
    space = kapi.NdRange((groups * work_group_size,), (work_group_size,))
    session.launch(meet, space, p.x, p.y, kapi.LocalAccessor(slm_bytes // 4, np.int32), p.steps)


def fuller():
    return Claim("faster", on=("gpu",), strength="implied", source="G 554, 20880 to 20885")


@pattern.naive
def largest_array(session, p, work_group_size):
    """An array for the largest case there may be: 64 KiB, or what the device allows."""
    size = min(LARGEST, session.device.local_mem_size)
    launch_with(size, session, p, work_group_size)


@pattern.intermediate(claim=fuller())
def quarter_of_it(session, p, work_group_size):
    """A quarter of that."""
    size = min(LARGEST, session.device.local_mem_size) // 4
    launch_with(size, session, p, work_group_size)


@pattern.optimized(claim=fuller())
def array_as_needed(session, p, work_group_size):
    """Four bytes a work-item, which is what the kernel uses."""
    launch_with(4 * work_group_size, session, p, work_group_size)
