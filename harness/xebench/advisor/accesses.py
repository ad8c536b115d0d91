"""Compare the accesses of neighbouring work-items."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any, Final

from xebench.advisor.facts import LINE, Access
from xebench.advisor.work_items import Memory, Reading, WorkItem, source_of

#: Occurrences of an access that are compared between work-items.
COMPARED: Final = 64


def accesses_of(reading: Reading) -> list[Access]:
    """The accesses of the first work-item that was read, in the order of the code."""
    first = reading.lanes[0]
    found = [_access(reading, key, offsets) for key, offsets in first.accesses.items()]
    return sorted(found, key=lambda access: (access.file, access.line))


def _access(reading: Reading, key: Any, offsets: list[int]) -> Access:
    place, kind, position = key
    memory: Memory = reading.memory[position]
    of_lanes = [item.accesses.get(key, []) for item in reading.lanes]
    of_rows = [item.accesses.get(key, []) for item in reading.rows]
    file, line, text = source_of(place)
    size = memory.dtype.itemsize
    touched = [set(own) for own in of_lanes if own]
    return Access(
        kind,
        memory.name,
        memory.space,
        memory.dtype.name,
        size,
        memory.bytes,
        file,
        line,
        text,
        len(offsets),
        _stride(of_lanes),
        _stride(of_rows),
        _same(later - earlier for earlier, later in pairwise(offsets[:COMPARED])),
        _line_use(of_lanes, size),
        sum(map(len, touched)) / len(set().union(*touched)),
    )


def _same(numbers: Any) -> int | None:
    """What nine of ten numbers are; None if they differ."""
    counted = Counter(numbers)
    if not counted:
        return None
    [(number, times)] = counted.most_common(1)
    return number if times >= 0.9 * counted.total() else None


def _stride(of_items: list[list[int]]) -> int | None:
    return _same(
        other - own
        for one, another in pairwise(of_items)
        for own, other in zip(one[:COMPARED], another[:COMPARED], strict=False)
    )


def _line_use(of_items: list[list[int]], size: int) -> float:
    """Bytes that items use of the lines that they touch at one time, in the mean; at most what one line can have."""
    shares = []
    for offsets in list(zip(*of_items, strict=False))[:COMPARED]:
        lines = {offset // LINE for offset in offsets}
        shares.append(len(set(offsets)) * size / (len(lines) * LINE))
    return min(1.0, sum(shares) / len(shares)) if shares else 1.0


def divergent_share(lanes: list[WorkItem]) -> float | None:
    """Share of lines that only some work-items run; see `KernelFacts`."""
    if any(item.is_guessed or not item.is_whole for item in lanes):
        return None
    everywhere = set.intersection(*(set(item.lines) for item in lanes))
    alone = sum(times for item in lanes for line, times in item.lines.items() if line not in everywhere)
    return alone / sum(item.steps for item in lanes)
