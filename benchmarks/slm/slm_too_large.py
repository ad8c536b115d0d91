"""Ask for no more shared local memory than the device has: the launch fails, and does not get slower."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="slm_too_large",
    catalogue=("E32",),
    guide="Shared Local Memory / Troubleshooting SLM Errors",
    lesson="What work-groups may share is a limit of the device: ask for it, and size the tile by it.",
    presets={
        "smoke": {"n": (1 << 12, 4093)},
        "default": {"n": {"cpu": 1 << 20, "gpu": fit(1 << 20, per_lane=128)}},
        "guide": {"n": 1 << 20},
    },
    own_sizes="the guide has no program for this advice",
    axes={"work_group_size": (64,)},
)


@kernel
def copy_through_slm(item: kapi.NdItem, x, y, tile, count):
    """Each work-group copies as many elements as its tile holds."""
    lane = item.get_local_id(0)
    first = item.get_group().get_group_id(0) * count
    size = min(count, x.shape[0] - first)
    for k in range(lane, size, item.get_local_range(0)):
        tile[k] = x[first + k]
    kapi.group_barrier(item.get_group())
    for k in range(lane, size, item.get_local_range(0)):
        y[first + k] = tile[k]


@pattern.problem
def numbers(rng, n):
    return Problem(x=rng.random(n, np.float32), y=output(n, np.float32), bytes_moved=2 * 4 * n)


@pattern.reference
def expected(p):
    return {"y": p.x}


def launch(session, p, work_group_size, count):
    groups = ceil_div(p.n, count)
    space = kapi.NdRange((groups * work_group_size,), (work_group_size,))
    session.launch(copy_through_slm, space, p.x, p.y, kapi.LocalAccessor(count, np.float32), np.int32(count))


@pattern.naive
def element_each(session, p, work_group_size):
    """A tile that every device has room for: an element for each work-item."""
    launch(session, p, work_group_size, work_group_size)


@pattern.optimized
def asked_device(session, p, work_group_size):
    """A quarter of what the device says that it has, so that several work-groups may share it. No speed is claimed."""
    launch(session, p, work_group_size, session.device.local_mem_size // 4 // p.x.itemsize)


# The guide's driver says "out of resources" when the kernel is submitted (G 3197 to 3208). This harness asks the
# device first and says how much was asked for, as the guide's debug variables do (G 3225).
@pattern.antipattern(claim=Claim("error", kind="local memory", on=("gpu",), source="G 3197 to 3230"))
def more_than_there_is(session, p, work_group_size):
    """Five times what the device has, as in the guide."""
    launch(session, p, work_group_size, 5 * session.device.local_mem_size // p.x.itemsize)


# Its size times what each item needs limits a work-group (G 2815): in the guide, 512 bytes each and 64 KB, to 128.
@pattern.antipattern(claim=Claim("error", kind="local memory", on=("gpu",), strength="implied", source="G 2815"))
def items_with_too_much_each(session, p, work_group_size):
    """A tile with so much for each item that a work-group of the usual size is one item too large."""
    launch(session, p, work_group_size, ceil_div(session.device.local_mem_size + 1, p.x.itemsize))
