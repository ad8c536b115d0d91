"""Sizes that follow the device: large enough to fill it, and to leave its caches."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from xebench.vocabulary import DeviceClass

#: Keys of what `fit` gives.
_KEYS: Final = {"least", "per_lane", "per_cache_byte"}


@dataclass(frozen=True)
class Room:
    """What sizes follow on a device.

    Attributes:
        lanes: work-items that fill it (`xebench.session.lanes`); 0 when nothing is known.
        cache_bytes: its last-level cache.
    """

    lanes: int = 0
    cache_bytes: int = 0


def fit(least: int, *, per_lane: float = 0, per_cache_byte: float = 0) -> dict[str, float]:
    """A size that is doubled until it fits the device that measures.

    Args:
        least: the smallest size, which is doubled until it is enough, so that what divides it divides the size.
        per_lane: it is at least this for each work-item that the device holds at once: 16 makes 16 waves of work-items
            with one element each.
        per_cache_byte: it is at least this for each byte of the last-level cache: 1 makes two arrays of 8-byte elements
            together sixteen times as large as the cache.

    Raises:
        ValueError: a number that makes no size.
    """
    if least < 1 or not 0 <= per_lane < math.inf or not 0 <= per_cache_byte < math.inf:
        raise ValueError(f"fit({least}, per_lane={per_lane}, per_cache_byte={per_cache_byte}): give positive numbers")
    return {"least": least, "per_lane": per_lane, "per_cache_byte": per_cache_byte}


def is_fit(size: Any) -> bool:
    """Whether `fit` made it."""
    return isinstance(size, Mapping) and set(size) == _KEYS


def by_class(size: Any) -> Mapping[str, Any]:
    """A size as it is declared, for each class of devices that has one: the same for all where it names none."""
    return size if isinstance(size, Mapping) and not is_fit(size) else dict.fromkeys(map(str, DeviceClass), size)


def fitted(size: Mapping[str, float], room: Room) -> tuple[int, str]:
    """The size on a device, and why it is that."""
    wanted = {
        f"{size['per_lane']:g} for each of the device's {room.lanes} lanes": size["per_lane"] * room.lanes,
        f"{size['per_cache_byte']:g} for each byte of its cache of {room.cache_bytes}": size["per_cache_byte"]
        * room.cache_bytes,
    }
    reason, most = max(wanted.items(), key=lambda item: item[1])
    least = int(size["least"])
    if most <= least:
        return least, "the least, which is enough for this device"
    return least * 2 ** math.ceil(math.log2(most / least)), reason
