"""Bandwidth by working set: what was measured at each size, and the name of the level that such a set lies in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from xebench.measuring.roofline.catalogue import WORKING_SETS, level_name
from xebench.measuring.roofline.sizes import beyond_bytes
from xebench.system.runtime.cpu_caches import cache_bytes_by_level
from xebench.tables.analysis.levels import MEMORY, Level, levels_text
from xebench.vocabulary import DeviceClass

#: Where no cache is known: a working set that is read so many times as fast as the memory lies in one.
_CACHED: Final = 1.25


@dataclass(frozen=True)
class Cache:
    """A cache of a device: its name, and the bytes of all its parts together."""

    name: str
    bytes: int


def known_caches(device_class: str, global_cache_bytes: int | None) -> list[Cache]:
    """The caches that the system or the driver reports, the smallest first; 0 bytes are an unknown one.

    Args:
        device_class: a CPU device's driver names one cache only, its system all of them.
        global_cache_bytes: what the driver tells.
    """
    if device_class == DeviceClass.CPU and (by_level := cache_bytes_by_level()):
        return [Cache(f"L{level}", size) for level, size in by_level.items()]
    return [Cache("cache", global_cache_bytes)] if global_cache_bytes else []


def measured_levels(values: Mapping[str, float | None]) -> dict[int, float]:
    """The measured bandwidth of each working set, in GB/s.

    Args:
        values: of probes, by name.
    """
    found = {size: values.get(level_name(size)) for size in WORKING_SETS}
    return {size: value for size, value in found.items() if value is not None}


def named_levels(measured: Mapping[int, float], memory_gbps: float | None, caches: Sequence[Cache]) -> str:
    """The column ``bandwidth_levels``: JSON of a list, the smallest working set first; the last one is the memory.

    A case belongs to the last entry whose working set is not larger than its own: it is no faster than that. The name
    is that of the level which holds every working set up to the next entry's.

    Args:
        measured: GB/s by working set. A smaller one is no slower than a larger one, so that it gets at least the
            same: what others did to the machine just then is not in it.
        memory_gbps: the memory's roof, which no larger set falls below; None if it was not measured.
        caches: those that are known; if there are none, what is measured decides.
    """
    sizes, levels = sorted(measured), []
    reached = memory_gbps or 0.0
    for number in reversed(range(len(sizes))):
        size, following = sizes[number], (*sizes, 2 * sizes[-1])[number + 1]
        reached = max(reached, measured[size])
        beyond = measured.get(following, 0.0)
        name = _name(following, caches) if caches else _guessed_name(beyond, memory_gbps)
        levels.append(Level(name, size, reached))
    levels.reverse()
    if memory_gbps is not None and sizes:
        levels.append(Level(MEMORY, 2 * sizes[-1], memory_gbps))
    return levels_text(levels)


def _name(largest_bytes: int, caches: Sequence[Cache]) -> str:
    return next((cache.name for cache in caches if largest_bytes <= cache.bytes), MEMORY)


def _guessed_name(gbps: float, memory_gbps: float | None) -> str:
    return "cache" if memory_gbps and gbps > _CACHED * memory_gbps else MEMORY


def beyond_caches(measured: Mapping[int, float], cache_bytes: int) -> float:
    """The bandwidth of working sets that are far larger than the caches, which is the memory's; 0 without one.

    Args:
        measured: GB/s by working set.
        cache_bytes: the last-level cache; 0 if it is not known.
    """
    return max((gbps for size, gbps in measured.items() if size >= beyond_bytes(cache_bytes)), default=0.0)


def cached_bytes(measured: Mapping[int, float], memory_gbps: float | None) -> int | None:
    """The smallest measured working set that is no faster than the memory: no cache is larger; None if unknown."""
    sizes = sorted(measured)
    fast = [size for size in sizes if memory_gbps and measured[size] > _CACHED * memory_gbps]
    if not fast or fast[-1] == sizes[-1]:
        return None
    return sizes[sizes.index(fast[-1]) + 1]
