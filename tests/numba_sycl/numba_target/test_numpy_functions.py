"""Numpy's functions of one number in kernels, by our own target: right, and with nothing of the host's library left."""

from __future__ import annotations

import numpy as np
import pytest
from device_kit import launch

from numba_sycl import kernel
from numba_sycl import kernel_api as kapi
from numba_sycl.stacks import is_current

pytestmark = [pytest.mark.device, pytest.mark.skipif(not is_current(), reason="numba-dpex compiles on this stack")]

OF_ONE = (
    *("sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "exp2", "sin", "cos", "tan", "arcsin", "arccos"),
    *("arctan", "sinh", "cosh", "tanh", "floor", "ceil", "trunc", "rint", "fabs", "square", "sign", "cbrt", "degrees"),
)
OF_TWO = ("maximum", "minimum", "power", "arctan2", "hypot", "fmod")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", OF_ONE)
def test_functions_of_one_number(name: str, dtype: str) -> None:
    function = getattr(np, name)

    @kernel
    def apply(item: kapi.NdItem, x, y):
        i = item.get_global_id(0)
        y[i] = function(x[i])

    x = np.linspace(0.1, 0.9, 8, dtype=dtype)
    _, y = launch(apply, 8, 8, x, np.zeros(8, dtype))
    assert np.allclose(y, function(x), rtol=1e-5 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two_numbers(name: str) -> None:
    function = getattr(np, name)

    @kernel
    def apply(item: kapi.NdItem, x, y):
        i = item.get_global_id(0)
        y[i] = function(x[i], y[i])

    x, y = np.linspace(0.1, 0.9, 8, dtype=np.float32), np.linspace(0.8, 0.2, 8, dtype=np.float32)
    assert np.allclose(launch(apply, 8, 8, x, y.copy())[1], function(x, y), rtol=1e-5)
