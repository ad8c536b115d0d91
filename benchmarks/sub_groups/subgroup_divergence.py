"""Let all lanes of a sub-group take the same branch."""

import math

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="subgroup_divergence",
    catalogue=("E04",),
    guide="Sub-Groups and SIMD Vectorization / Vectorization and Memory Access",
    lesson="Where the lanes of a sub-group take different branches, the thread executes both, one after the other.",
    claim=Claim("faster", on=("gpu",), source="G 1155"),
    presets={
        "smoke": {"n": (1 << 13, 31 << 8), "steps": 128},
        "default": {"n": {"cpu": 1 << 17, "gpu": fit(1 << 21, per_lane=8)}, "steps": 256},
        "guide": {"n": 1 << 20, "steps": 1024},
    },
    own_sizes="the guide gives no sizes for this",
    # Elements of one parity are taken together by this many work-items: no less than any sub-group's size.
    axes={"run_length": (64,), "work_group_size": (256,)},
)

# Even and odd elements go through the same arithmetic with constants of their own.
EVEN_FACTOR, EVEN_MASK = 1664525, 0x3C6EF35F
ODD_FACTOR, ODD_MASK = 22695477, 0x1B873593


@kernel
def branch_by_lane(item: kapi.NdItem, x, y, steps):
    i = item.get_global_id(0)
    value = x[i]
    if i % 2 == 0:
        for _ in range(steps):
            value = np.int32(np.int32(value * np.int32(EVEN_FACTOR)) ^ np.int32(EVEN_MASK))
    else:
        for _ in range(steps):
            value = np.int32(np.int32(value * np.int32(ODD_FACTOR)) ^ np.int32(ODD_MASK))
    y[i] = value


@kernel
def select_by_lane(item: kapi.NdItem, x, y, steps):
    i = item.get_global_id(0)
    value = x[i]
    factor = np.int32(EVEN_FACTOR) if i % 2 == 0 else np.int32(ODD_FACTOR)
    mask = np.int32(EVEN_MASK) if i % 2 == 0 else np.int32(ODD_MASK)
    for _ in range(steps):
        value = np.int32(np.int32(value * factor) ^ mask)
    y[i] = value


def branch_by_run_of(run_length):
    """The kernel with ``run_length`` as a constant: no divisions remain."""

    @kernel
    def branch_by_run(item: kapi.NdItem, x, y, steps):
        # of each two runs of elements, the first run of items takes the even ones, the second the odd ones
        place = item.get_global_id(0)
        parity = place // run_length % 2
        i = place // (2 * run_length) * 2 * run_length + place % run_length * 2 + parity
        value = x[i]
        if parity == 0:
            for _ in range(steps):
                value = np.int32(np.int32(value * np.int32(EVEN_FACTOR)) ^ np.int32(EVEN_MASK))
        else:
            for _ in range(steps):
                value = np.int32(np.int32(value * np.int32(ODD_FACTOR)) ^ np.int32(ODD_MASK))
        y[i] = value

    return branch_by_run


@pattern.problem
def integers(rng, n, steps, run_length, work_group_size):
    whole = math.lcm(2 * run_length, work_group_size)
    if n % whole:
        raise ValueError(f"n={n}: runs and work-groups must be whole, so give a multiple of {whole}")
    return Problem(
        x=rng.integers(-(1 << 31), 1 << 31, n, dtype=np.int32),
        y=output(n, np.int32),
        bytes_moved=8 * n,
        operations=2 * n * steps,
        operation_kind="int32",
    )


@pattern.reference
def expected(p):
    # 32-bit arithmetic wraps in numpy as it does on the device
    odd = np.arange(p.n) % 2 == 1
    factor = np.where(odd, ODD_FACTOR, EVEN_FACTOR).astype(np.int32)
    mask = np.where(odd, ODD_MASK, EVEN_MASK).astype(np.int32)
    value = p.x.copy()
    for _ in range(p.steps):
        value *= factor
        value ^= mask
    return {"y": value}


@pattern.naive
def branch_by_parity(session, p, work_group_size):
    """Item i takes element i; even and odd lanes take different branches."""
    session.launch(branch_by_lane, kapi.NdRange((p.n,), (work_group_size,)), p.x, p.y, p.steps)


@pattern.optimized
def uniform_branch(session, p, work_group_size, run_length):
    """The elements are dealt out so that all items of a run have one parity and take one branch."""
    kernel = branch_by_run_of(run_length)
    return lambda: session.launch(kernel, kapi.NdRange((p.n,), (work_group_size,)), p.x, p.y, p.steps)


# "In general", such a branch less "can help" (G 1434).
@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 1432 to 1434"))
def no_branch(session, p, work_group_size):
    """Item i takes element i; it chooses constants, not a branch."""
    session.launch(select_by_lane, kapi.NdRange((p.n,), (work_group_size,)), p.x, p.y, p.steps)


in_opencl(pattern, no_branch)
