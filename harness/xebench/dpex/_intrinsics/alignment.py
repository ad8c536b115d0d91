"""What vector access promises of addresses; the host asks as well."""

from __future__ import annotations

_ALLOCATION_ALIGNMENT = 64


def alignment(itemsize: int, width: int) -> int:
    """The multiple, in bytes, that an aligned access of *width* elements of *itemsize* bytes promises."""
    return min(itemsize * width, _ALLOCATION_ALIGNMENT)
