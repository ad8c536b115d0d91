"""What can leave a device half empty although there is work enough: the groups' size, and their shared local memory."""

from xebench import Claim, Pattern, fit

from ..common import latency_chain

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


@pattern.problem
def integers(rng, n, steps):
    return latency_chain.integers(rng, n, steps)


@pattern.reference
def expected(p):
    return {"y": latency_chain.met(p)}


@pattern.naive
def limited_by_slm(session, p, sub_group_size):
    """Every work-group takes 64 KiB of SLM, or what the device allows."""
    slm_bytes = min(LARGE_SLM, session.device.local_mem_size)
    return latency_chain.launch_meeting(session, p, USUAL, sub_group_size, slm_bytes)


@pattern.antipattern
def limited_by_size(session, p, sub_group_size):
    """Work-groups of which whole ones do not fill a core."""
    return latency_chain.launch_meeting(session, p, UNEVEN, sub_group_size)


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), strength="implied", source="G 953 to 955, 20880 to 20885"),
        Claim(
            "faster", against="limited_by_size", on=("gpu",), strength="implied", source="G 953 to 955, 20880 to 20884"
        ),
    )
)
def nothing_scarce(session, p, sub_group_size):
    """Work-groups of 256 that take the SLM they need."""
    return latency_chain.launch_meeting(session, p, USUAL, sub_group_size)
