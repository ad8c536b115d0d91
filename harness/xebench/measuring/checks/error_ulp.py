"""The largest error of a result against a reference in higher precision."""

from __future__ import annotations

from xebench.measuring.checks import CheckedCall


def find(before: float | None, one: CheckedCall) -> float | None:
    """The larger one of the errors before and of this call, in units in the last place."""
    return max((each for each in (before, one.error_ulp) if each is not None), default=None)
