"""Share a histogram's bins among the lanes of a sub-group, so that they fit their registers."""

import numpy as np

from xebench import Claim, Pattern, fit

from ..common import histograms
from ..common.histograms import count_privately_by, count_together_by, launcher

pattern = Pattern(
    name="histogram_in_registers",
    catalogue=("E20", "E26", "E27"),
    guide="Registers and Performance / Sharing Registers in a Sub-group",
    lesson="256 bins a work-item spill to memory; 16 lanes that own 16 bins each keep the same 256 in registers.",
    claim=(
        Claim("faster", on=("gpu",), strength="implied", source="G 2191 to 2197"),
        Claim("spills", on=("gpu",), source="G 2191 to 2197"),
    ),
    presets={
        "smoke": {"n": (1 << 15, 3 << 14)},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 24, per_lane=64)}},
        "guide": {"n": 4096 * 4096},  # of the guide's published program
    },
    # Every bin has its owner: work-groups are a multiple of the sub-group's size, which divides the number of bins.
    axes={"sub_group_size": "device", "work_group_size": (64,)},
    requires=("sub_groups",),
)

BINS = 256


@pattern.problem
def packed_numbers(rng, n):
    return histograms.packed_numbers(rng, n, BINS)


@pattern.reference
def expected(p):
    return histograms.counts_of(p.words, BINS)


@pattern.naive
def bins_of_item(session, p, work_group_size, sub_group_size):
    """Every work-item has 256 bins of its own: 1 KB, more than its share of the registers."""
    return launcher(session, p, work_group_size, count_privately_by(BINS, sub_group_size, np.int32))


@pattern.optimized
def bins_of_sub_group(session, p, work_group_size, sub_group_size):
    """The sub-group has 256 bins, spread over its lanes; words are broadcast to the bins' owners."""
    return launcher(session, p, work_group_size, count_together_by(BINS, sub_group_size))
