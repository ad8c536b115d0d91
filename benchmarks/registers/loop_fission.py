"""One loop with 64 sums, or four loops with 16 each: how many variables are alive at a time."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="loop_fission",
    catalogue=("E23",),
    guide="Registers and Performance / Optimizing Register Spills",
    lesson="A loop that does many things needs registers for all of them at once: break it into several.",
    presets={
        "smoke": {"n": (1 << 10, 3 * 256)},
        "default": {"n": {"cpu": 1 << 13, "gpu": fit(1 << 16, per_lane=1)}},
        "guide": {"n": 1 << 20},
    },
    own_sizes="the guide has no program for this advice",
    axes={"work_group_size": (256,)},
    rtol=1e-5,  # sums of 64 positive numbers, in float32
)

SAMPLES = 64  # of each work-item's series
FILTERS = 64  # as many sums as a lane of 32 has registers


def apply_filters_by(at_a_time):
    """The kernel: the inner product of a series with each filter, so many filters in one loop over the series.

    Loops over the sums are unrolled, so that each sum can have its register.
    """

    @kernel(unroll="full")
    def apply_filters(item: kapi.NdItem, series, filters, y):
        i = item.get_global_id(0)
        for first in range(0, FILTERS, at_a_time):
            sums = kapi.PrivateArray(at_a_time, np.float32, fill_zeros=True)
            for k in range(series.shape[0]):
                x = series[k, i]
                for f in range(at_a_time):
                    sums[f] += x * filters[k, first + f]
            for f in range(at_a_time):
                y[first + f, i] = sums[f]

    return apply_filters


@pattern.problem
def series_and_filters(rng, n, work_group_size):
    if n % work_group_size:
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {work_group_size}")
    return Problem(
        series=rng.random((SAMPLES, n), np.float32),
        filters=rng.random((SAMPLES, FILTERS), np.float32),
        y=output((FILTERS, n), np.float32),
        bytes_moved=4 * (SAMPLES * n + SAMPLES * FILTERS + FILTERS * n),
        operations=2 * SAMPLES * FILTERS * n,
    )


@pattern.reference
def expected(p):
    return {"y": p.filters.T @ p.series}


def run(session, p, work_group_size, at_a_time):
    apply_filters = apply_filters_by(at_a_time)
    items = kapi.NdRange((p.n,), (work_group_size,))
    return lambda: session.launch(apply_filters, items, p.series, p.filters, p.y)


# Where registers are short the compiler can choose fewer lanes instead of memory.
@pattern.naive(claim=Claim("lanes", against="four_loops", on=("gpu",), strength="implied", source="G 1592"))
def one_loop(session, p, work_group_size):
    """Each sample is read once, for all filters: 64 sums are alive."""
    return run(session, p, work_group_size, FILTERS)


@pattern.optimized(
    claim=tuple(Claim(word, on=("gpu",), strength="implied", source="G 1909") for word in ("spills", "faster"))
)
def four_loops(session, p, work_group_size):
    """Each sample is read four times, for 16 filters each."""
    return run(session, p, work_group_size, FILTERS // 4)


in_opencl(pattern, four_loops)
