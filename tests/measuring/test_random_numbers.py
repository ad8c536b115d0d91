"""Numbers that a device makes are those of numpy, bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from numba_sycl.sycl_types import Array
from xebench.measuring.random_numbers import BLOCK_BYTES, LARGE_BYTES, PART_BYTES, Asked, Numbers

SEED = 7
N = LARGE_BYTES // 4

#: What problem functions draw. Each begins where the one before has ended, within a block or not.
DRAWN: dict[str, Callable[[np.random.Generator], Any]] = {
    "floats": lambda rng: rng.random(N, np.float32),
    "a few": lambda rng: rng.random(3, np.float32),
    "floats that begin within a block": lambda rng: rng.random((5, N), np.float32),
    "a power of two": lambda rng: rng.integers(0, 1 << 30, N + 1, dtype=np.int32),
    "words that are refused": lambda rng: rng.integers(-3, 1022, 16 * N, dtype=np.int32),
    "words of which half are refused": lambda rng: rng.integers(1, (1 << 31) + 5, N, dtype=np.uint32),
    "all words": lambda rng: rng.integers(-(1 << 31), 1 << 31, N, dtype=np.int32),
    "with the end": lambda rng: rng.integers(0, 99, N, dtype=np.uint32, endpoint=True),
    "bytes": lambda rng: rng.integers(0, 256, 4 * N + 5, dtype=np.uint8),
    "few bits of bytes": lambda rng: rng.integers(8, size=(2, 4 * N), dtype=np.int8),
    "bytes that are refused": lambda rng: rng.integers(0, 100, 4 * N, dtype=np.uint8),
    "bytes from below": lambda rng: rng.integers(-2, 126, 4 * N, dtype=np.int8),
    "half a word is left over": lambda rng: rng.random(1, np.float32),
    "longs": lambda rng: rng.integers(-5, (1 << 40) - 5, N + 3),
    "all longs": lambda rng: rng.integers(-(1 << 63), 1 << 63, N),
    "short longs": lambda rng: rng.integers(0, 64, N),
    "truths": lambda rng: rng.integers(0, 2, 4 * N, dtype=bool),
    "doubles": lambda rng: rng.random(N),
    "one value": lambda rng: rng.integers(3, 4, N, dtype=np.int32),
    "an order": lambda rng: rng.permutation(N),
    "what was left is drawn": lambda rng: rng.random(N + 1, np.float32),
    "several parts": lambda rng: rng.random(PART_BYTES // 4 + N, np.float32),
}
#: Those that a device does not make.
BY_NUMPY = {
    *("a few", "words of which half are refused", "bytes that are refused", "bytes from below"),
    *("half a word is left over", "short longs", "truths", "doubles", "one value", "an order"),
}


def generator() -> np.random.Philox:
    return np.random.Philox(SEED)


def compare(numbers: Numbers, drawn: dict[str, Callable[[np.random.Generator], Any]]) -> Iterator[str]:
    """Draw the same of numpy; the name of each."""
    own = np.random.Generator(generator())
    for name, draw in drawn.items():
        wanted, made = draw(own), draw(numbers)
        assert (made.shape, made.dtype, made.tobytes()) == (wanted.shape, wanted.dtype, wanted.tobytes()), name
        yield name


@pytest.mark.device
def test_a_device_makes_the_numbers_that_numpy_makes() -> None:
    import xebench
    from xebench.measuring.device_numbers import DeviceNumbers

    class Counted(DeviceNumbers):
        def fill(self, *arguments: Any) -> int | None:
            fills.append(super().fill(*arguments))
            return fills[-1]

    fills: list[int | None] = []
    numbers = Numbers(generator(), Counted(xebench.open_session("cpu").queue))
    for name in compare(numbers, DRAWN):
        assert bool(fills) == (name not in BY_NUMPY), name
        assert None not in fills and numbers.device is not None, name
        if name == "words that are refused":
            assert len(fills) > 1, "numpy has drawn the word that follows a refused one"
        fills.clear()


class Fake:
    """In place of a device: it makes nothing, or zeros."""

    def __init__(self, *, makes: bool) -> None:
        self.makes = makes
        self.asked = 0

    def fill(self, values: Array, asked: Asked, key: Sequence[int], before: int) -> int | None:
        self.asked += 1
        values[:] = 0
        return values.nbytes // BLOCK_BYTES if self.makes else None


@pytest.mark.parametrize("makes", [False, True])
def test_where_a_device_fails_or_is_wrong_numpy_makes_them(makes: bool) -> None:
    device = Fake(makes=makes)
    numbers = Numbers(generator(), device)
    few = {name: DRAWN[name] for name in ("floats", "a few", "a power of two", "longs")}
    assert list(compare(numbers, few)) == list(few)
    assert device.asked == 1 and numbers.device is None


def test_arguments_are_those_of_numpy() -> None:
    numbers = Numbers(generator(), Fake(makes=False))
    for wrong in (lambda rng: rng.integers(0, 1 << 33, N, dtype=np.int32), lambda rng: rng.integers(5, 4, N)):
        with pytest.raises(ValueError, match="high"):
            wrong(numbers)
    assert isinstance(numbers.integers(9), int | np.integer) and isinstance(numbers.random(), float)
    assert [child.random() for child in numbers.spawn(2)] == [child.random() for child in Numbers(generator()).spawn(2)]
