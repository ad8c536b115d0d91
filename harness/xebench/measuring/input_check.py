"""Did a variant change an input? Inputs are compared with the host's copy after calls, and put back.

A large input is not read back each time: the device folds it into a few thousand sums, which must be those that it had
when it was uploaded. This takes as long as the device takes to read it, where the way to the host takes a hundred times
that on a discrete GPU. What a CPU device has the host folds: that takes a tenth as long on a busy machine, where a
device's threads wait for one another. Where the sums differ, and for small inputs, the host compares every byte.
Results are looked at in the same way when they were compared before (`xebench.measuring.local`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import dpctl
import numpy as np
import numpy.typing as npt

from xebench.dpex import PreparedLaunch, build, compile_kernel, kernel
from xebench.dpex.device_kernel import DeviceKernel
from xebench.dpex.kernel_api import NdRange
from xebench.dpex.spirv_cache import SpirvCache
from xebench.measuring.bound_problem import Binding
from xebench.measuring.session.device_memory import DeviceMemory, allocate
from xebench.system.runtime.tensor import usm_ndarray
from xebench.system.sycl_types import UsmArray

#: Smallest input that the device looks at itself: the sums of a smaller one would be as large as half of it.
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
    """Folds device arrays into sums by which a change is seen; its kernels are built once, for all families.

    Args:
        queue: of the device.
    """

    def __init__(self, queue: dpctl.SyclQueue) -> None:
        self._built: dict[np.dtype[Any], DeviceKernel] = {}
        self._cache = SpirvCache()
        self._queue = queue
        self._memory = DeviceMemory(queue)

    def __call__(self, array: UsmArray) -> bytes:
        """The sums of a contiguous array that is the whole of its allocation."""
        if self._queue.sycl_device.is_cpu:
            return _of_host(self._memory.read(array))
        return self._memory.read(self.by_device(array)).tobytes()

    def by_device(self, array: UsmArray) -> Any:
        """The same as an array of the device, computed there in any case."""
        word = next(word for word in _WORDS if array.nbytes % word.itemsize == 0)
        words = usm_ndarray((array.nbytes // word.itemsize,), dtype=word, buffer=array.usm_data)
        items = min(ITEMS, -(-words.size // (ROWS * GROUP)) * GROUP)
        sums = allocate(items, np.int64, self._queue)
        arguments, space = (words, sums, -(-words.size // items)), NdRange((items,), (GROUP,))
        if word not in self._built:
            self._built[word] = build(compile_kernel(_fold, space, arguments, cache=self._cache), self._queue)
        # not a launch that is kept: it would keep the array's memory until the next one
        PreparedLaunch(self._built[word], self._queue, space, arguments).submit().wait()
        return sums


def _of_host(array: npt.NDArray[Any]) -> bytes:
    words: npt.NDArray[Any] = array.reshape(-1).view(np.int64 if array.nbytes % 8 == 0 else np.int8)
    parts = (words[begin : begin + _FACTORS.size] for begin in range(0, words.size, _FACTORS.size))
    return b"".join(np.int64(part @ _FACTORS[: part.size]).tobytes() for part in parts)


class Inputs:
    """The inputs of a problem on the device. Make it before a variant runs.

    Args:
        binding: the problem.
        sums: of device arrays.
        known: the sums of these data by name, where they were made before.

    Attributes:
        first: those sums.
    """

    def __init__(self, binding: Binding, sums: Sums, known: Mapping[str, bytes] | None = None) -> None:
        self._binding = binding
        self._sums = sums
        large = (name for name, array in binding.inputs.items() if array.nbytes >= LARGE_BYTES)
        self.first = {name: sums(getattr(binding.bound, name)) for name in large} if known is None else known

    def changed(self) -> list[str]:
        """Names of the inputs that have been changed since the last call; they are put back."""
        names = [name for name in self._binding.inputs if not self._is_as_before(name)]
        for name in names:
            self._binding.restore(name)
        return names

    def _is_as_before(self, name: str) -> bool:
        if name in self.first and self._sums(getattr(self._binding.bound, name)) == self.first[name]:
            return True
        return self._binding.holds_input(name)
