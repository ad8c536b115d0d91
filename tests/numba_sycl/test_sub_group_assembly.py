"""What Intel's offline compiler makes of sub-group kernels: block messages, and the SIMD width that was required."""

import re
from functools import lru_cache
from typing import Any

import device_kit as kit
import numpy as np
import pytest
from optional import needs

from numba_sycl import kernel, sub_group
from numba_sycl import kernel_api as kapi

pytestmark = pytest.mark.device

READS: dict[int, Any] = {
    1: sub_group.block_read,
    2: sub_group.block_read2,
    4: sub_group.block_read4,
    8: sub_group.block_read8,
}
WRITES: dict[int, Any] = {
    1: sub_group.block_write,
    2: sub_group.block_write2,
    4: sub_group.block_write4,
    8: sub_group.block_write8,
}
#: What one block message moves on every one of these GPUs, in bytes; some move more.
ONE_MESSAGE = 128


@lru_cache
def copy_kernel(width, size):
    read, write = READS[width], WRITES[width]

    @kernel(sub_group_size=size)
    def copy(item: kapi.NdItem, x, y):
        base = (item.get_group().get_group_id(0) * sub_group.num_groups() + sub_group.group_id()) * 8 * size
        write(y, base, read(x, base))

    return copy


def block_bytes(message):
    """The bytes that a block (transposed) message moves; any other message is an error."""
    elements = re.fullmatch(r"(?:load|store)\.ugm\.d(\d+)x(\d+)t", message)
    assert elements, f"{message} is no block message"
    return int(elements[1]) // 8 * int(elements[2])


@needs("ocloc")
@pytest.mark.parametrize("width", READS)
@pytest.mark.parametrize("gpu", kit.GPUS)
def test_a_block_is_as_few_messages_as_the_hardware_allows(gpu, width, tmp_path):
    x = np.zeros(4096, np.float32)
    assembly = kit.Assembly(kit.spirv_of(copy_kernel(width, 16), 64, x, x), gpu, tmp_path)

    size = 4 * 16 * width
    for kind in ("load", "store"):
        sizes = [block_bytes(message) for message in assembly.messages if message.startswith(kind)]
        assert sum(sizes) == size
        assert len(sizes) <= -(-size // ONE_MESSAGE)


@needs("ocloc")
@pytest.mark.parametrize(("gpu", "size"), [("pvc", 16), ("pvc", 32), ("dg2-g10", 8), ("dg2-g10", 16), ("dg2-g10", 32)])
def test_the_required_sub_group_size_is_the_simd_width(gpu, size, tmp_path):
    @kernel(sub_group_size=size)
    def rotate(item: kapi.NdItem, x, y):
        i = item.get_global_id(0)
        y[i] = sub_group.shuffle(x[i], (sub_group.local_id() + 1) % sub_group.size())

    x = np.zeros(4096, np.float32)
    assert kit.Assembly(kit.spirv_of(rotate, 64, x, x), gpu, tmp_path).simd == size


@needs("ocloc")
def test_without_block_access_every_lane_sends_its_address(tmp_path):
    @kernel(sub_group_size=16)
    def copy(item: kapi.NdItem, x, y):
        i = item.get_global_id(0)
        y[i] = x[i]

    x = np.zeros(4096, np.float32)
    messages = kit.Assembly(kit.spirv_of(copy, 64, x, x), "pvc", tmp_path).messages
    assert messages == ["load.ugm.d32", "store.ugm.d32"]


@needs("ocloc")
@pytest.mark.parametrize("gpu", kit.GPUS)
def test_every_function_compiles_for_intel_gpus(gpu, tmp_path):
    @kernel(sub_group_size=16)
    def everything(item: kapi.NdItem, x, y, masks):
        i = item.get_global_id(0)
        v = sub_group.shuffle(x[i], sub_group.size() - 1 - sub_group.local_id())
        v = sub_group.shuffle_xor(v, 1) + sub_group.shuffle_up(v, 1) + sub_group.shuffle_down(v, 1)
        v += sub_group.reduce_add(v) + sub_group.reduce_min(v) * sub_group.reduce_max(v)
        v += sub_group.inclusive_scan_add(v) - sub_group.exclusive_scan_add(v)
        v += sub_group.broadcast(v, sub_group.num_groups() - 1)
        sub_group.barrier()
        if sub_group.any(v > 0) and not sub_group.all(v > 1):
            y[i] = v
        masks[i] = sub_group.ballot(v > 2)

    x = np.zeros(64, np.float32)
    assembly = kit.Assembly(kit.spirv_of(everything, 64, x, x, np.zeros(64, np.uint64)), gpu, tmp_path)
    assert assembly.simd == 16
    assert assembly.messages
