"""Keep what is read together on few pages: the device must find the physical address of each page."""

import numpy as np

from xebench import Claim, Pattern, Problem, output

from ..common import chase

pattern = Pattern(
    name="tlb_misses",
    catalogue=("tlb_misses",),
    guide="Multi-GPU and Multi-Stack Architecture and Programming / GPU Memory System",
    lesson="The cache of addresses (TLB) holds few pages: a read of another waits longer, even if its line is cached.",
    presets={
        "smoke": {"pages": 61, "steps": 300},
        # 1 MiB of lines: more than a core's first cache, of 512 KiB on a Max, and less than the last one
        "default": {"pages": {"cpu": 1 << 12, "gpu": 1 << 13}, "steps": 20_001},
        "guide": {"pages": 1 << 13, "steps": 100_001},
    },
    own_sizes="the guide has no program",
    # Of ordinary pages, and of those that GPUs take for large arrays. A driver may take still larger ones for the
    # whole array (2 MiB): then there are fewer pages than lines, and less to see.
    axes={"page_kib": (4, 64)},
)

# The guide has about 150 cycles for a hit in the GPU's cache, and 50 to 150 that a miss in the TLB adds. A ratio of
# ranges is no figure.
CLAIM = Claim("faster", on=("gpu",), strength="implied", source="G 16607")


@pattern.problem
def two_rings(rng, pages, page_kib):
    # in another line of each page: at the same offset of all of them, they would fight for a few sets of the cache
    page = 256 * page_kib
    line_of_page = np.arange(pages) % (page // chase.LINE) * chase.LINE
    return Problem(
        scattered=chase.ring(rng, np.arange(pages) * page + line_of_page),
        packed=chase.ring(rng, chase.side_by_side(pages)),
        travelled=output(1, np.int32),
    )


@pattern.reference
def expected(p):
    return {"travelled": [p.steps % p.pages]}


@pattern.naive
def line_of_each_page(session, p):
    """As many lines as pages, in random order: every read needs another page."""
    return chase.chaser(session, p.scattered, p.steps, p.travelled, p.pages, p.pages)


@pattern.optimized(claim=CLAIM)
def lines_side_by_side(session, p):
    """As many lines, on few pages: the same cache holds them."""
    return chase.chaser(session, p.packed, p.steps, p.travelled, p.pages, p.pages)
