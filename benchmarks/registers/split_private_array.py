"""A private array of structures, or an array for each of their members: what the compiler can keep in registers."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi
from xebench.dpex import native

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="split_private_array",
    catalogue=("E23",),
    guide="Registers and Performance / Optimizing Register Spills",
    lesson="Four small private arrays fit into registers where one array of structures of four members does not.",
    presets={
        "smoke": {"n": (1 << 10, 3 * 256)},
        "default": {"n": {"cpu": 1 << 13, "gpu": fit(1 << 16, per_lane=0.5)}},
        "guide": {"n": 1 << 20},
    },
    own_sizes="the guide has the two declarations, and no program around them",
    axes={"work_group_size": (256,)},
    # Registers are a thread's: with half as many lanes each has twice as many, and the compiler chooses the lanes.
    requires=("sub_group_size=16",),
    rtol=1e-5,  # sums of up to 128 positive numbers in float32, in the same order
)

SAMPLES = 128  # of each work-item
CLASSES = 8  # as in the guide: an array of eight structures, or four arrays of eight numbers
MEMBERS = 4  # of a class's statistics: number, sum, sum of squares, largest


@kernel(sub_group_size=16)
def one_array(item: kapi.NdItem, classes, samples, statistics):
    i = item.get_global_id(0)
    own = kapi.PrivateArray((CLASSES, MEMBERS), np.float32, fill_zeros=True)
    for k in range(SAMPLES):
        c = classes[k, i]
        x = samples[k, i]
        own[c, 0] += np.float32(1)
        own[c, 1] += x
        own[c, 2] += x * x
        own[c, 3] = native.fmax(own[c, 3], x)  # one instruction; Python's max compares and selects
    for c in range(CLASSES):
        for member in range(MEMBERS):
            statistics[c, member, i] = own[c, member]


@kernel(sub_group_size=16)
def four_arrays(item: kapi.NdItem, classes, samples, statistics):
    i = item.get_global_id(0)
    number = kapi.PrivateArray(CLASSES, np.float32, fill_zeros=True)
    total = kapi.PrivateArray(CLASSES, np.float32, fill_zeros=True)
    squares = kapi.PrivateArray(CLASSES, np.float32, fill_zeros=True)
    largest = kapi.PrivateArray(CLASSES, np.float32, fill_zeros=True)
    for k in range(SAMPLES):
        c = classes[k, i]
        x = samples[k, i]
        number[c] += np.float32(1)
        total[c] += x
        squares[c] += x * x
        largest[c] = native.fmax(largest[c], x)
    for c in range(CLASSES):
        statistics[c, 0, i] = number[c]
        statistics[c, 1, i] = total[c]
        statistics[c, 2, i] = squares[c]
        statistics[c, 3, i] = largest[c]


@pattern.problem
def classified_samples(rng, n, work_group_size):
    if n % work_group_size:
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {work_group_size}")
    return Problem(
        classes=rng.integers(0, CLASSES, (SAMPLES, n), dtype=np.uint32),
        samples=rng.random((SAMPLES, n), np.float32),
        statistics=output((CLASSES, MEMBERS, n), np.float32),
        bytes_moved=4 * (2 * SAMPLES * n + CLASSES * MEMBERS * n),
        operations=5 * SAMPLES * n,
    )


@pattern.reference
def expected(p):
    statistics = np.empty((CLASSES, MEMBERS, p.n), np.float32)
    for c in range(CLASSES):
        samples = np.where(p.classes == c, p.samples, np.float32(0))
        statistics[c, 0] = (p.classes == c).sum(axis=0)
        statistics[c, 1] = samples.sum(axis=0)
        statistics[c, 2] = (samples * samples).sum(axis=0)
        statistics[c, 3] = samples.max(axis=0)
    return {"statistics": statistics}


def run(session, p, work_group_size, kernel_function):
    session.launch(kernel_function, kapi.NdRange((p.n,), (work_group_size,)), p.classes, p.samples, p.statistics)


@pattern.naive
def array_of_structures(session, p, work_group_size):
    """Eight classes with four members each in one private array: the data say which element is next (G 1895)."""
    run(session, p, work_group_size, one_array)


# The guide speaks of registers, so of code; messages are what memory in their place costs.
@pattern.optimized(
    claim=(
        Claim("spills", on=("gpu",), source="G 1890 to 1907"),
        Claim("messages", on=("gpu",), strength="implied", source="G 1890 to 1907"),
        Claim("faster", on=("gpu",), strength="implied", source="G 1890 to 1907"),
    )
)
def arrays_of_members(session, p, work_group_size):
    """An array of eight for each member (G 1901)."""
    run(session, p, work_group_size, four_arrays)


in_opencl(pattern, arrays_of_members)
