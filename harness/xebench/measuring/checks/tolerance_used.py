"""The largest part of the tolerance that a right result used."""

from __future__ import annotations

from xebench.measuring.checks import CheckedCall


def find(before: float | None, one: CheckedCall) -> float | None:
    """The larger one of the parts before and of this call."""
    if not one.is_right:
        return before
    return max(before or 0.0, *(each.tolerance_used for each in one.compared))
