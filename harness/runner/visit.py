"""What a run has of a family between two passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: Rows of the table ``cases`` by variant.
Rows = dict[str, dict[str, Any]]


@dataclass
class Visit:
    """What a run has of a family.

    Attributes:
        rows: of its cases.
        next_block, next_instance: numbers that are not taken yet.
        spent_s: seconds of sampling in all passes so far.
        earlier: log speed-ups of the instances so far, by state of the caches.
    """

    rows: Rows
    next_block: int
    next_instance: int = 0
    spent_s: float = 0.0
    earlier: dict[str, list[Mapping[str, Sequence[float]]]] = field(default_factory=dict)
