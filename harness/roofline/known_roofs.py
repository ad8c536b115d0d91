"""The roofs that cases are placed under: those of this run, and those that were measured before with more patience."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.vocabulary import Roof


@dataclass(frozen=True)
class Known:
    """Roofs that were measured earlier.

    Attributes:
        roofs: by column; None where there is none.
        measured_utc: when.
    """

    roofs: Mapping[str, float | None]
    measured_utc: str


#: Looks them up for a row of the table ``devices``.
KnownRoofs = Callable[[Mapping[str, Any]], Known | None]


def unknown_roofs(device: Mapping[str, Any]) -> None:
    """Nothing was measured earlier."""


def with_known_roofs(measured: Mapping[str, Any], known: Known | None) -> dict[str, Any]:
    """What this run measured, with each roof raised to the one that is known: a roof is what the device can reach.

    Args:
        measured: columns of the table ``devices``.
        known: of the same device and driver; None if there are none.
    """
    merged = {**dict.fromkeys(roof.column for roof in Roof), **measured, "roofs_from": "this run"}
    if known is None:
        return merged
    for roof in Roof:
        earlier = known.roofs.get(roof.column)
        if earlier is not None and earlier > (merged[roof.column] or 0):
            merged |= {roof.column: earlier, "roofs_from": f"xebench roofline of {known.measured_utc}"}
    return merged
