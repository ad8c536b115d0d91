"""Random kernels of further constructs against ``numba.njit``, each in a child process: ``--kernels 2000``."""

from __future__ import annotations

import time
from pathlib import Path

import njit_case
import numpy as np
import pytest
from device_kit import require, require_atomics
from kernel_case import Child, ChildError, ProcessEnded

from numba_sycl.stacks import is_current

pytestmark = [
    pytest.mark.device,
    pytest.mark.nightly,
    pytest.mark.skipif(not is_current(), reason="numba-dpex types these kernels otherwise"),
]


def test_kernels_are_right_on_the_device(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    require(np.float64)
    require_atomics(np.int64)
    count, first = pytestconfig.getoption("--kernels", 40), pytestconfig.getoption("--kernels-seed", 1)
    narrowed, by_driver, started, child = 0, 0, time.perf_counter(), Child(tmp_path)
    failed: list[str] = []
    for seed in range(first, first + count):
        try:
            found = child.call(njit_case.check, seed)
        except (ProcessEnded, ChildError) as error:
            failed.append(f"seed {seed}: {error}")
            continue
        narrowed += found.narrowed
        by_driver += bool(found.wrong) and not found.unoptimised
        if found.unoptimised:
            failed.append(f"seed {seed}: {'; '.join(found.unoptimised)}")
    child.close()
    counts = f"{count - len(failed)} right, {narrowed} narrowed, {by_driver} wrong by the driver's optimizer"
    print(f"seeds {first} to {first + count - 1}: {counts}, {time.perf_counter() - started:.0f} s")
    assert not failed, "\n".join(failed)
