"""Ask for as much shared local memory as a work-group needs: what it has, no other group on the core can have."""

from xebench import Claim, Pattern, fit

from ..common import latency_chain

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


@pattern.problem
def integers(rng, n, steps, work_group_size):
    if work_group_size % latency_chain.ROW:
        raise ValueError(f"work_group_size={work_group_size}: give a multiple of {latency_chain.ROW}")
    return latency_chain.integers(rng, n, steps)


@pattern.reference
def expected(p):
    return {"y": latency_chain.met(p)}


LARGEST = 64 * 1024  # bytes; what the guide's query of a GPU tells of a work-group (G 2813); others have 48 or 128 KiB


def launch_with(slm_bytes, session, p, work_group_size, lanes):
    return latency_chain.launch_meeting(session, p, work_group_size, lanes, slm_bytes)


def fuller():
    return Claim("faster", on=("gpu",), strength="implied", source="G 554, 20880 to 20885")


@pattern.naive
def largest_array(session, p, work_group_size, sub_group_size):
    """An array for the largest case there may be: 64 KiB, or what the device allows."""
    size = min(LARGEST, session.device.local_mem_size)
    return launch_with(size, session, p, work_group_size, sub_group_size)


@pattern.intermediate(claim=fuller())
def quarter_of_it(session, p, work_group_size, sub_group_size):
    """A quarter of that."""
    size = min(LARGEST, session.device.local_mem_size) // 4
    return launch_with(size, session, p, work_group_size, sub_group_size)


@pattern.optimized(claim=fuller())
def array_as_needed(session, p, work_group_size, sub_group_size):
    """Four bytes a work-item, which is what the kernel uses."""
    return launch_with(None, session, p, work_group_size, sub_group_size)
