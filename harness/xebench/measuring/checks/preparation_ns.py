"""The host time of a variant's preparation, outside of its samples."""

from __future__ import annotations

from xebench.measuring.checks import CheckedCall
from xebench.measuring.place import Started


def find(before: int | None, one: CheckedCall) -> int | None:
    """The shortest one of the first calls."""
    if not isinstance(one.call, Started):
        return before
    return min(one.call.preparation_ns, one.call.preparation_ns if before is None else before)
