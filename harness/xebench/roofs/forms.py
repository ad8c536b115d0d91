"""The forms of each probe's kernel, what it must compute, and how much work that is.

All data are small integers, so that every float sum is exact in any order.

The first number of each is its work-group.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from numba_sycl.sycl_types import Array

#: The inputs of the bandwidth kernels repeat every so many elements.
PERIOD: Final = 16

SCALE: Final = 3
#: Factor of the integer recurrence; that of the floats is 1.
INTEGER_FACTOR: Final = 3


def stream_inputs() -> tuple[Array, Array]:
    """One period of STREAM's two inputs."""
    steps = np.arange(PERIOD, dtype=np.float32)
    return steps + 1, 2 * steps + 3


def stream_result(operation: str) -> Array:
    """One period of what a STREAM kernel (copy, triad) writes."""
    b, c = stream_inputs()
    return np.asarray({"copy": b, "triad": b + SCALE * c}[operation], np.float32)


def stream_bytes(operation: str, elements: int) -> int:
    """Bytes that a STREAM kernel moves as STREAM counts: what it reads and writes, no lines that a cache fetches."""
    return 4 * elements * (3 if operation == "triad" else 2)


def read_sums(width: int, vectors: int, group: int) -> Array:
    """The sums of the work-items of each group of the reading kernel.

    A work-item reads ``vectors`` vectors of ``width`` elements, each ``width * group`` elements beyond the last one.
    """
    b, _ = stream_inputs()
    vector, item, element = np.ogrid[:vectors, :group, :width]
    read = b[(vector * width * group + width * item + element) % PERIOD]
    return np.asarray(read.sum(axis=(0, 2)), np.float32)


def chain_operations(items: int, chains: int, steps: int) -> int:
    """The operations of a launch of multiply-add chains: a multiplication and an addition a step."""
    return 2 * items * chains * steps


def chain_starts(items: int, dtype: Any) -> Array:
    """The start values of each work-item's chains: 1 and 2 in turn."""
    return np.asarray(1 + np.arange(items) % 2, dtype)


def chain_sums(start: Array, chains: int, steps: int) -> Array:
    """The result of each work-item: the sum of its chains, of which number k starts at (k + 1) * start.

    A step is ``x = x * factor + start``; factor 1 for floats, 3 for integers.
    """
    first = chains * (chains + 1) // 2
    if start.dtype.kind == "f":
        return np.asarray(start * start.dtype.type(first + chains * steps))
    # x after n steps: 3**n * x + start * (3**n - 1) / 2; one more bit survives the halving
    unsigned = np.dtype(f"u{start.itemsize}")
    bits = 8 * start.itemsize
    power = pow(INTEGER_FACTOR, steps, 1 << (bits + 1))
    per_start = (first * power + chains * ((power - 1) // 2)) % (1 << bits)
    return np.asarray((start.astype(unsigned) * unsigned.type(per_start)).view(start.dtype))


def local_sums(width: int, group: int, rounds: int, passes: int) -> Array:
    """The sums of the work-items of a group over their tile, whose element number j is 1 + j modulo 4.

    In each pass a work-item reads ``rounds`` times ``width`` elements; ``group`` is a multiple of 4.
    """
    per_pass = 1 + np.arange(group) % 4 if width == 1 else np.full(group, 1 + 2 + 3 + 4)
    return np.asarray(passes * rounds * per_pass, np.float32)


#: Forms of a kernel that streams: work-items of a group, vectors of a work-item, elements of a vector. Single
#: elements suit a CPU's compiler, vectors may suit a GPU's. The first of them are unlike one another: on large arrays
#: there may be no time for others.
STREAM_FORMS: Final = (
    (1024, 1, 1),
    (4096, 1, 1),
    (256, 4, 4),
    (16, 64, 1),
    (256, 1, 1),
    (256, 4, 1),
    (256, 1, 4),
    (64, 1, 4),
    (64, 1, 1),
)
#: Forms of the reading kernel; vectors of single elements are multiples of 4. Where a work-item reads little, the last
#: work-groups of a large GPU are soon done.
#: Groups of one vector, which go through memory in order, suit a CPU only.
READ_FORMS: Final = (
    (1024, 16, 1),
    (256, 16, 1),
    (16, 256, 1),
    (4096, 16, 1),
    (256, 4, 4),
    (64, 16, 4),
    (256, 2, 4),
    (256, 8, 4),
    (256, 16, 4),
)
#: Forms of the reader of a working set, by whether the device is a CPU: work-items of a group, vectors of a work-item.
#: On a CPU the vectors of a work-group lie far apart, unless the group is one vector wide.
AGAIN_FORM: Final = {True: (16, 256), False: (256, 16)}
#: Forms of multiply-add: work-items of a group, chains, unrolled steps (0: as the compiler likes).
CHAIN_FORMS: Final = (
    (256, 16, 4),
    (1024, 8, 8),
    (256, 16, 0),
    (256, 8, 0),
    (256, 8, 8),
    (64, 8, 0),
    (64, 16, 0),
)
#: Forms of the local memory's reader: work-items of a group, elements of a read, bytes of the tile.
LOCAL_FORMS: Final = (
    (64, 1, 1 << 14),
    (256, 1, 1 << 14),
    (256, 4, 1 << 14),
    (64, 4, 1 << 14),
    (1024, 1, 1 << 14),
    (16, 1, 1 << 12),
)
