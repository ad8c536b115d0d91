"""Private bins stay in registers only where they are few, small, and known to be nobody else's."""

import numpy as np

from xebench import Claim, Pattern, fit

from ..common import histograms
from ..common.histograms import count_privately_by, launcher
from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="private_histogram",
    catalogue=("E24",),
    guide="Registers and Performance / Optimizing Register Spills",
    lesson="32 private bins of 64 bits are too many for registers; none counts beyond 2048, so 32 bits are enough.",
    presets={
        "smoke": {"n": (1 << 15, 3 * 16384)},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 24, per_lane=64)}},
        "guide": {"n": 4096 * 4096},  # of the guide's published program
    },
    axes={"sub_group_size": "device", "work_group_size": (64,)},
    requires=("sub_groups",),
)

BINS = 32


@pattern.problem
def packed_numbers(rng, n):
    return histograms.packed_numbers(rng, n, BINS)


@pattern.reference
def expected(p):
    return histograms.counts_of(p.words, BINS)


@pattern.naive
def bins_of_64_bits(session, p, work_group_size, sub_group_size):
    """As wide as the words that are counted: 256 bytes a work-item, half of what a lane's registers hold."""
    return launcher(session, p, work_group_size, count_privately_by(BINS, sub_group_size, np.int64))


@pattern.optimized(
    claim=tuple(Claim(word, on=("gpu",), source="G 1968 to 1970") for word in ("faster", "spilling_kernels"))
)
def bins_of_32_bits(session, p, work_group_size, sub_group_size):
    """As wide as the largest count needs: 128 bytes a work-item."""
    return launcher(session, p, work_group_size, count_privately_by(BINS, sub_group_size, np.int32))


in_opencl(pattern, bins_of_32_bits)
