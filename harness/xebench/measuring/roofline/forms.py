"""The forms of each kernel among which the best is looked for: a few that suit wide and narrow devices.

The first number of each is its work-group. A quick look tries the first ones, the most likely, and no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

AnyForm = TypeVar("AnyForm", bound=tuple[int, ...])

#: A work-group of one vector.
CPU_GROUP: Final = 16

#: Of the streaming and the reading kernel: the best of a large GPU (an H200), which a quick look at a GPU tries first.
GPU_BEST: Final = frozenset({(256, 1, 4), (256, 4, 1), (256, 16, 4)})

#: Of a kernel that streams: work-items of a group, vectors of a work-item, elements of a vector. A CPU's compiler wants
#: single elements, a GPU's may want vectors.
STREAM_FORMS: Final = (
    (1024, 1, 1),
    (256, 1, 1),
    (64, 1, 1),
    (4096, 1, 1),
    (256, 4, 1),
    (16, 64, 1),
    (64, 1, 4),
    (256, 1, 4),
    (256, 4, 4),
)
#: Of the reading kernel, which writes one number for all that a work-item read; vectors are multiples of 4.
#: Groups of one vector, which go through memory in order, suit a CPU only.
READ_FORMS: Final = (
    (1024, 16, 1),
    (256, 16, 1),
    (16, 256, 1),
    (4096, 16, 1),
    (256, 4, 4),
    (64, 16, 4),
    (256, 16, 4),
)
#: Of the reader of a working set: work-items of a group, vectors of a work-item. All read blocks of the same size.
AGAIN_FORMS: Final = ((256, 16), (16, 256), (64, 64))
#: Of the random reader: work-items of a group, reads of a work-item.
RANDOM_FORMS: Final = ((256, 16), (64, 4), (64, 16), (256, 4), (1024, 16))
#: Of multiply-add: work-items of a group, chains, unrolled steps (0: as the compiler likes).
CHAIN_FORMS: Final = (
    (256, 16, 4),
    (1024, 8, 8),
    (256, 16, 0),
    (256, 8, 0),
    (256, 8, 8),
    (64, 8, 0),
    (64, 16, 0),
)
#: Of the local memory's reader: work-items of a group, elements of a read, bytes of the tile.
LOCAL_FORMS: Final = (
    (64, 1, 1 << 14),
    (256, 1, 1 << 14),
    (256, 4, 1 << 14),
    (64, 4, 1 << 14),
    (1024, 1, 1 << 14),
    (16, 1, 1 << 12),
)
#: Of atomic additions: work-items of a group.
ATOMIC_FORMS: Final = ((256,), (64,), (1024,))


def gpu_first(forms: Sequence[AnyForm], *, is_gpu: bool) -> Sequence[AnyForm]:
    """The forms with those first that were the best of a GPU, if it is one."""
    return sorted(forms, key=lambda form: form not in GPU_BEST) if is_gpu else forms


def cpu_first(forms: Sequence[AnyForm], *, is_cpu: bool) -> Sequence[AnyForm]:
    """The forms with those first that suit a CPU only, if it is one: work-groups of one vector."""
    return sorted(forms, key=lambda form: form[0] != CPU_GROUP) if is_cpu else forms
