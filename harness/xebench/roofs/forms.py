"""The forms of each probe's kernel, what it must compute, and how much work that is.

All data are small integers, so that every float sum is exact in any order.

The first number of each is its work-group. A quick look tries the first ones, the most likely, and no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeVar

import numpy as np

from xebench.system.sycl_types import Array

#: The inputs of the bandwidth kernels repeat every so many elements.
PERIOD: Final = 16

SCALE: Final = 3
#: Factor of the integer recurrence; that of the floats is 1.
INTEGER_FACTOR: Final = 3
#: Shifts and factors of the hash that scatters reads (Chris Wellons' lowbias32), and its last shift.
HASH: Final = ((16, 0x7FEB352D), (15, 0x846CA68B))

LAST_SHIFT: Final = 16
#: Distance in bytes of two places of the ring of a pointer chase: no two share a cache line on the devices known.
LINE_BYTES: Final = 128

PER_LINE: Final = LINE_BYTES // 4


def stream_inputs() -> tuple[Array, Array]:
    """One period of STREAM's two inputs."""
    steps = np.arange(PERIOD, dtype=np.float32)
    return steps + 1, 2 * steps + 3


def stream_result(operation: str) -> Array:
    """One period of what a STREAM kernel (copy, scale, add, triad) writes."""
    b, c = stream_inputs()
    return np.asarray({"copy": b, "scale": SCALE * b, "add": b + c, "triad": b + SCALE * c}[operation], np.float32)


def stream_bytes(operation: str, elements: int) -> int:
    """Bytes that a STREAM kernel moves as STREAM counts: what it reads and writes, no lines that a cache fetches."""
    return 4 * elements * (3 if operation in ("add", "triad") else 2)


def read_sums(width: int, vectors: int, group: int) -> Array:
    """The sums of the work-items of each group of the reading kernel.

    A work-item reads ``vectors`` vectors of ``width`` elements, each ``width * group`` elements beyond the last one.
    """
    b, _ = stream_inputs()
    vector, item, element = np.ogrid[:vectors, :group, :width]
    read = b[(vector * width * group + width * item + element) % PERIOD]
    return np.asarray(read.sum(axis=(0, 2)), np.float32)


def random_sums(items: int, reads: int, mask: int) -> Array:
    """The sum of each work-item of the random reader in a table of 0, 1, 2, ...: the sum of its places."""
    total = np.zeros(items, np.uint32)
    first = np.arange(items, dtype=np.uint32) * np.uint32(reads)
    for read in range(reads):
        total += scattered(first + np.uint32(read)) & np.uint32(mask)
    return total


def scattered(x: Array) -> Array:
    """The hash of each number, as the kernel computes it."""
    for shift, factor in HASH:
        x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)
    return np.asarray(x ^ (x >> np.uint32(LAST_SHIFT)))


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


def global_counts(items: int, additions: int, counters: int) -> Array:
    """The counters after ``additions`` by each of ``items``, which take the counters in turn."""
    return np.bincount(np.arange(items) % counters, minlength=counters).astype(np.int32) * np.int32(additions)


def local_counts(group: int, additions: int, contended: bool) -> Array:
    """The counters of a work-group, one for each work-item; ``contended``: all add to the first."""
    counts = np.full(group, 0 if contended else additions, np.int32)
    if contended:
        counts[0] = group * additions
    return counts


def ring_order(lines: int, seed: int) -> Array:
    """The lines in the order in which a pointer chase visits them: each once, at random."""
    return np.random.default_rng(seed).permutation(lines).astype(np.uint32)


def ring_of(order: Array) -> Array:
    """The ring as it lies in memory: at the start of each line stands the index of the next one's start."""
    ring = np.zeros(order.size * PER_LINE, np.uint32)
    ring[order.astype(np.int64) * PER_LINE] = np.roll(order, -1) * np.uint32(PER_LINE)
    return ring


AnyForm = TypeVar("AnyForm", bound=tuple[int, ...])

#: A work-group of one vector.
CPU_GROUP: Final = 16

#: The best forms of the streaming and the reading kernel on a large GPU (an H200): a quick look tries them first.
GPU_BEST: Final = frozenset({(256, 1, 4), (256, 4, 1), (256, 2, 4), (256, 8, 4), (256, 16, 4)})

#: Forms of a kernel that streams: work-items of a group, vectors of a work-item, elements of a vector. Single
#: elements suit a CPU's compiler, vectors may suit a GPU's. The first of them are unlike one another: a run may try no
#: others on large arrays.
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
#: Forms of the reader of a working set: work-items of a group, vectors of a work-item. All read blocks of one size.
AGAIN_FORMS: Final = ((256, 16), (16, 256), (64, 64))
#: Forms of the random reader: work-items of a group, reads of a work-item.
RANDOM_FORMS: Final = ((256, 16), (64, 4), (64, 16), (256, 4), (1024, 16))
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
#: Forms of atomic additions: work-items of a group.
ATOMIC_FORMS: Final = ((256,), (64,), (1024,))


def gpu_first(forms: Sequence[AnyForm], *, is_gpu: bool) -> Sequence[AnyForm]:
    """The forms with those first that were the best of a GPU, if it is one."""
    return sorted(forms, key=lambda form: form not in GPU_BEST) if is_gpu else forms


def cpu_first(forms: Sequence[AnyForm], *, is_cpu: bool) -> Sequence[AnyForm]:
    """The forms with those first that suit a CPU only, if it is one: work-groups of one vector."""
    return sorted(forms, key=lambda form: form[0] != CPU_GROUP) if is_cpu else forms
