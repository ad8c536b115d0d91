"""Fetch the next tile of sources while the forces of this one are computed."""

import numpy as np

from xebench import Claim, Figure, Pattern, ceil_div, fit, kernel, opencl_kernel
from xebench import kernel_api as kapi

from ..common import nbody, prefetch
from ..common.nbody import SCALE, TILE, pull

pattern = Pattern(
    name="prefetch_nbody1d",
    catalogue=("omp_prefetch_nbody1d",),
    guide="OpenMP Offload / Prefetching",
    lesson="Data that were asked for a tile ahead are there when they are needed, and nobody waits for memory.",
    presets={
        "smoke": {"n": (1 << 9, 509), "sources": 1 << 9},
        "default": {"n": {"cpu": 1 << 10, "gpu": fit(1 << 12, per_lane=1)}, "sources": 1 << 12},
        "guide": {"n": 4096, "sources": 32768},  # of the guide's published program
    },
    # Work-groups of 1024 in the guide (G 16221), which not every GPU allows. It sets a variable of its compiler to 16
    # lanes (G 16287); a kernel can require them. A device without 16 takes its largest.
    axes={"work_group_size": (512, 1024), "sub_group_size": "device"},
    requires=("sub_groups",),
    state="cold",  # the guide flushes the caches between its launches
    rtol=nbody.RTOL,
)


# microseconds of the kernel without and with prefetch to both caches
PREFETCHED = Figure(2035.72 / 1840.75, line="G 16322 to 16348", device="Max", inferred="G 11858 to 11861")


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
                for k in range(TILE):
                    next_tile[k] = sources[following + k]
            for k in range(TILE):
                force += pull(own, tile[k])
            for k in range(TILE):
                tile[k] = next_tile[k]
        forces[i] = SCALE * force


LINE = 16  # sources in a cache line of 64 bytes

# The kernel of ``nbody.add_forces`` again, in the language that has a prefetch. It brings a line.
ADD_FORCES_IN_OPENCL = (
    prefetch.PREFETCH_LINE
    + """
__attribute__((intel_reqd_sub_group_size(LANES)))
__kernel void add_forces(__global const float *targets, __global const float *sources, __global float *forces,
                         int n, int count) {
    const int i = get_global_id(0);
    if (i >= n)
        return;
    const float own = targets[i];
    float force = 0.0f, tile[TILE];
    for (int first = 0; first < count; first += TILE) {
        __attribute__((opencl_unroll_hint(TILE)))
        for (int k = 0; k < TILE; ++k) {
            tile[k] = sources[first + k];
#ifdef PREFETCH
            if (k % EVERY == 0 && first + TILE < count)
                PREFETCH_LINE(sources + first + TILE + k);
#endif
        }
        __attribute__((opencl_unroll_hint(TILE)))
        for (int k = 0; k < TILE; ++k) {
            const float delta = tile[k] - own, r2 = delta * delta, s = 1.0f / sqrt(r2 + SOFTENING);
            force += (s * s * s - (M0 + r2 * (M1 + r2 * (M2 + r2 * (M3 + r2 * (M4 + r2 * M5)))))) * delta;
        }
    }
    forces[i] = SCALE * force;
}
"""
)
NUMBERS = ("SOFTENING", "SCALE", "M0", "M1", "M2", "M3", "M4", "M5")


pattern.problem(nbody.cloud)
pattern.reference(nbody.forces_of)


def launcher(session, p, work_group_size, lanes, function):
    add = kernel(sub_group_size=lanes, **nbody.OPTIONS)(function)
    items = ceil_div(p.n, work_group_size) * work_group_size
    return lambda: session.launch(add, kapi.NdRange((items,), (work_group_size,)), p.targets, p.source_places, p.forces)


@pattern.naive
def tile_as_needed(session, p, work_group_size, sub_group_size):
    """A tile is loaded, then its forces are computed."""
    return launcher(session, p, work_group_size, sub_group_size, nbody.add_forces)


@pattern.optimized(claim=Claim("faster", on=("gpu",)))
def next_tile_in_registers(session, p, work_group_size, sub_group_size):
    """The next tile is loaded into registers while the forces of this one are computed."""
    return launcher(session, p, work_group_size, sub_group_size, add_forces_with_next_tile)


def launcher_in_opencl(session, p, work_group_size, lanes, *options):
    numbers = [f"-D{name}={float(getattr(nbody, name))!r}f" for name in NUMBERS]
    build_options = (f"-DTILE={TILE}", f"-DLANES={lanes}", *numbers, *options)
    add = opencl_kernel(ADD_FORCES_IN_OPENCL, build_options=build_options, relaxed_math=True)
    space = kapi.NdRange((ceil_div(p.n, work_group_size) * work_group_size,), (work_group_size,))
    return lambda: session.launch(add, space, p.targets, p.source_places, p.forces, p.n, p.source_places.size)


@pattern.baseline(against="tile_as_needed")
def tile_as_needed_in_opencl(session, p, work_group_size, sub_group_size):
    """The naive kernel in OpenCL C, for a comparison with the one that follows."""
    return launcher_in_opencl(session, p, work_group_size, sub_group_size)


@pattern.optimized(
    claim=(
        Claim(
            "faster",
            against="tile_as_needed_in_opencl",
            on=("gpu",),
            where={"work_group_size": 1024},
            figure=PREFETCHED,
        ),
        Claim(
            "faster",
            against="tile_as_needed_in_opencl",
            on=("gpu",),
            where={"work_group_size": 512},
            strength="implied",
            source="G 16218",
        ),
    ),
    requires=prefetch.REQUIRES,
)
def next_tile_prefetched(session, p, work_group_size, sub_group_size):
    """The lines of the next tile are asked for while this one is loaded: into both caches, which takes no registers."""
    return launcher_in_opencl(session, p, work_group_size, sub_group_size, "-DPREFETCH", f"-DEVERY={LINE}")


@pattern.antipattern(
    claim=Claim("slower", against="next_tile_prefetched", on=("gpu",), source="G 16268"), requires=prefetch.REQUIRES
)
def every_source_prefetched(session, p, work_group_size, sub_group_size):
    """A line is asked for by each of its sixteen sources, where one would do."""
    return launcher_in_opencl(session, p, work_group_size, sub_group_size, "-DPREFETCH", "-DEVERY=1")
