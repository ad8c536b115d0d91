"""Whether products and sums may be contracted is an option of a kernel: off, on either compiler."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from numba_sycl import compile_kernel, kernel
from numba_sycl import kernel_api as kapi
from numba_sycl.kernel_options import KernelOptions
from numba_sycl.tensor import tensor as dpt

pytestmark = pytest.mark.device

EXECUTION_MODE, CONTRACTION_OFF = 16, 31


def multiply_and_add(item: kapi.Item, x: Any, a: Any, b: Any) -> None:
    i = item.get_id(0)
    x[i] = a * x[i] + b


def is_contracted(spirv: bytes) -> bool:
    words = struct.unpack(f"<{len(spirv) // 4}I", spirv)
    modes, at = set(), 5
    while at < len(words):
        if words[at] & 0xFFFF == EXECUTION_MODE:
            modes.add(words[at + 2])
        at += words[at] >> 16
    return CONTRACTION_OFF not in modes


@pytest.mark.parametrize(
    ("options", "contracted"),
    # fast arithmetic may be contracted, as LLVM's flags say
    [({}, False), ({"relaxed_math": True}, False), ({"fp_contract": True}, True), ({"fast_math": True}, True)],
)
def test_the_option_of_a_kernel_reaches_its_module(options: dict[str, Any], contracted: bool) -> None:
    arguments = (dpt.ones(8, dtype="f4"), np.float32(2), np.float32(3))
    compiled = compile_kernel(kernel(**options)(multiply_and_add), kapi.Range(8), arguments)
    assert is_contracted(compiled.spirv) == contracted


def test_it_is_part_of_the_options_of_a_kernel() -> None:
    assert KernelOptions(fp_contract=True).text() == '{"fp_contract": true}'
