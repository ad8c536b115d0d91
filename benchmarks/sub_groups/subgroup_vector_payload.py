"""Move four neighbouring elements of each work-item with one memory operation."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi
from xebench.dpex import vector

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="subgroup_vector_payload",
    catalogue=("E14",),
    guide="Sub-Groups and SIMD Vectorization / Maximizing Memory Bandwidth Utilization",
    lesson="One 4-byte element a lane leaves bandwidth unused: let each lane load and store four in one operation.",
    presets={
        "smoke": {"n": (1 << 19, 127 << 12)},
        "default": {"n": {"cpu": 1 << 23, "gpu": fit(1 << 25, bytes_each=8)}},
        "guide": {"n": 1024 * 1024},
    },
    # Lanes to interleave by, the same in all variants; a sub-group need not have as many.
    # The guide's work-groups are of 32 items.
    axes={"interleave": (16,), "work_group_size": (256, 32)},
)

PER_ITEM = 16  # elements that each work-item copies
PAYLOAD = 4  # elements in one operation of a work-item, as in the guide


def copy_ones_by(interleave):
    """The kernel with ``interleave`` as a constant, as a sub-group size is to the compiler: no divisions remain."""

    @kernel
    def copy_ones(item: kapi.NdItem, x, y):
        i = item.get_global_id(0)
        first = i // interleave * interleave * PER_ITEM + i % interleave
        for k in range(PER_ITEM):
            y[first + k * interleave] = x[first + k * interleave]

    return copy_ones


def copy_fours_by(interleave):
    """As above; four loads in a row, then four stores, are for the compiler to join."""

    @kernel
    def copy_fours(item: kapi.NdItem, x, y):
        i = item.get_global_id(0)
        first = i // interleave * interleave * PER_ITEM + i % interleave * PAYLOAD
        for k in range(PER_ITEM // PAYLOAD):
            j = first + k * interleave * PAYLOAD
            x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
            y[j] = x0
            y[j + 1] = x1
            y[j + 2] = x2
            y[j + 3] = x3

    return copy_fours


def copy_vectors_by(interleave, payload=PAYLOAD):
    """As above, of any payload; loads and stores are joined already, and the compiler may rely on their alignment."""
    load, store = getattr(vector, f"load{payload}"), getattr(vector, f"store{payload}")

    @kernel
    def copy_vectors(item: kapi.NdItem, x, y):
        i = item.get_global_id(0)
        first = i // interleave * interleave * PER_ITEM + i % interleave * payload
        for k in range(PER_ITEM // payload):
            j = first + k * interleave * payload
            store(y, j, load(x, j))

    return copy_vectors


@pattern.problem
def integers(rng, n, work_group_size):
    if n % (PER_ITEM * work_group_size):
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {PER_ITEM * work_group_size}")
    return Problem(x=rng.integers(0, 1 << 30, n, dtype=np.int32), y=output(n, np.int32), bytes_moved=8 * n)


@pattern.reference
def expected(p):
    return {"y": p.x}


def copying(session, p, work_group_size, kernel_of_copy):
    items = kapi.NdRange((p.n // PER_ITEM,), (work_group_size,))
    return lambda: session.launch(kernel_of_copy, items, p.x, p.y)


# "Can potentially increase register pressure", says G 1299 of vectors: how many they take is a question of ours.
@pattern.naive(claim=Claim("registers", against="vector_of_sixteen", on=("gpu",)))
def one_element(session, p, work_group_size, interleave):
    """16 steps, each of one element per lane, neighbouring lanes side by side."""
    return copying(session, p, work_group_size, copy_ones_by(interleave))


@pattern.intermediate(claim=Claim("faster", on=("gpu",)))
def four_elements(session, p, work_group_size, interleave):
    """Four steps, each of four neighbouring elements per lane, one after the other in the source."""
    return copying(session, p, work_group_size, copy_fours_by(interleave))


@pattern.optimized(
    claim=(
        # a message of four elements a lane takes 12 cycles, one of one element 6 (G 16624): half as many cycles
        Claim("faster", on=("gpu",), source="G 1253 to 1255"),
        Claim("messages", at_least=4, on=("gpu",), source="G 1295"),
    )
)
def vector_of_four(session, p, work_group_size, interleave):
    """Four steps, each with a vector of four elements per lane."""
    return copying(session, p, work_group_size, copy_vectors_by(interleave))


# Longer ones are for finding the best (G 1297).
@pattern.intermediate
def vector_of_eight(session, p, work_group_size, interleave):
    """Two steps, each with a vector of eight elements per lane."""
    return copying(session, p, work_group_size, copy_vectors_by(interleave, 8))


@pattern.intermediate
def vector_of_sixteen(session, p, work_group_size, interleave):
    """One step with a vector of sixteen elements per lane."""
    return copying(session, p, work_group_size, copy_vectors_by(interleave, 16))


in_opencl(pattern, vector_of_four)
