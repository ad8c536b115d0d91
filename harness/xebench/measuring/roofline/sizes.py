"""Sizes of problems for the probes, so that they measure what they are meant to. No SYCL in here."""

from __future__ import annotations

from xebench.errors import Unsupported
from xebench.measuring.roofline.catalogue import FOOTPRINTS, size_text

#: STREAM's own rule: an array has at least four times the size of the last-level caches.
CACHES = 4
#: Where memory is small.
_FEWEST_CACHES = 2
_LEAST_BYTES = 64 << 20
#: What a last-level cache may have whose size the driver does not tell.
_UNKNOWN_CACHE_BYTES = 64 << 20
#: Larger arrays make launches no cheaper, and take long to fill.
_MOST_BYTES = 1 << 30
#: Of the device's memory, an array takes no more than this part.
_PART_OF_MEMORY = 16
#: Elements of a block that any form of a kernel divides into whole work-groups.
BLOCK = 1 << 16
#: What a work-group reads of a working set in a pass.
AGAIN_BLOCK_BYTES = 1 << 14
#: Most passes through a working set: above it the float sums were not exact.
MOST_PASSES = 1 << 12
#: Most steps of a multiply-add chain: above it the sum of 16 chains that start at up to 2 were not exact in float32.
MOST_STEPS = 1 << 18


def largest_array_bytes(memory_bytes: int, max_alloc_bytes: int) -> int:
    """The size of the largest array on a device."""
    return min(memory_bytes // _PART_OF_MEMORY, max_alloc_bytes)


def beyond_bytes(cache_bytes: int) -> int:
    """A size so much larger than the last-level cache that the cache does not matter; a cache of 0 bytes is unknown."""
    return CACHES * (cache_bytes or _UNKNOWN_CACHE_BYTES)


def grown_array_bytes(start_bytes: int, largest_bytes: int) -> int:
    """The size to which an array for bandwidth may grow on a fast device."""
    return min(largest_bytes, max(start_bytes, _MOST_BYTES))


def array_bytes(cache_bytes: int, largest_bytes: int) -> int:
    """Size of an array for bandwidth: four times the last-level cache, or twice if memory is small.

    Args:
        cache_bytes: of the last-level cache; 0 where nobody tells.
        largest_bytes: the largest array that is asked of the device.

    Raises:
        Unsupported: the memory is too small for arrays that the cache does not hold.
    """
    size = min(max(_LEAST_BYTES, beyond_bytes(cache_bytes)), largest_bytes)
    if size < _FEWEST_CACHES * cache_bytes:
        raise Unsupported(
            f"an array of {size_text(size)}, a {_PART_OF_MEMORY}th of the memory, would fit into the cache "
            f"({size_text(cache_bytes)})"
        )
    return size


def whole_blocks(elements: int) -> int:
    """The largest multiple of a block that is not above ``elements``; at least one block."""
    return max(1, elements // BLOCK) * BLOCK


def power_of_two(number: int) -> int:
    """The largest power of two that is not above ``number``."""
    return 1 << (number.bit_length() - 1)


def next_power_of_two(number: int) -> int:
    """The smallest power of two that is not below ``number``."""
    return 1 << (number - 1).bit_length()


def far_shift(blocks: int) -> int:
    """The shift from block to block with which few steps go over all of a working set: an odd part of it, golden."""
    return round(blocks * (5**0.5 - 1) / 2) | 1


def check_working_set(working_set_bytes: int, cache_bytes: int, array_bytes: int) -> None:
    """Refuse a working set that would show nothing on a device; a cache of 0 bytes is an unknown one.

    Raises:
        Unsupported: it is larger than the array that stands for the memory, or far larger than the caches.
    """
    if working_set_bytes > array_bytes:
        raise Unsupported(f"larger than the array that stands for the memory here ({size_text(array_bytes)})")
    if cache_bytes and working_set_bytes > CACHES * cache_bytes:
        raise Unsupported(f"{size_text(CACHES * cache_bytes)} are far beyond the caches already")


def check_footprint(footprint_bytes: int, cache_bytes: int, largest_bytes: int) -> None:
    """Refuse a footprint of a pointer chase that would show nothing on a device; a cache of 0 bytes is an unknown one.

    Raises:
        Unsupported: it is too large for the device's memory, or a smaller one is in memory already.
    """
    if footprint_bytes > largest_bytes:
        raise Unsupported(f"larger than the largest array here ({size_text(largest_bytes)})")
    enough = next((size for size in FOOTPRINTS if size >= CACHES * cache_bytes), FOOTPRINTS[-1])
    if cache_bytes and footprint_bytes > enough:
        raise Unsupported(f"{size_text(enough)} are far beyond the caches already")


def chase_steps(lines: int, fewest: int = 1 << 16, most: int = 1 << 18) -> int:
    """Steps of one run through a ring of ``lines`` cache lines, a power of two: about twice round if not too long.

    One less than that, so that it does not end where it began, which would look like a kernel that did nothing.
    """
    return max(fewest, min(2 * lines, most)) - 1
