"""The column ``bandwidth_levels`` of the table `devices`: the bandwidth that a working set of a size is read with."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

#: Name of the level that is no cache.
MEMORY: Final = "memory"


@dataclass(frozen=True)
class Level:
    """Where a working set lies, and how fast it is read from there.

    Attributes:
        level: a cache, such as ``L2``, or `MEMORY`.
        working_set_bytes: what was read again and again.
        gbps: measured, in GB/s.
    """

    level: str
    working_set_bytes: int
    gbps: float


@functools.lru_cache(maxsize=8)
def levels_of(text: Any) -> Sequence[Level]:
    """The levels in the column, the smallest working set first; empty for a null."""
    return tuple(Level(**one) for one in json.loads(text)) if isinstance(text, str) else ()


def levels_text(levels: Sequence[Level]) -> str:
    """The column: a JSON list."""
    return json.dumps([asdict(level) for level in levels])
