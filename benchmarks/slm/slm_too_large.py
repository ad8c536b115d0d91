"""Ask for no more shared local memory than the device has: the launch fails, and does not get slower."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, kernel, opencl_kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="slm_too_large",
    catalogue=("E32",),
    guide="Shared Local Memory / Troubleshooting SLM Errors",
    lesson="What work-groups may share is a limit of the device: ask for it, and size the tile by it.",
    presets={
        "smoke": {"n": (1 << 12, 4093)},
        "default": {"n": {"cpu": 1 << 20, "gpu": fit(1 << 20, per_lane=32)}},
        "guide": {"n": 1 << 20},
    },
    own_sizes="the guide has no program for this advice",
    axes={"work_group_size": (64,)},
    short_launches="the claim is that a launch fails, not how long it takes",
)

ASKED_BYTES = 656_384  # of a device with 131,072 (G 3224)
ITEM_BYTES, ITEMS_OF_64_KIB = 512, 128  # of each item, and as many items as 64 KiB are enough for (G 2815)


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


# Memory that the kernel declares itself, so that the driver alone decides whether there is as much. A LocalAccessor too
# large never reaches it, since drivers have ended the process: the launch raises an error before.
COPY = """
__kernel void copy_through_own_tile(__global const float *x, __global float *y, const int n) {
    __local float tile[BYTES / sizeof(float)];
    const int count = BYTES / sizeof(float), first = get_group_id(0) * count, size = min(count, n - first);
    for (int k = get_local_id(0); k < size; k += get_local_size(0))
        tile[k] = x[first + k];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = get_local_id(0); k < size; k += get_local_size(0))
        y[first + k] = tile[k];
}
"""


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


def launch_own_tile(session, p, work_group_size, tile_bytes):
    copy = opencl_kernel(COPY, build_options=f"-DBYTES={tile_bytes}")
    groups = ceil_div(p.n * p.x.itemsize, tile_bytes)
    space = kapi.NdRange((groups * work_group_size,), (work_group_size,))
    return lambda: session.launch(copy, space, p.x, p.y, p.n)


@pattern.intermediate
def tile_of_kernel(session, p, work_group_size):
    """The kernel declares the tile itself, of 512 bytes for each work-item: 32 KiB, as much as any GPU has."""
    return launch_own_tile(session, p, work_group_size, work_group_size * ITEM_BYTES)


# "Out of resources", says the guide's driver, and with its debug variables how much was asked for (G 3205, 3224).
@pattern.antipattern(claim=Claim("error", on=("gpu",), source="G 3197 to 3230"))
def more_than_there_is(session, p, work_group_size):
    """As many bytes as the guide's kernel asks of a GPU that has a fifth of them."""
    return launch_own_tile(session, p, work_group_size, ASKED_BYTES)


@pattern.antipattern(
    claim=Claim("error", on=("gpu",), requires=("local_memory_kib=64",), strength="implied", source="G 2815")
)
def items_with_too_much_each(session, p):
    """Of 64 KiB, 128 work-items can have 512 bytes each: here are 129 in a work-group."""
    return launch_own_tile(session, p, ITEMS_OF_64_KIB + 1, (ITEMS_OF_64_KIB + 1) * ITEM_BYTES)
