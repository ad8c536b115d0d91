"""Checksums by the device: inputs that a variant changed, and large results that equal earlier ones.

A large input is not read back each time: the device folds it into a few thousand sums, which must be those that it had
when it was uploaded. This takes as long as the device takes to read it, where the way to the host takes a hundred times
that on a discrete GPU. The memory of a CPU device is folded in place by the host, which takes a tenth as long on a busy
machine, where a device's threads wait for one another. Where the sums differ, and for small inputs, the host compares
every byte. Large results are folded, too: those with the sums of earlier ones are these.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final

import dpctl
import numpy as np
import numpy.typing as npt

from numba_sycl import PreparedLaunch, build, compile_kernel, kernel
from numba_sycl.device_kernel import DeviceKernel
from numba_sycl.kernel_api import NdRange
from numba_sycl.spirv_cache import SpirvCache
from numba_sycl.sycl_types import Array, UsmArray
from numba_sycl.tensor import usm_ndarray
from xebench.measuring.bound_problem import Binding
from xebench.measuring.correctness import REMEMBERED
from xebench.session.device_memory import DeviceMemory, allocate, host_view

#: Smallest input in bytes that the device checks: the checksums of a smaller one would take half as much memory.
LARGE_BYTES: Final = 1 << 20
#: Most work-items, each with a sum of its own: enough to read the memory of a large GPU at a good part of its speed.
ITEMS: Final = 1 << 16

GROUP: Final = 256
#: Words for each sum, where these are fewer items: on a CPU to read the sums would take as long as to make them.
ROWS: Final = 64
#: Odd, so that no change of a single word is lost in a sum, however many are added after it (Knuth's MMIX generator).
FACTOR: Final = 6364136223846793005

_WORDS: Final = (np.dtype(np.int32), np.dtype(np.int16), np.dtype(np.int8))

#: Odd, so that no change of a single word is lost: what the host multiplies words by, as many as stay in a cache.
_FACTORS: Final = np.random.Generator(np.random.PCG64(1)).integers(1 << 62, size=1 << 15) | 1


@kernel
def _fold(item: Any, words: Any, sums: Any, rows: Any) -> None:
    # a group reads some rows that lie together, neighbours read neighbours, and all do the same number of steps:
    # three times as fast on a CPU device as one loop with strides from the first word to the last
    i = item.get_global_id(0)
    first = i // GROUP * rows * GROUP + i % GROUP
    total = np.int64(0)
    for row in range(rows):
        k = first + row * GROUP
        if k < words.shape[0]:
            total = total * np.int64(FACTOR) + np.int64(words[k])
    sums[i] = total


class Sums:
    """Computes checksums of device arrays to detect changes; its kernels are built once for all families.

    Args:
        queue: queue on the device.
    """

    def __init__(self, queue: dpctl.SyclQueue) -> None:
        self._built: dict[np.dtype[Any], DeviceKernel] = {}
        self._cache = SpirvCache()
        self._queue = queue
        self._memory = DeviceMemory(queue)

    def __call__(self, array: UsmArray) -> bytes:
        """The sums of a contiguous array that is the whole of its allocation."""
        if self._queue.sycl_device.is_cpu:
            return _of_host(host_view(array))
        return self._memory.read(self.by_device(array)).tobytes()

    def by_device(self, array: UsmArray) -> UsmArray:
        """The same as an array of the device, computed there in any case."""
        words = _words_of(array)
        word = words.dtype
        items = min(ITEMS, -(-words.size // (ROWS * GROUP)) * GROUP)
        sums: UsmArray = allocate(items, np.int64, self._queue)
        arguments, space = (words, sums, -(-words.size // items)), NdRange((items,), (GROUP,))
        if word not in self._built:
            self._built[word] = build(compile_kernel(_fold, space, arguments, cache=self._cache), self._queue)
        PreparedLaunch(self._built[word], self._queue, space, arguments).submit().wait()
        return sums


def _words_of(array: UsmArray) -> UsmArray:
    word = next(word for word in _WORDS if array.nbytes % word.itemsize == 0)
    words: UsmArray = usm_ndarray((array.nbytes // word.itemsize,), dtype=word, buffer=array.usm_data)
    return words


def _of_host(array: npt.NDArray[Any]) -> bytes:
    words: npt.NDArray[Any] = array.view(np.int64 if array.nbytes % 8 == 0 else np.int8)
    whole = words.size // _FACTORS.size * _FACTORS.size
    # four times as fast as products by @, which are not of the vector unit
    sums = np.einsum("ij,j->i", words[:whole].reshape(-1, _FACTORS.size), _FACTORS)
    last = np.einsum("i,i->", words[whole:], _FACTORS[: words.size - whole])
    return b"".join((sums.tobytes(), last.tobytes()))


class HostCopies:
    """Host copies of results by checksum: a large result equal to an earlier one is not read again.

    Args:
        sums: checksums of device arrays.
    """

    def __init__(self, sums: Sums) -> None:
        self._sums = sums
        self._kept: dict[str, dict[bytes, Array]] = {}

    def of(self, name: str, array: Any, read: Callable[[Any], Array]) -> Array:
        """The contents of an array on device or host: the same object for equal large contents.

        Args:
            name: name of the result.
            array: array that holds it.
            read: function that copies it.
        """
        if array.nbytes < LARGE_BYTES:
            return read(array)
        sums = _of_host(array.reshape(-1).view(np.uint8)) if isinstance(array, np.ndarray) else self._sums(array)
        kept, key = self._kept.setdefault(name, {}), hashlib.sha256(sums).digest()
        if key not in kept:
            if len(kept) == REMEMBERED:
                del kept[next(iter(kept))]
            kept[key] = read(array)
            kept[key].setflags(write=False)
        return kept[key]


class Inputs:
    """The inputs of a problem on the device. Create this before a variant runs.

    Args:
        binding: the problem.
        sums: checksums of device arrays.
    """

    def __init__(self, binding: Binding, sums: Sums) -> None:
        self._binding = binding
        self._sums = sums
        large = (name for name, array in binding.inputs.items() if array.nbytes >= LARGE_BYTES)
        self._first = {name: sums(binding.arrays[name]) for name in large}

    def changed(self) -> list[str]:
        """Names of the inputs that have been changed since the last call; they are put back."""
        names = [name for name in self._binding.inputs if not self._is_as_before(name)]
        for name in names:
            self._binding.restore(name)
        return names

    def _is_as_before(self, name: str) -> bool:
        if name in self._first and self._sums(self._binding.arrays[name]) == self._first[name]:
            return True
        return self._binding.holds_input(name)
