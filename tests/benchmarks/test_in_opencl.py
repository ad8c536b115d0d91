"""How a variant is run again with twins in OpenCL C: what they are given, and what becomes of one that does not fit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.common import chase, nbody
from benchmarks.common.in_opencl import TwinSession, argument, literal, twin_of
from numba_sycl import KernelBuildError, kernel
from xebench.errors import Unsupported


def test_numbers_that_a_kernel_sees_when_it_is_compiled_become_macros_of_their_type() -> None:
    values = (3, True, np.int64(-4), np.float32(0.1), np.int32, np.float32, None, "text", np, [3])
    literals = ["3", "1", "-4", "0.10000000149011612f", "int", "float", "", "", "", ""]
    assert [literal(value) for value in values] == literals


def test_a_twin_is_given_arguments_by_name_and_extents_of_arrays() -> None:
    given = {"x": np.zeros((2, 3)), "steps": 7}
    assert [argument(given, name) for name in ("steps", "x_shape1", "x_shape0")] == [7, 3, 2]
    assert argument(given, "x") is given["x"]


def test_an_array_beyond_indices_of_32_bits_is_refused() -> None:
    large = SimpleNamespace(shape=(1 << 16, 1 << 15), size=1 << 31)
    with pytest.raises(Unsupported, match="x has 2147483648 elements: indices of twins are of 32 bits"):
        argument({"x": large}, "x_shape1")


def test_a_twin_has_the_name_and_the_options_of_its_kernel() -> None:
    add = kernel(sub_group_size=16, **nbody.OPTIONS)(nbody.add_forces)
    twin, of_kernel, of_twin = twin_of(add)
    assert twin.name == "add_forces"
    assert of_kernel == ["targets", "sources", "forces"]
    assert of_twin == [*of_kernel, "targets_shape0", "sources_shape0"]
    assert (twin.options.sub_group_size, twin.options.relaxed_math) == (16, True)
    assert "#define TILE 64\n" in twin.opencl_c
    assert twin_of(add)[0] is twin, "every sample launches the same one"


def test_a_driver_that_does_not_build_the_text_skips_the_variant_in_a_line() -> None:
    def refuse(*_: Any) -> None:
        raise KernelBuildError("chase", "a device", "no OpenCL C")

    session = SimpleNamespace(launch=refuse, chosen=lambda kernel: kernel)
    with pytest.raises(Unsupported, match="^kernel chase does not build for a device: no OpenCL C$"):
        TwinSession(session).launch(chase.chase, None, *range(6))
