"""Fetch the next tile of sources while the forces of this one are computed."""

import numpy as np

from harness import Claim, Figure, Pattern, fit, kernel
from harness import kernel_api as kapi

from ..common import nbody
from ..common.nbody import SCALE, TILE, pull

pattern = Pattern(
    name="prefetch_nbody1d",
    catalogue=("omp_prefetch_nbody1d",),
    guide="OpenMP Offload / Prefetching",
    lesson="Data that were asked for a tile ahead are there when they are needed, and nobody waits for memory.",
    presets={
        "smoke": {"n": 1 << 9, "sources": 1 << 9},
        "default": {"n": {"cpu": 1 << 10, "gpu": fit(1 << 12, per_lane=1)}, "sources": 1 << 12},
        "guide": {"n": 4096, "sources": 32768},  # of the guide's published program
    },
    axes={"work_group_size": (1024,)},
    state="cold",  # the guide flushes the caches between its launches
    rtol=nbody.RTOL,
)


# microseconds of the kernel without and with prefetch to both caches
PREFETCHED = Figure(2035.72 / 1840.75, device="Max", line="G 16322 to 16348")


def add_forces_with_next_tile(item: kapi.NdItem, targets, sources, forces):
    i = item.get_global_id(0)
    if i < targets.shape[0]:
        own = targets[i]
        tile = kapi.PrivateArray(TILE, np.float32)
        next_tile = kapi.PrivateArray(TILE, np.float32)
        for k in range(TILE):
            tile[k] = sources[k]
        force = np.float32(0)
        for following in range(TILE, sources.shape[0] + TILE, TILE):
            if following < sources.shape[0]:
                # unsigned, so that nothing asks whether an index is negative: the loads of a tile stay together
                for k in range(TILE):
                    next_tile[k] = sources[np.uint64(following + k)]
            for k in range(TILE):
                force += pull(own, tile[k])
            for k in range(TILE):
                tile[k] = next_tile[k]
        forces[i] = SCALE * force


pattern.problem(nbody.cloud)
pattern.reference(nbody.forces_of)


def launcher(session, p, work_group_size, function):
    add = kernel(**nbody.OPTIONS)(function)
    items = -(-p.n // work_group_size) * work_group_size
    return lambda: session.launch(add, kapi.NdRange((items,), (work_group_size,)), p.targets, p.sources, p.forces)


@pattern.naive
def tile_as_needed(session, p, work_group_size):
    """A tile is loaded, then its forces are computed."""
    return launcher(session, p, work_group_size, nbody.add_forces)


# The guide's prefetch goes to a cache, which takes no registers: what follows from it for this is implied.
@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", figure=PREFETCHED))
def next_tile_in_registers(session, p, work_group_size):
    """The next tile is loaded into registers while the forces of this one are computed."""
    return launcher(session, p, work_group_size, add_forces_with_next_tile)
