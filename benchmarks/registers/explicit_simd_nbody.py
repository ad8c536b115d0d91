"""Lanes of a hardware thread: the compiler's choice, 16 required, or 16 that share what the thread needs."""

import numpy as np

from xebench import Claim, Pattern, ceil_div, fit, kernel
from xebench import kernel_api as kapi
from xebench.dpex import sub_group

from ..common import nbody
from ..common.in_opencl import in_opencl
from ..common.nbody import SCALE, TILE, pull

pattern = Pattern(
    name="explicit_simd_nbody",
    catalogue=("simd_width_forced_16", "explicit_simd_nbody"),
    guide="OpenMP Offload / Prefetching",
    lesson="Where the compiler takes 32 lanes, 16 may be better; what is the same for all lanes, a thread needs once.",
    presets={
        "smoke": {"n": (1 << 9, 509), "sources": 1 << 9},
        "default": {"n": {"cpu": 1 << 12, "gpu": fit(1 << 12, per_lane=1)}, "sources": 1 << 12},
        # of the guide's published program; one work-item for each of 4096 targets leaves most of its GPU idle
        "guide": {"n": 4096, "sources": 32768},
    },
    # The guide sets a variable of its compiler to 16; a kernel can require it. A device without 16 takes its largest.
    axes={"sub_group_size": "device"},
    requires=("sub_groups",),
    stand_in="Python has no explicit SIMD (ESIMD): the lanes of a sub-group share what a thread needs, by broadcasts",
    state="cold",  # the guide flushes the caches between its launches
    rtol=nbody.RTOL,
)


GROUP = 1024  # work-items (G 16221); less where the device allows less


def add_forces_together_in(lanes):
    """The kernel for sub-groups of ``lanes``: a lane has some sources of each tile, and shows them to the others.

    The guide's program of explicit SIMD loads a tile once for a hardware thread.
    """
    rows = max(TILE // lanes, 1)

    @kernel(sub_group_size=lanes, **nbody.OPTIONS)
    def add_forces_together(item: kapi.NdItem, targets, sources, forces):
        i = item.get_global_id(0)
        lane = sub_group.local_id()
        # items behind the last target help, too: broadcasts are for whole sub-groups
        own = targets[min(i, targets.shape[0] - 1)]
        force = np.float32(0)
        for first in range(0, sources.shape[0], lanes * rows):
            for row in range(rows):
                source = sources[first + row * lanes + lane]
                for k in range(lanes):
                    force += pull(own, sub_group.broadcast(source, k))
        if i < targets.shape[0]:
            forces[i] = SCALE * force

    return add_forces_together


pattern.problem(nbody.cloud)
pattern.reference(nbody.forces_of)


def launcher(session, p, add):
    size = min(GROUP, session.device.max_work_group_size)
    space = kapi.NdRange((ceil_div(p.n, size) * size,), (size,))
    return lambda: session.launch(add, space, p.targets, p.source_places, p.forces)


@pattern.naive
def compilers_choice(session, p):
    """The compiler chooses how many work-items share a hardware thread: 16 or 32 on the guide's GPU."""
    return launcher(session, p, kernel(**nbody.OPTIONS)(nbody.add_forces))


@pattern.optimized(claim=Claim("faster", on=("gpu",), where={"sub_group_size": 16}, source="G 16291"))
def width_required(session, p, sub_group_size):
    """The same kernel in sub-groups of 16: each lane has more registers for its 64 sources."""
    add = kernel(sub_group_size=sub_group_size, **nbody.OPTIONS)(nbody.add_forces)
    return launcher(session, p, add)


@pattern.intermediate(
    claim=Claim(
        "same",
        against="width_required",
        within=0.05,
        on=("gpu",),
        where={"sub_group_size": 16},
        # 2036 and 2008 us without prefetch, from which the guide draws no conclusion; its second program is another one
        strength="implied",
        source="G 16322, 16544",
    )
)
def tile_shared_by_lanes(session, p, sub_group_size):
    """The lanes of a sub-group load a tile together, and broadcast its sources: one register holds a lane's share."""
    return launcher(session, p, add_forces_together_in(sub_group_size))


in_opencl(pattern, width_required)
