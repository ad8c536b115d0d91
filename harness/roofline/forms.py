"""The forms of each kernel among which the best is looked for: a few that suit wide and narrow devices."""

from __future__ import annotations

from typing import Final

#: Of a kernel that streams: elements of a vector, vectors of a work-item, work-items of a group. The first is tried on
#: every device first; a CPU's compiler wants single elements, a GPU's may want vectors.
STREAM_FORMS: Final = (
    (1, 1, 1024),
    (1, 1, 256),
    (1, 1, 64),
    (1, 1, 4096),
    (1, 4, 256),
    (1, 64, 16),
    (4, 1, 64),
    (4, 1, 256),
    (4, 4, 256),
)
#: Of the reading kernel, which writes one number for all that a work-item read; vectors are multiples of 4.
READ_FORMS: Final = (
    (1, 16, 1024),
    (1, 256, 16),
    (1, 16, 4096),
    (1, 16, 256),
    (4, 4, 256),
    (4, 16, 64),
    (4, 16, 256),
)
#: Of the random reader: work-items of a group, reads of a work-item.
RANDOM_FORMS: Final = ((256, 16), (64, 4), (64, 16), (256, 4), (1024, 16))
#: Of multiply-add: chains, unrolled steps (0: as the compiler likes), work-items of a group.
CHAIN_FORMS: Final = (
    (8, 0, 256),
    (8, 8, 256),
    (8, 0, 64),
    (8, 8, 1024),
    (16, 0, 256),
    (16, 4, 256),
    (16, 0, 64),
)
#: Of the local memory's reader: elements of a read, work-items of a group, bytes of the tile.
LOCAL_FORMS: Final = (
    (1, 256, 1 << 14),
    (1, 64, 1 << 14),
    (4, 256, 1 << 14),
    (4, 64, 1 << 14),
    (1, 1024, 1 << 14),
    (1, 16, 1 << 12),
)
#: Of atomic additions: work-items of a group.
ATOMIC_GROUPS: Final = (256, 64, 1024)
