"""Random kernels on the device against the same source in plain Python: `make fuzz` for many of them.

On the current stack they are compiled by our own target, on the pinned one by numba-dpex. Each runs in a child process.
"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device_kit import require, require_atomics
from hypothesis import HealthCheck, Phase, given, seed, settings
from kernel_case import VIEWS, Child, ChildError, KernelCase, ProcessEnded, run
from plain_kernels import run_plainly
from random_kernels import GROUP, ITEMS, TILES, RandomKernel, random_kernels

from numba_sycl.stacks import is_current

pytestmark = [pytest.mark.device, pytest.mark.nightly]

#: What bounds of loops may be.
BOUND = 4


def case_of(kernel: RandomKernel) -> KernelCase:
    """The launch of a kernel, and what plain Python makes of it."""
    tiles = [TILES[tile] for tile in sorted(TILES) if f", {tile}" in kernel.source]
    expected = kernel.arrays()
    numbers = [*kernel.scalars.values(), np.int64(BOUND)]
    views = [VIEWS[kind](expected[of]) for of, kind in kernel.views.values()]
    run_plainly(kernel.source, ITEMS, GROUP, [*expected.values(), *views, *numbers], tiles)
    arguments: list[list[Any]] = [["array", name, "whole"] for name in expected]
    arguments += [["array", of, kind] for of, kind in kernel.views.values()]
    arguments += [["number", number.dtype.name, int(number)] for number in numbers]
    arguments += [["local", GROUP, tile] for tile in tiles]
    return KernelCase(kernel.source, (ITEMS,), (GROUP,), kernel.arrays(), arguments, expected, kernel.ulp)


def test_random_kernels_are_right_on_the_device(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    require(np.float64)
    require_atomics(np.int64)
    count, number = pytestconfig.getoption("--kernels", 40), pytestconfig.getoption("--kernels-seed", 1)
    sources, started, child = hashlib.sha256(), time.perf_counter(), Child(tmp_path)
    ran = narrowed = refused = by_driver = 0
    crashed: list[str] = []

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],  # to explain takes ten times as long
    )
    @given(random_kernels())
    def each(kernel: RandomKernel) -> None:
        nonlocal ran, narrowed, refused, by_driver
        ran += 1
        sources.update(kernel.source.encode())
        try:
            found = child.call(run, case_of(kernel))
        except ProcessEnded as error:
            crashed.append(str(error))
            return
        except ChildError as error:
            if is_current() or "KernelCompileError" not in str(error):
                raise
            refused += 1  # numba-dpex's language is smaller
            return
        narrowed += found.narrowed
        by_driver += bool(found.wrong) and not found.unoptimised
        assert not found.unoptimised, f"{found}\nseed {kernel.seed}\n{kernel.source}"

    try:
        each()
    finally:
        child.close()
        spent = time.perf_counter() - started
        counts = f"{narrowed} narrowed, {refused} refused, {by_driver} wrong by the driver's optimizer"
        counts += f", {len(crashed)} ended their process"
        asked = f"--kernels {count} --kernels-seed {number}"  # both decide which kernels are made
        print(f"{asked}: {ran} kernels, {counts}, {spent:.0f} s, {sources.hexdigest()[:16]}")
    assert not crashed, "\n".join(crashed)
