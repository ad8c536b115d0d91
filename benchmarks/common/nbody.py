"""Forces on particles of one dimension: every target adds up what all sources do to it, a tile of sources at a time.

The tile lies in a private array, which is full before the first of its forces is computed. It is the problem of the
guide's chapter on prefetching (G 16209 to 16544).
"""

import math

import numpy as np

from xebench import Problem, device_func, output
from xebench import kernel_api as kapi

TILE = 64  # sources
OPTIONS = {"relaxed_math": True, "unroll": "full"}  # of the guide's kernels: loops over a tile are unrolled (G 16252)

# The short-range part of gravity is what softened gravity has beyond this polynomial in the squared distance. Its
# last term as usual: the guide's listing lacks a factor (G 16259).
M0, M1, M2 = np.float32(0.269327), np.float32(-0.0750978), np.float32(0.0114808)
M3, M4, M5 = np.float32(-0.00109313), np.float32(0.0000605491), np.float32(-0.00000147177)
SOFTENING = np.float32(0.01)
SCALE = np.float32(0.23)
OPERATIONS = 20  # of a pair; a root and a division count as one each

PLACES = 1024  # so many different positions are possible: the reference computes each pair of them once
RTOL = 2e-3  # forces of one sign are added: each of up to 32768 additions in float32 may be off by 2**-24


@device_func
def pull(target, source):
    """The force of a source on a target."""
    delta = source - target
    r2 = delta * delta
    s = np.float32(1) / math.sqrt(r2 + SOFTENING)
    return (s * s * s - (M0 + r2 * (M1 + r2 * (M2 + r2 * (M3 + r2 * (M4 + r2 * M5)))))) * delta


def add_forces(item: kapi.NdItem, targets, sources, forces):
    """To be made a kernel with the lesson's options: ``kernel(sub_group_size=16, **OPTIONS)(add_forces)``."""
    i = item.get_global_id(0)
    if i < targets.shape[0]:
        own = targets[i]
        tile = kapi.PrivateArray(TILE, np.float32)
        force = np.float32(0)
        for first in range(0, sources.shape[0], TILE):
            for k in range(TILE):
                tile[k] = sources[first + k]
            for k in range(TILE):
                force += pull(own, tile[k])
        forces[i] = SCALE * force


def cloud(rng, n, sources):
    """``n`` targets left of all sources, so that no forces cancel and few are lost to rounding.

    Raises:
        ValueError: ``sources`` are no whole tiles.
    """
    if sources < 1 or sources % TILE:
        raise ValueError(f"sources={sources}: tiles must be whole, so give a multiple of {TILE}")
    return Problem(
        targets=(rng.integers(-PLACES, 0, n) / PLACES).astype(np.float32),
        source_places=(rng.integers(0, PLACES, sources) / PLACES).astype(np.float32),
        forces=output(n, np.float32),
        bytes_moved=4 * (n + sources + n),
        operations=OPERATIONS * n * sources + n,
    )


def forces_of(p):
    """The reference: in float64, from each place that a target can have to each that a source can have."""
    targets = np.arange(-PLACES, 0) / PLACES
    delta = np.arange(PLACES) / PLACES - targets[:, None]
    r2 = delta * delta
    polynomial = np.polynomial.polynomial.polyval(r2, [M0, M1, M2, M3, M4, M5])
    pulls = (1 / np.sqrt(r2 + SOFTENING) ** 3 - polynomial) * delta
    sources_at = np.bincount(np.round(p.source_places * PLACES).astype(int), minlength=PLACES)
    by_place = SCALE * (pulls @ sources_at)
    return {"forces": by_place[np.round(p.targets * PLACES).astype(int) + PLACES].astype(np.float32)}
