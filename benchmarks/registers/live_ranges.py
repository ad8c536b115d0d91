"""Two ways to need fewer registers for a value that is used twice: compute it again, or read it again."""

import numpy as np

from xebench import Claim, Pattern, Problem, device_func, fit, kernel, output
from xebench import kernel_api as kapi

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="live_ranges",
    catalogue=("E23",),
    guide="Registers and Performance / Optimizing Register Spills",
    lesson="Registers hold what is still needed: compute again what is cheap to compute, and read a value late.",
    presets={
        "smoke": {"n": (1 << 10, 3 * 256)},
        "default": {"n": {"cpu": 1 << 16, "gpu": fit(1 << 16, per_lane=2)}},
        "guide": {"n": 1 << 20},
    },
    own_sizes="the guide names the techniques and has no program",
    axes={"work_group_size": (256,)},
    rtol=1e-4,  # two sums of 64 positive numbers each, in float32
)

SAMPLES = 64  # of each work-item's series; with as many weights they are twice what a lane of 32 has of registers
PART = 1 << 12  # items that numpy works on at once


@device_func
def weight(k, centre):
    """The weight of sample ``k``, which falls with its distance from the centre: three operations, from 1 to 65."""
    return np.float32(SAMPLES + 1) - abs(np.float32(k) - centre)


# The mean is stored between the two passes: for all that the compiler can see, that changes the series and the centre,
# so that it cannot keep by itself what a kernel reads or computes again.


@kernel(unroll="full")  # so that elements of private arrays have places that the compiler knows
def keep_all(item: kapi.NdItem, series, centres, means, variances):
    i = item.get_global_id(0)
    samples, weights = kapi.PrivateArray(SAMPLES, np.float32), kapi.PrivateArray(SAMPLES, np.float32)
    total, mean, variance = np.float32(0), np.float32(0), np.float32(0)
    for k in range(SAMPLES):
        samples[k] = series[k, i]
        weights[k] = weight(k, centres[i])
        total += weights[k]
        mean += weights[k] * samples[k]
    mean /= total
    means[i] = mean
    for k in range(SAMPLES):
        deviation = samples[k] - mean
        variance += weights[k] * deviation * deviation
    variances[i] = variance / total


@kernel(unroll="full")
def recompute_weights(item: kapi.NdItem, series, centres, means, variances):
    i = item.get_global_id(0)
    samples = kapi.PrivateArray(SAMPLES, np.float32)
    total, mean, variance = np.float32(0), np.float32(0), np.float32(0)
    for k in range(SAMPLES):
        samples[k] = series[k, i]
        total += weight(k, centres[i])
        mean += weight(k, centres[i]) * samples[k]
    mean /= total
    means[i] = mean
    for k in range(SAMPLES):
        deviation = samples[k] - mean
        variance += weight(k, centres[i]) * deviation * deviation
    variances[i] = variance / total


@kernel(unroll=4)  # no private array, so that no loop has to vanish: unrolled fully, all samples are read ahead
def read_again(item: kapi.NdItem, series, centres, means, variances):
    i = item.get_global_id(0)
    total, mean, variance = np.float32(0), np.float32(0), np.float32(0)
    for k in range(SAMPLES):
        total += weight(k, centres[i])
        mean += weight(k, centres[i]) * series[k, i]
    mean /= total
    means[i] = mean
    for k in range(SAMPLES):
        deviation = series[k, i] - mean
        variance += weight(k, centres[i]) * deviation * deviation
    variances[i] = variance / total


@pattern.problem
def series_of_samples(rng, n, work_group_size):
    if n % work_group_size:
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {work_group_size}")
    return Problem(
        series=rng.random((SAMPLES, n), np.float32),
        centres=(SAMPLES * rng.random(n, np.float32)),
        means=output(n, np.float32),
        variances=output(n, np.float32),
        bytes_moved=4 * (SAMPLES * n + n + 2 * n),
        operations=(3 + 3 + 4) * SAMPLES * n + 2 * n,
    )


@pattern.reference
def expected(p):
    means, variances = np.empty((2, p.n), np.float32)
    for begin in range(0, p.n, PART):
        part = slice(begin, begin + PART)
        weights = SAMPLES + 1 - abs(np.arange(SAMPLES)[:, None] - p.centres[part].astype(np.float64))
        mean = np.average(p.series[:, part], axis=0, weights=weights)
        means[part] = mean
        variances[part] = np.average((p.series[:, part] - mean) ** 2, axis=0, weights=weights)
    return {"means": means, "variances": variances}


def run(session, p, work_group_size, moments):
    session.launch(moments, kapi.NdRange((p.n,), (work_group_size,)), p.series, p.centres, p.means, p.variances)


def lower_pressure(line, against=""):
    """The guide says that the technique reduces register pressure; that this is faster is what it is for."""
    return (
        Claim("spills", against=against, on=("gpu",), source=line),
        Claim("faster", against=against, on=("gpu",), strength="implied", source=line),
    )


@pattern.naive
def all_kept(session, p, work_group_size):
    """Samples are read once, weights computed once; 128 values wait for the second pass."""
    run(session, p, work_group_size, keep_all)


@pattern.intermediate(claim=lower_pressure("G 1875, 1889"))
def weights_recomputed(session, p, work_group_size):
    """Both passes compute each weight, which is cheap; 64 samples wait."""
    run(session, p, work_group_size, recompute_weights)


@pattern.optimized(claim=lower_pressure("G 1875 to 1879", against="weights_recomputed"))
def samples_read_late(session, p, work_group_size):
    """Short live ranges: both passes read each sample where they need it. It comes from the cache then."""
    run(session, p, work_group_size, read_again)


in_opencl(pattern, samples_read_late)
