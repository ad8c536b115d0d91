"""Filling arrays as a command with an event."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.device


@pytest.fixture
def queue() -> Any:
    import dpctl

    return dpctl.SyclQueue("cpu", property="enable_profiling")


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("int8", -3), ("uint16", 65000), ("int32", -7), ("uint32", 2**32 - 1), ("float32", 1.5), ("int64", -(2**40))],
)
def test_every_element_becomes_the_value(queue: Any, dtype: str, value: Any) -> None:
    from numba_sycl.events import fill
    from numba_sycl.tensor import tensor as dpt

    array = dpt.zeros(1000, dtype=dtype, sycl_queue=queue)
    queue.wait()  # the zeros: dpctl 0.18 and later do not
    event = fill(queue, array[10:990], value)
    submit_ns, start_ns, end_ns = event.times()
    assert 0 < submit_ns <= start_ns <= end_ns
    expected = np.zeros(1000, dtype)
    expected[10:990] = value
    assert np.array_equal(dpt.asnumpy(array), expected)


def test_what_cannot_be_filled_is_refused(queue: Any) -> None:
    from numba_sycl import ArgumentError
    from numba_sycl.events import fill
    from numba_sycl.tensor import tensor as dpt

    with pytest.raises(ArgumentError, match="contiguous"):
        fill(queue, dpt.zeros(10, dtype="i4", sycl_queue=queue)[::2], 1)
    of_the_host: Any = np.zeros(3)
    with pytest.raises(ArgumentError, match="USM array"):
        fill(queue, of_the_host, 1)
