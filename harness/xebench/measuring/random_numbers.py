"""The numbers of problems: numpy's own, of a counter-based generator, of which a device fills large arrays.

Block number i of Philox4x64-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3") is a function of i
and of the key, so that all blocks can be made at once. What numpy makes of a block's words is done to them in the same
way, so that data are the same bit by bit wherever they are made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import Any, Final, Protocol

import numpy as np

from numba_sycl.sycl_types import Array

#: Words of 64 bits in a block, and its bytes.
WORDS: Final = 4
BLOCK_BYTES: Final = 8 * WORDS
#: Least bytes of an array that a device fills.
LARGE_BYTES: Final = 1 << 22
#: Most bytes that it fills at once, small compared with the problem's own arrays.
PART_BYTES: Final = 1 << 26
#: A device makes whole numbers where numpy refuses fewer than so many of 2**32 words. What follows a refused one is
#: made again.
RARE: Final = 1 << 10


class Kind(IntEnum):
    """The numbers that are made of a block's 32 bytes."""

    FLOATS = 0  # eight of 32 bits, from 0 to 1
    WORDS = 1  # eight whole numbers of 32 bits
    BYTES = 2  # 32 of them, from 0 to below a power of two
    LONGS = 3  # four of 64 bits, of a range that is one


@dataclass(frozen=True)
class Asked:
    """Numbers that a device can make.

    Attributes:
        kind: kind of the numbers.
        dtype: numpy dtype.
        draw: function that draws this many with numpy, as part of a longer array.
        low: smallest integer.
        count: number of possible integers.
    """

    kind: Kind
    dtype: np.dtype[Any]
    draw: Callable[[int], Any]
    low: int = 0
    count: int = 0

    @property
    def each(self) -> int:
        """Numbers of a block."""
        return BLOCK_BYTES // self.dtype.itemsize


class Maker(Protocol):
    """Makes numbers at once (`xebench.measuring.device_numbers`); the caller verifies them."""

    def fill(self, values: Array, asked: Asked, key: Sequence[int], before: int) -> int | None:
        """Make the numbers of whole blocks.

        Args:
            values: contiguous array to fill.
            asked: numbers to make.
            key: key of the generator.
            before: number of the last drawn block.

        Returns:
            Number of valid blocks (numpy draws an additional word in the block after these), or None if it cannot make
            any.
        """


class Numbers(np.random.Generator):
    """numpy's generator, whose large arrays a device fills.

    Args:
        bit_generator: bit generator; a Philox if a device is given.
        device: maker of numbers on a device; None to use numpy alone.

    Attributes:
        device: maker in use; None also after it failed.
    """

    def __init__(self, bit_generator: np.random.BitGenerator, device: Maker | None = None) -> None:
        super().__init__(bit_generator)
        self.device = device

    def random(self, size: Any = None, dtype: Any = np.float64, out: Array | None = None) -> Any:
        """See numpy."""
        if out is None and np.dtype(dtype) == np.float32 and self._is_large(size, np.float32):
            draw = partial(super().random, dtype=np.float32)
            return self._filled(size, Asked(Kind.FLOATS, np.dtype(np.float32), draw))
        return super().random(size, dtype, out)

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
    ) -> Any:
        """See numpy."""
        draw = partial(super().integers, low, high, dtype=dtype, endpoint=endpoint)
        first, last = (0, low) if high is None else (low, high)
        if isinstance(first, int) and isinstance(last, int) and self._is_large(size, dtype):
            kind = _kind_of(np.dtype(dtype), first, count := last - first + endpoint)
            if kind is not None:
                return self._filled(size, Asked(kind, np.dtype(dtype), draw, first, count))
        return draw(size)

    def _is_large(self, size: Any, dtype: Any) -> bool:
        if self.device is None or size is None:
            return False
        return int(np.prod(size, dtype=np.int64)) * np.dtype(dtype).itemsize >= LARGE_BYTES

    def _filled(self, size: Any, asked: Asked) -> Array:
        """An array of numbers, of which numpy draws those that begin and end within a block."""
        values = np.empty(size, asked.dtype)
        rest = values.reshape(-1)
        while rest.size:
            begun = self._begun(asked)
            if self.device is not None and not begun and rest.size >= asked.each:
                most = min(rest.size, PART_BYTES // asked.dtype.itemsize)
                made = self._made(rest[: most // asked.each * asked.each], asked, self.device)
            else:
                made = min(rest.size, begun or rest.size)
                rest[:made] = asked.draw(made)
            rest = rest[made:]
        return values

    def _begun(self, asked: Asked) -> int:
        """The numbers left of the block that numpy draws from."""
        state: Any = self.bit_generator.state
        words: int = WORDS - state["buffer_pos"]
        if asked.kind == Kind.LONGS:
            return words
        return (2 * words + int(state["has_uint32"])) * asked.each // (2 * WORDS)

    def _made(self, values: Array, asked: Asked, device: Maker) -> int:
        """Let the device fill blocks; return how many numbers are right.

        numpy draws the last of them, too: so its state is as if it had drawn all, and a device's error is detected.
        """
        state: Any = self.bit_generator.state
        own, blocks = state["state"], values.size // asked.each
        right = device.fill(values, asked, own["key"].tolist(), int(own["counter"][0]))
        if right is None:
            self.device = None
            return 0
        last = min(right, blocks - 1)
        counter = own["counter"] + np.array([last, 0, 0, 0], np.uint64)
        self.bit_generator.state = {**state, "state": {**own, "counter": counter}}
        block = values[last * asked.each :][: asked.each]
        drawn = asked.draw(asked.each)
        if right == blocks and drawn.tobytes() != block.tobytes():
            self.bit_generator.state, self.device = state, None
            return 0
        block[:] = drawn
        return (last + 1) * asked.each


def _kind_of(dtype: np.dtype[Any], low: int, count: int) -> Kind | None:
    """The kind of whole numbers of this range, if a device can make them."""
    if dtype.kind not in "iu" or not np.iinfo(dtype).min <= low < low + count - 1 <= np.iinfo(dtype).max:
        return None
    is_power = not count & (count - 1)
    if dtype.itemsize == 4 and (1 << 32) % count < RARE:
        return Kind.WORDS
    if dtype.itemsize == 1 and is_power and not low:
        return Kind.BYTES
    if dtype.itemsize == 8 and is_power and count > 1 << 32:
        return Kind.LONGS
    return None
