"""A kernel that ends its process leaves its files, which are run again, each in a process of its own."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel_case import CRASHED, Child, KernelCase, ProcessEnded, run, run_again

pytestmark = pytest.mark.device

SOURCE = """
from numba_sycl import kernel, kernel_api as kapi
@kernel
def run(item: kapi.Item, x, factor):
    i = item.get_id(0)
    x[i] = x[i] * factor
"""


def case() -> KernelCase:
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    expected = {"x": x[0, ::2] * 2}
    arguments: list[list[Any]] = [["array", "x", "whole"], ["number", "int64", 2]]
    return KernelCase(SOURCE, (2,), None, {"x": x[0, ::2].copy()}, arguments, expected, {})


def run_and_end(one: KernelCase, folder: Path) -> None:
    """Run a case as `run` does, but with a driver that ends the process."""
    run(one, folder)
    os.abort()


def test_a_kernel_that_ends_its_process_is_kept_and_the_next_one_runs(tmp_path: Path) -> None:
    child = Child(tmp_path, kept=tmp_path / "kept")
    with pytest.raises(ProcessEnded, match=r"by signal SIGABRT: its files are in .*kept/kernel-1$"):
        child.call(run_and_end, case())
    kept = tmp_path / "kept" / "kernel-1"
    assert {"ended.txt", "kernel.py", "wide.spv", "narrow.spv", "arrays.npz", "expected.npz", "launch.json"} == {
        file.name for file in kept.iterdir()
    }
    assert (kept / "wide.spv").read_bytes()[:4] == b"\x03\x02\x23\x07"
    assert child.call(run_again, kept).wrong == []
    child.close()


def kept_kernels() -> list[Any]:
    return [pytest.param(folder, id=folder.name) for folder in sorted(CRASHED.glob("kernel-*"))]


@pytest.mark.parametrize("folder", kept_kernels())
def test_a_kernel_that_ended_a_process_does_so_no_more(folder: Path, tmp_path: Path) -> None:
    child = Child(tmp_path, kept=tmp_path / "kept")
    assert not child.call(run_again, folder).unoptimised
    child.close()
