"""The device memory that the preparation of a variant allocates."""

from __future__ import annotations

from xebench.measuring.checks import CheckedCall
from xebench.measuring.place import Started


def find(before: int | None, one: CheckedCall) -> int | None:
    """The bytes of the last first call."""
    return one.call.scratch_bytes if isinstance(one.call, Started) else before
