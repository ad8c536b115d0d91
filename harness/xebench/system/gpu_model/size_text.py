"""Sizes as people write them: ``32K``."""

from __future__ import annotations

import re
from typing import Final

from xebench.errors import XebenchError


class SizeError(XebenchError):
    """A text is no size."""


LARGEST_SIZE: Final = 2**63 - 1
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def parse_size(text: str | int) -> int:
    """Read a whole number with an optional binary unit: ``"256"``, ``"32K"``, ``"64KB"``, ``"1M"``.

    Raises:
        SizeError: the text is not of this form, negative, or larger than `LARGEST_SIZE`.
    """
    match = re.fullmatch(r"(\d+)\s*([KMG]?)(?:I?B)?", str(text).strip().upper(), re.ASCII)
    if match is None:
        raise SizeError(f"{str(text)!r} is not a size: write a whole number, or one with K, M or G (1K = 1024)")
    digits = match[1].lstrip("0")
    if len(digits) > len(str(LARGEST_SIZE)) or int(digits or 0) * _UNITS[match[2]] > LARGEST_SIZE:
        raise SizeError(f"{str(text)[:30]!r} is more than any device has: write a size below 2^63")
    return int(digits or 0) * _UNITS[match[2]]
