"""Sizes that follow the device: large enough to fill it, and to leave its caches."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from xebench.vocabulary import DeviceClass

#: Keys of what `fit` gives.
_KEYS: Final = {"least", "per_lane", "per_cache_byte", "bytes_each"}

#: How many times the last-level cache a lesson about memory goes over.
CACHES: Final = 4

#: Bytes for each lane that keep a GPU's memory busy for a hundred empty kernels, so that what each launch costs is 1 %
#: of it: an H200 has 270336 lanes, moves 4.4 TB/s, and takes 2.9 us for an empty kernel (`results/h200-default`). It is
#: no measured time of the device at hand, so that a problem has the same size whenever it is measured there.
LANE_BYTES: Final = 4800


@dataclass(frozen=True)
class Room:
    """The limits on a device that sizes follow.

    Attributes:
        lanes: work-items that fill it (`xebench.measuring.session.lanes`); 0 when nothing is known.
        cache_bytes: its last-level cache.
    """

    lanes: int = 0
    cache_bytes: int = 0


def fit(least: int, *, per_lane: float = 0, per_cache_byte: float = 0, bytes_each: float = 0) -> dict[str, float]:
    """A size that is doubled until it fits the device that measures.

    Args:
        least: the smallest size, which is doubled until it is enough, so that what divides it divides the size.
        per_lane: it is at least this for each work-item that the device holds at once: 16 makes 16 waves of work-items
            with one element each.
        per_cache_byte: it is at least this for each byte of the last-level cache: 1 makes two arrays of 8-byte elements
            together sixteen times as large as the cache.
        bytes_each: of a lesson about memory, what a launch reads and writes for each of the size. It is large enough
            for `CACHES` times the last-level cache, and for a hundred empty kernels (`LANE_BYTES`).

    Raises:
        ValueError: a number that makes no size.
    """
    wanted = {"per_lane": per_lane, "per_cache_byte": per_cache_byte, "bytes_each": bytes_each}
    if least < 1 or not all(0 <= value < math.inf for value in wanted.values()):
        raise ValueError(
            f"fit({least}, {', '.join(f'{name}={wanted[name]}' for name in wanted)}): give positive numbers"
        )
    return {"least": least, **wanted}


def is_fit(size: Any) -> bool:
    """True if the size was declared with `fit`."""
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
    if each := size["bytes_each"]:
        wanted |= {
            f"{CACHES} times its cache of {room.cache_bytes}, {each:g} bytes each": CACHES * room.cache_bytes / each,
            f"a hundred empty kernels of {room.lanes} lanes, {each:g} bytes each": LANE_BYTES * room.lanes / each,
        }
    reason, most = max(wanted.items(), key=lambda item: item[1])
    least = int(size["least"])
    if most <= least:
        return least, "the least, which is enough for this device"
    return least * 2 ** math.ceil(math.log2(most / least)), reason
