"""What is asked of a kernel on the second device of a context: nothing that a driver may refuse."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from numba_sycl import kernel_api as kapi
from numba_sycl.device_kernel import DeviceKernel
from numba_sycl.errors import UnsupportedByDevice
from numba_sycl.kernel_options import KernelOptions
from numba_sycl.launch import check_index_space
from numba_sycl.signature import CompiledKernel, Signature

FIRST, SECOND = (
    SimpleNamespace(name=name, max_work_group_size=1024, max_work_item_sizes3d=(64, 1024, 1024))
    for name in ("first", "second")
)


class Kernel:
    """dpctl's, which asks for the first device of the context; it was built for another, and the driver refuses."""

    def __init__(self, built_for: Any) -> None:
        self._built_for = built_for

    def _answer(self, value: int) -> int:
        if self._built_for is not FIRST:
            pytest.fail("a C++ exception that ends the process")
        return value

    work_group_size = property(lambda self: self._answer(256))
    max_sub_group_size = property(lambda self: self._answer(32))
    compile_sub_group_size = property(lambda self: self._answer(0))


def built_for(device: Any) -> DeviceKernel:
    compiled = CompiledKernel("k", b"", KernelOptions(sub_group_size=16), Signature("NdItem", 1, ()), {}, cached=True)
    context = SimpleNamespace(get_devices=lambda: [FIRST, SECOND])
    return DeviceKernel(compiled, Kernel(device), device, context, {})


def space(group: int) -> Any:
    return kapi.NdRange((2048,), (group,))


def test_the_first_device_is_asked() -> None:
    kernel = built_for(FIRST)
    assert (kernel.max_work_group_size, kernel.max_sub_group_size, kernel.sub_group_size) == (256, 32, 16)
    check_index_space(kernel, space(256))
    with pytest.raises(UnsupportedByDevice, match="a work-group of 512; first allows 256"):
        check_index_space(kernel, space(512))


def test_of_the_second_only_the_device_itself_is_asked() -> None:
    kernel = built_for(SECOND)
    assert (kernel.max_work_group_size, kernel.max_sub_group_size, kernel.sub_group_size) == (None, None, 16)
    check_index_space(kernel, space(512))
    with pytest.raises(UnsupportedByDevice, match="a work-group of 2048; second allows 1024"):
        check_index_space(kernel, space(2048))
