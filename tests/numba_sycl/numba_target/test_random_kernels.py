"""Random kernels on the device against the same source in plain Python: `make fuzz` for many of them.

On the current stack they are compiled by our own target, on the pinned one by numba-dpex.
"""

from __future__ import annotations

import gc
import hashlib
import linecache
import time
from pathlib import Path
from typing import Any

import dpctl
import numpy as np
import pytest
from device_kit import require, require_atomics
from hypothesis import HealthCheck, Phase, given, seed, settings
from plain_kernels import run_plainly
from random_kernels import GROUP, ITEMS, TILES, VIEWS, RandomKernel, random_kernels

from numba_sycl import KernelCompileError
from numba_sycl import kernel_api as kapi
from numba_sycl.stacks import is_current
from numba_sycl.tensor import tensor as dpt
from numba_sycl.testing import Comparison, compare_launch

pytestmark = pytest.mark.device

#: What bounds of loops may be.
BOUND = 4


def kernel_of(source: str, file: Path) -> Any:
    """The kernel of a module; its text stays in the file, should the driver end this process."""
    file.write_text(source, encoding="utf-8")
    linecache.checkcache(str(file))
    namespace: dict[str, Any] = {"__name__": "random_kernel"}
    exec(compile(source, str(file), "exec"), namespace)
    return namespace["run"]


def compared(case: RandomKernel, file: Path) -> Comparison:
    """Run a kernel on the device and in plain Python."""
    tiles = [tile for tile in sorted(TILES) if f", {tile}" in case.source]
    expected = case.arrays()
    numbers = [*case.scalars.values(), np.int64(BOUND)]
    views = [VIEWS[kind](expected[of]) for of, kind in case.views.values()]
    run_plainly(case.source, ITEMS, GROUP, [*expected.values(), *views, *numbers], [TILES[tile] for tile in tiles])
    queue, index_space = dpctl.SyclQueue(), kapi.NdRange((ITEMS,), (GROUP,))
    local = [kapi.LocalAccessor((GROUP,), np.dtype(TILES[tile]).type) for tile in tiles]
    kernel = kernel_of(case.source, file)

    def arguments() -> list[Any]:
        arrays = {name: dpt.asarray(array, sycl_queue=queue) for name, array in case.arrays().items()}
        return [*arrays.values(), *(VIEWS[kind](arrays[of]) for of, kind in case.views.values()), *numbers, *local]

    return compare_launch(kernel, index_space, arguments, expected, case.ulp)


@pytest.mark.nightly
def test_random_kernels_are_right_on_the_device(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    require(np.float64)
    require_atomics(np.int64)
    count, number = pytestconfig.getoption("--kernels", 40), pytestconfig.getoption("--kernels-seed", 1)
    sources, started = hashlib.sha256(), time.perf_counter()
    run = narrowed = refused = by_driver = 0
    gc.freeze()  # numba's garbage is much, and everything else would be looked through for it

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],  # to explain takes ten times as long
    )
    @given(random_kernels())
    def each(case: RandomKernel) -> None:
        nonlocal run, narrowed, refused, by_driver
        run += 1
        sources.update(case.source.encode())
        try:
            found = compared(case, tmp_path / "kernel.py")
        except KernelCompileError:
            if is_current():
                raise
            refused += 1  # numba-dpex's language is smaller
            return
        narrowed += found.narrowed
        by_driver += bool(found.wrong) and not found.unoptimised
        assert not found.unoptimised, f"{found}\nseed {case.seed}\n{case.source}"

    try:
        each()
    finally:
        spent = time.perf_counter() - started
        counts = f"{narrowed} narrowed, {refused} refused, {by_driver} wrong by the driver's optimizer"
        print(f"seed {number}: {run} kernels, {counts}, {spent:.0f} s, {sources.hexdigest()[:16]}")
        gc.unfreeze()
