"""Two programs on one device share the memory of a frame: hand over the array, not a copy of it.

The guide's two are a video decoder (VA-API) and SYCL kernels. Here they are kernels and a library, which takes an array
by its address (DLPack).
"""

import dpnp
import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="zero_copy",
    catalogue=("zero_copy_sharing",),
    guide="Media / Media Pipeline Inter-operation and Memory Sharing",
    lesson="Libraries on the same device take each other's arrays by address; a copy by way of the host costs most.",
    presets={
        "smoke": {"height": (24, 23), "width": 32},
        "default": {"height": {"cpu": 2160, "gpu": fit(1 << 11, per_lane=1 / 256)}, "width": 1920},
        "guide": {"height": 240, "width": 320},
    },
    metric="wall",
    stand_in="The guide's decoder leaves a video surface, which libva exports as a DMA-BUF and Level Zero imports. "
    "Both can be called by ctypes, but libva opens the render node of a GPU, and there was none to try it. A kernel "
    "and a library hand a frame to each other by its address (DLPack), or copy it.",
)


@pattern.problem
def frame(rng, height, width):
    return Problem(
        pixels=rng.integers(0, 256, (height, width), dtype=np.int32),
        edited=output((height, width), np.int32),
        rows=output(height, np.int32),
        bytes_moved=4 * (2 * height * width + height),
    )


@pattern.reference
def expected(p):
    edited = p.pixels.copy()
    edited[p.height // 4 : p.height // 2, p.width // 4 : p.width // 2] = 0
    return {"edited": edited, "rows": edited.sum(axis=1)}


@kernel
def draw(item: kapi.Item, pixels, edited):
    """The first program: a frame with a black rectangle. Columns are dimension 0."""
    column, row = item.get_id(0), item.get_id(1)
    height, width = edited.shape[0], edited.shape[1]
    inside = height // 4 <= row < height // 2 and width // 4 <= column < width // 2
    edited[row, column] = np.int32(0) if inside else pixels[row, column]


def draw_frame(session, p):
    session.launch(draw, kapi.Range(p.width, p.height), p.pixels, p.edited)


def library(session, p, pixels):
    """The second program."""
    session.call(dpnp.sum, pixels, axis=1, dtype=np.int32, out=p.rows)


@pattern.naive
def by_way_of_host(session, p):
    """The frame comes to the host, and goes to the library's own memory."""
    host = np.empty((p.height, p.width), np.int32)
    own = session.alloc(host.shape, np.int32)

    def timed():
        draw_frame(session, p)
        session.copy(host, p.edited)
        session.copy(own, host)
        library(session, p, own)

    return timed


@pattern.intermediate
def copied_on_device(session, p):
    """A copy in the device's memory."""
    own = session.alloc((p.height, p.width), np.int32)

    def timed():
        draw_frame(session, p)
        session.copy(own, p.edited)
        library(session, p, own)

    return timed


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), strength="implied", source="G 22025 to 22027"),
        Claim("faster", against="copied_on_device", on=("gpu",), strength="implied", source="G 22025 to 22027"),
    )
)
def same_memory(session, p):
    """The library's array is at the same address."""
    shared = dpnp.from_dlpack(p.edited)

    def timed():
        draw_frame(session, p)
        library(session, p, shared)

    return timed
