"""Bandwidth by size: the level that a working set names, and the rate of copies without what each copy costs.

The line is that of repeated medians, which one size that others disturbed does not bend (A. F. Siegel, "Robust
Regression Using Repeated Medians", 1982). No SYCL in here.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, NamedTuple

from xebench.measuring.roofline.catalogue import WORKING_SETS, level_name
from xebench.measuring.roofline.search import Effort, Form, Measurement, Undetermined, beyond_bytes
from xebench.system.runtime.machine import cache_bytes_by_level
from xebench.tables.device_facts import MEMORY, Level, levels_text
from xebench.vocabulary import DeviceClass

#: Both halves of the samples must give rates that differ by no more than this part.
AGREEMENT: Final = 0.05
#: How much longer than usual to wait for halves that agree, in seconds.
_EXTENSION_S: Final = 1.0


class Line(NamedTuple):
    """Time over amount: ``fixed_ns`` at no amount, never below 0, and ``slope_ns`` for each unit of it."""

    fixed_ns: float
    slope_ns: float


def search_line(forms: Sequence[Form], effort: Effort, clock: Callable[[], float] = time.monotonic) -> Measurement:
    """The largest form without its fixed cost, sampled in turns with smaller ones until both halves agree.

    Args:
        forms: of different amounts in bytes, the largest last; two at least.
        effort: how long to look.
        clock: in seconds.

    Raises:
        WrongResult: a form is wrong.
        Undetermined: the rates of both halves differ by more than `AGREEMENT`, or one half has no time to trust.
    """
    largest = forms[-1]
    largest.verify()
    times: dict[Form, list[float]] = {form: [] for form in forms}
    begin, rounds = clock(), 0
    while True:
        for form, taken in times.items():
            taken.append(form.run())
        rounds, elapsed = rounds + 1, clock() - begin
        if rounds >= max(2, effort.patience) and elapsed >= effort.patience_s:
            first, second = _rate(times, slice(rounds // 2)), _rate(times, slice(rounds // 2, None))
            if abs(first - second) <= AGREEMENT * min(first, second):
                break
            if elapsed >= effort.most_s + _EXTENSION_S:
                if math.isnan(first + second):
                    raise Undetermined("half of its samples have no time that the host's clock confirms")
                raise Undetermined(f"two halves of its samples give {first:.3g} and {second:.3g} GB/s")
    largest.verify()
    fixed_ns = _line(times, slice(None)).fixed_ns
    without = tuple(taken - fixed_ns for taken in times[largest] if math.isfinite(taken))
    return Measurement({**largest.parameters, "fixed ns": round(fixed_ns)}, largest.amount, without)


def fitted(shortest: Mapping[float, float]) -> Line:
    """The line through the shortest time of each amount, in ns; two amounts at least.

    The fixed cost is no more than the whole time of the least amount.
    """
    points = sorted(shortest.items())
    slope = median(
        median((time_ns - other_ns) / (amount - other) for other, other_ns in points if other != amount)
        for amount, time_ns in points
    )
    fixed = median(time_ns - slope * amount for amount, time_ns in points)
    return Line(min(max(fixed, 0.0), points[0][1]), slope)


def _line(times: Mapping[Form, Sequence[float]], part: slice) -> Line:
    return fitted({form.amount: min(taken[part]) for form, taken in times.items()})


def _rate(times: Mapping[Form, Sequence[float]], part: slice) -> float:
    """The rate of a part of the samples, in amount a ns; NaN if a form has no trustworthy time in it."""
    if not all(math.isfinite(min(taken[part])) for taken in times.values()):
        return math.nan
    largest = max(times, key=lambda form: form.amount)
    return largest.amount / (min(times[largest][part]) - _line(times, part).fixed_ns)


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
        global_cache_bytes: what the driver reports.
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
