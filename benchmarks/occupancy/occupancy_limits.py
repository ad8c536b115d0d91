"""What can leave a device half empty although there is work enough: the groups' size, and their shared local memory."""

import numpy as np

from xebench import Claim, Pattern, ceil_div, fit, kernel
from xebench import kernel_api as kapi

from ..common import latency_chain
from ..common.latency_chain import ROW, advance

pattern = Pattern(
    name="occupancy_limits",
    catalogue=("E10", "occupancy_limits"),
    guide="Thread Mapping and GPU Occupancy / Intel GPU Occupancy Calculator",
    lesson="Occupancy is computed before anything runs, from work-group, sub-group, SLM and the size of the launch.",
    # What to look for: `xebench occupancy --gpu NAME --pattern occupancy_limits` computes how full each variant keeps
    # a GPU, and a run on it puts that beside the times. If the model is right, they have the same order, since all
    # variants compute the same. Too small a launch is the third limit: see `work_size` and `vector_add_groups`.
    presets={
        "smoke": {"n": (1 << 14, 16381), "steps": 16},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 20, per_lane=16)}, "steps": 64},
        "guide": {"n": 1 << 20, "steps": 64},
    },
    own_sizes="the guide gives no size",
    axes={"sub_group_size": "device"},
    requires=("sub_groups",),
)

USUAL = 256  # work-items, of which several groups fill a core of any GPU
UNEVEN = 384  # 24 threads of 16 lanes: of cores with 64, 112 or 128 threads they leave 16, 16 and 8 empty
LARGE_SLM = 64 * 1024  # bytes


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
def integers(rng, n, steps):
    return latency_chain.integers(rng, n, steps)


@pattern.reference
def expected(p):
    return {"y": latency_chain.met(p)}


def launch_groups(size, session, p, slm_bytes=0):
    of_group = kapi.LocalAccessor(max(size, slm_bytes // 4), np.int32)
    session.launch(meet, kapi.NdRange((ceil_div(p.n, size) * size,), (size,)), p.x, p.y, of_group, p.steps)


@pattern.naive
def limited_by_slm(session, p):
    """Every work-group takes 64 KiB of SLM, or what the device allows."""
    launch_groups(USUAL, session, p, min(LARGE_SLM, session.device.local_mem_size))


@pattern.antipattern
def limited_by_size(session, p):
    """Work-groups of which whole ones do not fill a core."""
    launch_groups(UNEVEN, session, p)


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), strength="implied", source="G 953 to 955, 20880 to 20885"),
        Claim(
            "faster", against="limited_by_size", on=("gpu",), strength="implied", source="G 953 to 955, 20880 to 20884"
        ),
    )
)
def nothing_scarce(session, p):
    """Work-groups of 256 that take the SLM they need."""
    launch_groups(USUAL, session, p)
