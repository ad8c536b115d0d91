"""Kernels that nobody tuned the compiler by compute what their twins in OpenCL C do, with indices of both widths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from numba_sycl.tensor import tensor as dpt
from numba_sycl.testing import compare_launch
from tools.studies.unseen.cases import BUILD_OPTIONS, TWINS, Case, cases
from xebench import opencl_kernel
from xebench.session.session import Session

pytestmark = [pytest.mark.device, pytest.mark.nightly]

CASES = list(cases())
#: Divisions are rounded to within 2.5 units in OpenCL C.
ULP = 16


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_kernel_and_its_twin_agree(case: Case) -> None:
    session = Session.on(dpt.empty(1).sycl_device.filter_string)
    if session.device.backend.name != "opencl":
        pytest.skip("the device takes no OpenCL C")
    arrays = {id(array): array for array in case.of_twin if isinstance(array, np.ndarray)}

    def on_device(arguments: tuple[Any, ...], copies: dict[int, Any]) -> list[Any]:
        return [copies.get(id(argument), argument) for argument in arguments]

    def copied() -> dict[int, Any]:
        return {key: dpt.asarray(array, sycl_queue=session.queue) for key, array in arrays.items()}

    of_twin = copied()
    twin = opencl_kernel(TWINS.read_text(encoding="utf-8"), name=case.name, build_options=BUILD_OPTIONS)
    session.launch(twin, case.space, *on_device(case.of_twin, of_twin)).wait()
    expected = {
        f"argument {at}": dpt.asnumpy(of_twin[id(array)])
        for at, array in enumerate(case.arguments)
        if id(array) in of_twin
    }
    assert any((expected[name] != case.arguments[int(name.split()[1])]).any() for name in expected)
    ulps = {name: ULP for name, array in expected.items() if array.dtype.kind == "f"}
    found = compare_launch(case.kernel, case.space, lambda: on_device(case.arguments, copied()), expected, ulps)
    assert not found.wrong, found
    assert found.narrowed
