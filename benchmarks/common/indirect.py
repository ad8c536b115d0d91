"""Values of a table by places that must be read first: the problem of the lessons on reading ahead."""

import numpy as np

from xebench import Problem, output

SUB_GROUP = 32  # the guide's programs require it: each sub-group reads a part of the places
ROOTS = 64  # for each value: the work that can hide a wait
VALUES = 1 << 20
LARGEST = 1024

#: Numbers of one sign are added: each of up to 2048 * 64 additions in float32 may be off by 2**-24.
RTOL = 8e-3


def table_and_places(rng, per_item, work_group_size, ahead=0):
    """The problem; places are [sub-group, step, lane], and each has ``ahead`` more of which no value is used."""
    places = rng.integers(0, VALUES, (work_group_size // SUB_GROUP, per_item + ahead, SUB_GROUP), dtype=np.int32)
    needed = places[:, :per_item]
    return Problem(
        places=places,
        values=rng.integers(0, LARGEST, VALUES).astype(np.float32),
        sums=output(work_group_size, np.float32),
        bytes_moved=4 * (needed.size + np.unique(needed).size + work_group_size),
        operations=3 * ROOTS * needed.size,  # an addition, a root, an addition
    )


def sums_of_roots(p):
    """The reference."""
    roots = np.sqrt(np.arange(LARGEST + ROOTS))
    sums = np.convolve(roots, np.ones(ROOTS), mode="valid")  # from each value on
    return {"sums": sums[p.values[p.places[:, : p.per_item]].astype(int)].sum(axis=1).ravel()}
