"""Binaries that drivers make of kernels."""

from typing import Any

import dpctl
import pytest

from numba_sycl import DeviceKernel, build, compile_kernel, kernel
from numba_sycl import kernel_api as kapi
from numba_sycl.tensor import tensor as dpt
from xebench.dpex.binaries import native_code

pytestmark = pytest.mark.device

N = 64


@kernel
def touch(item: kapi.Item, x):
    x[item.get_id(0)] = 1


def built(run: Any, index_space: Any, args: Any, queue: Any) -> DeviceKernel:
    return build(compile_kernel(run, index_space, args), queue)


def sub_devices(queue: Any, partition: Any) -> Any:
    try:
        return queue.sycl_device.create_sub_devices(partition=partition)
    except dpctl.SyclSubDeviceCreationError as error:
        pytest.skip(f"no sub-devices here: {error}")


def test_code_of_a_kernel_for_the_second_device_of_a_context(queue: Any) -> None:
    parts = sub_devices(queue, (1, 1))
    context = dpctl.SyclContext(parts)
    codes = []
    for part in parts:
        own = dpctl.SyclQueue(context, part)
        args = (dpt.zeros(N, dtype="f4", sycl_queue=own),)
        codes.append(native_code(built(touch, kapi.Range(N), args, own)))
    assert codes[0] is not None and codes[0] == codes[1]
