"""The values that a pattern may declare: sizes, points on axes, tolerances, variables."""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

from xebench.errors import escape_controls
from xebench.patterns.problem import PLAIN, by_class, is_fit
from xebench.vocabulary import DeviceClass


def is_tolerance(value: Any) -> bool:
    """True for a number from 0 that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    number: Any = value
    return bool(0 <= number <= sys.float_info.max)


def several(size: Any) -> tuple[Any, ...]:
    """The sizes that a preset gives for one; of an empty tuple, one that is none."""
    return (size or (None,)) if isinstance(size, tuple) else (size,)


def further_sizes(sizes: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """The second, third, ... of several sizes; the second ones of all sizes go together."""
    given = {name: several(size)[1:] for name, size in sizes.items()}
    count = max(map(len, given.values()), default=0)
    return tuple({name: more[i] for name, more in given.items() if i < len(more)} for i in range(count))


def repeated(values: Iterable[Any]) -> str:
    """The first of some values that is there twice, as text: families are named by that, in which 1 and "1" are one."""
    return next((text for text, count in Counter(map(str, values)).items() if count > 1), "")


def is_size(value: Any) -> bool:
    """True for a plain value, a size that follows the device, or one of these for each class of device."""
    sizes = by_class(value)
    return set(sizes) == set(DeviceClass) and all(is_plain(size, least=0) or is_fit(size) for size in sizes.values())


def is_plain(value: Any, least: float = -math.inf) -> bool:
    """True if tables can hold the value: no array, no text with control characters, no infinite number or NaN."""
    if isinstance(value, str):
        return value == escape_controls(value)
    if type(value) is int and not -(1 << 63) <= value < 1 << 63:
        return False
    return type(value) in PLAIN and math.isfinite(value) and value >= least


def can_be_set(value: str) -> bool:
    """True if the system can take the text as a variable's value."""
    try:
        return b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:
        return False
