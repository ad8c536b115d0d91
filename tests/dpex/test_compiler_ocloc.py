"""Intel's offline graphics compiler takes the SPIR-V, also the old one (IGC 1.0.12504 of Debian 12)."""

import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optional import needs

from numba_sycl import compile_kernel, kernel
from numba_sycl.kernel_options import KernelOptions
from numba_sycl.tensor import tensor as dpt
from xebench import kernel_api as kapi
from xebench.dpex import llvm14_text

pytestmark = [
    pytest.mark.device,
    pytest.mark.numba_dpex,
    needs("ocloc"),
]
DEVICES = ("pvc", "dg2-g10", "tgllp")


def copy(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = x[i]


def transpose(item: kapi.NdItem, x, y, tile):
    i, j = item.get_local_id(0), item.get_local_id(1)
    group = item.get_group()
    tile[j, i] = x[item.get_global_id(1), item.get_global_id(0)]
    kapi.group_barrier(group)
    y[group.get_group_id(0) * 8 + j, group.get_group_id(1) * 8 + i] = tile[i, j]


def histogram(item: kapi.NdItem, x, y, local):
    i = item.get_local_id(0)
    local[i] = 0
    kapi.group_barrier(item.get_group())
    for k in range(16):
        kapi.AtomicRef(local, x[item.get_global_linear_id() * 16 + k], address_space=kapi.AddressSpace.LOCAL).fetch_add(
            np.int32(1)
        )
    kapi.group_barrier(item.get_group())
    if item.get_global_range(0) > 4 and item.get_local_range(0) > i:
        kapi.AtomicRef(y, i).fetch_add(local[i])


def chain(item: kapi.Item, x, y):
    i = item.get_linear_id()
    kind = i % 4
    if kind == 0:
        y[i] = x[0]
    elif kind == 1:
        y[i] = x[i] // 3
    elif kind == 2:
        y[i] = -x[i]


@lru_cache
def compiled(name: str, queue: Any, **options: Any) -> bytes:
    f4 = [dpt.zeros((64, 64), dtype="f4", sycl_queue=queue) for _ in range(2)]
    i4 = [dpt.zeros(4096, dtype="i4", sycl_queue=queue) for _ in range(2)]
    function, space, args = {
        "copy": (copy, kapi.Range(4096), i4),
        "transpose": (transpose, kapi.NdRange((64, 64), (8, 8)), (*f4, kapi.LocalAccessor((8, 8), np.float32))),
        "histogram": (histogram, kapi.NdRange((256,), (64,)), (*i4, kapi.LocalAccessor((64,), np.int32))),
        "chain": (chain, kapi.Range(4096), i4),
    }[name]
    return compile_kernel(kernel(**options)(function), space, args).spirv


def ocloc(spirv: bytes, device: str, folder: Path, options: str = "") -> subprocess.CompletedProcess[str]:
    (folder / "kernel.spv").write_bytes(spirv)
    command = ["ocloc", "compile", "-file", "kernel.spv", "-spirv_input", "-device", device, "-out_dir", "out"]
    return subprocess.run(
        [*command, "-options", options], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["copy", "transpose", "histogram", "chain"])
def test_kernels_build_for_intel_gpus(name: str, device: str, queue: Any, tmp_path: Path) -> None:
    run = ocloc(compiled(name, queue), device, tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Build succeeded" in run.stdout


def test_options_build_for_intel_gpus(queue: Any, tmp_path: Path) -> None:
    options = {"sub_group_size": 16, "work_group_size": (8, 8), "unroll": 4, "fast_math": True, "restrict": True}
    flags, _ = KernelOptions(large_grf=True, relaxed_math=True).flags("opencl", "Intel(R) Corporation", "gpu")
    run = ocloc(compiled("transpose", queue, **options), "pvc", tmp_path, " ".join(flags))
    assert run.returncode == 0, run.stdout + run.stderr
    assert "warning" not in (run.stdout + run.stderr).lower()


def test_without_the_rewriting_the_old_compiler_fails(
    queue: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llvm14_text, "load_whole_builtins", lambda text: text)
    run = ocloc(compiled.__wrapped__("copy", queue), "pvc", tmp_path)
    if run.returncode == 0:
        pytest.skip("this IGC is new enough to take the IR as it is")
    assert "Build succeeded" not in run.stdout
