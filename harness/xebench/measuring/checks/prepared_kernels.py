"""The kernels that the preparation of a variant submits, outside of its samples."""

from __future__ import annotations

from xebench.measuring.checks import CheckedCall
from xebench.measuring.place import Started


def find(before: int | None, one: CheckedCall) -> int | None:
    """The number in the last first call."""
    return one.call.prepared_kernels if isinstance(one.call, Started) else before
