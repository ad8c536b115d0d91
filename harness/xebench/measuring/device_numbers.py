"""Random numbers of numpy's Philox generator, made by a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import dpctl
import numpy as np

from numba_sycl import PreparedLaunch, build, compile_kernel
from numba_sycl.device_kernel import DeviceKernel
from numba_sycl.errors import KernelError
from numba_sycl.kernel_api import Range
from numba_sycl.sycl_types import Array
from xebench.dpex import opencl_kernel
from xebench.errors import XebenchError
from xebench.measuring.random_numbers import BLOCK_BYTES, Asked, Kind
from xebench.session.device_memory import DeviceMemory, allocate

_FILL: Final = """
__kernel void fill_random(
    const ulong key0, const ulong key1, const ulong before, const uint kind, const ulong low, const uint count,
    const uint bits, __global uint *values, __global uint *refused)
{
    const uint block = get_global_id(0);
    ulong a = before + 1 + block, b = 0, c = 0, d = 0, k0 = key0, k1 = key1;
    for (int round = 0; round < 10; ++round) {
        const ulong next_a = mul_hi(0xCA5A826395121157UL, c) ^ b ^ k0;
        const ulong next_c = mul_hi(0xD2E7470EE14C6C93UL, a) ^ d ^ k1;
        b = 0xCA5A826395121157UL * c;
        d = 0xD2E7470EE14C6C93UL * a;
        a = next_a;
        c = next_c;
        k0 += 0x9E3779B97F4A7C15UL;
        k1 += 0xBB67AE8584CAA73BUL;
    }
    if (kind == LONGS) {
        vstore4(((ulong4)(a, b, c, d) >> (ulong)(64 - bits)) + low, block, (__global ulong *)values);
        return;
    }
    uint8 word = (uint8)((uint)a, (uint)(a >> 32), (uint)b, (uint)(b >> 32),
                         (uint)c, (uint)(c >> 32), (uint)d, (uint)(d >> 32));
    if (kind == FLOATS) {
        word = as_uint8(convert_float8(word >> 8) * 0x1p-24f);
    } else if (kind == BYTES) {
        word = (word >> (8 - bits)) & (0x01010101u * ((1u << bits) - 1));
    } else if (count) {
        /* as numpy does it (Lemire 2019): a word is refused where the lower half of its product is too small */
        if (any(word * count < (uint8)((0u - count) % count))) {
            atomic_min(refused, block);
        }
        word = mul_hi(word, (uint8)(count)) + (uint)low;
    } else {
        word += (uint)low;
    }
    vstore8(word, block, values);
}
"""
_MACROS: Final = " ".join(f"-D{kind.name}={kind.value}" for kind in Kind)
_fill = opencl_kernel(_FILL, build_options=_MACROS)


class DeviceNumbers:
    """Makes numbers on a device (`xebench.measuring.random_numbers.Maker`).

    Args:
        queue: queue on the device.
    """

    def __init__(self, queue: dpctl.SyclQueue) -> None:
        self._queue = queue
        self._memory = DeviceMemory(queue)
        self._built: DeviceKernel | None = None

    def fill(self, values: Array, asked: Asked, key: Sequence[int], before: int) -> int | None:
        """See `Maker`: none where the driver takes no OpenCL C, or the device lacks memory."""
        try:
            return self._fill(values, asked, key, before)
        except (KernelError, XebenchError):
            return None

    def _fill(self, values: Array, asked: Asked, key: Sequence[int], before: int) -> int:
        blocks = values.nbytes // BLOCK_BYTES
        words = allocate(values.nbytes // 4, np.uint32, self._queue)
        refused = self._memory.upload(np.array([blocks], np.uint32))
        bits = max(0, asked.count.bit_length() - 1)
        arguments = (*key, before, int(asked.kind), asked.low % 2**64, asked.count % 2**32, bits, words, refused)
        space = Range(blocks)
        if self._built is None:
            self._built = build(compile_kernel(_fill, space, arguments), self._queue)
        PreparedLaunch(self._built, self._queue, space, arguments).submit().wait()
        self._queue.memcpy(values.view(np.uint8), words.usm_data, values.nbytes)
        return int(self._memory.read(refused)[0])
