"""The examples of docs/dpex.md run as they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "dpex.md"


@pytest.mark.device
@pytest.mark.numba_dpex
def test_the_examples_run(tmp_path: Path) -> None:
    import dpctl

    from numba_sycl.tensor import tensor as dpt
    from xebench import kernel_api as kapi

    kernel_example, launch_example = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    source = tmp_path / "example.py"  # the compiler and the cache want a file
    source.write_text(kernel_example)
    names: dict[str, Any] = {}
    exec(compile(kernel_example, source, "exec"), names)

    queue = dpctl.SyclQueue("cpu", property="enable_profiling")
    x = np.arange(4 * 64, dtype=np.float32)
    arguments = (dpt.asarray(x, sycl_queue=queue), dpt.zeros(4, dtype="f4", sycl_queue=queue))
    others = (arguments[0], dpt.zeros(4, dtype="f4", sycl_queue=queue))
    names |= {"space": kapi.NdRange((64,), (32,)), "arguments": arguments, "other_arguments": others, "queue": queue}
    names["other_event"] = queue.submit_barrier()
    exec(launch_example, names)
    names["launch"].submit().wait()
    expected = x.reshape(4, 64).sum(axis=1)
    assert np.array_equal(dpt.asnumpy(arguments[1]), expected)
    assert np.array_equal(dpt.asnumpy(others[1]), expected)
    assert 0 < names["submit_ns"] <= names["start_ns"] <= names["end_ns"]
