"""What the tests of kernels' functions share: the stack, loaded in the right order; launches; skips; assembly."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import runtime

runtime.load()

import dpctl  # noqa: E402
import dpctl.tensor as dpt  # noqa: E402
import numba_dpex  # noqa: E402
from numba_dpex import kernel_api as kapi  # noqa: E402

from harness.dpex import compile_kernel, errors  # noqa: E402

__all__ = ["Assembly", "dpt", "kapi", "launch", "refused", "require", "sample_of", "spirv_of", "sub_groups"]

GPUS = ("pvc", "dg2-g10")


def require(dtype: Any = np.int32, sub_group_size: int | None = None) -> None:
    """Skip the test if the default device lacks a type or a sub-group size."""
    device = dpctl.SyclDevice()
    if np.dtype(dtype) == np.float64 and not device.has_aspect_fp64:
        pytest.skip(f"{device.name} has no float64")
    if np.dtype(dtype) == np.float16 and not device.has_aspect_fp16:
        pytest.skip(f"{device.name} has no float16")
    if sub_group_size is not None and sub_group_size not in device.sub_group_sizes:
        pytest.skip(f"{device.name} has sub-groups of {list(device.sub_group_sizes)}, not {sub_group_size}")


def launch(kernel: Any, items: Any, group: Any, *arrays: Any) -> list[np.ndarray]:
    """Run a kernel on the default device; numpy arrays go there, and what they hold afterwards comes back."""
    on_device = [dpt.asarray(a) if isinstance(a, np.ndarray) else a for a in arrays]
    index_space = kapi.NdRange(_extents(items), _extents(group))
    numba_dpex.call_kernel(kernel, index_space, *on_device)
    return [dpt.asnumpy(a) for a in on_device if isinstance(a, dpt.usm_ndarray)]


def spirv_of(kernel: Any, group: int, *arguments: Any) -> Any:
    """A kernel compiled to SPIR-V for a 1-D index space."""
    on_device = [dpt.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments]
    return compile_kernel(kernel, kapi.NdRange((group,), (group,)), on_device)


def refused(kernel: Any, *arguments: Any) -> str:
    """The one line with which a kernel is refused, after checking that it points at the line marked ``# wrong``."""
    with pytest.raises(errors.KernelCompileError) as caught:
        spirv_of(kernel, 16, *arguments)
    line = int(caught.value.location.rpartition(":")[2])
    assert "# wrong" in Path(__file__).with_name(Path(kernel.py_func.__code__.co_filename).name).read_text(
        encoding="utf-8"
    ).splitlines()[line - 1]
    assert "\n" not in str(caught.value)
    return caught.value.reason


def sample_of(dtype: Any, count: int) -> np.ndarray:
    """Reproducible numbers over the whole range of an integer type, or whole numbers whose sums are exact."""
    rng = np.random.default_rng(count)
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        return rng.integers(limits.min, limits.max, count, dtype=kind, endpoint=True)
    return rng.integers(-20, 20, count).astype(kind)


def sub_groups(group: np.ndarray, sub_group: np.ndarray, lane: np.ndarray) -> Iterator[np.ndarray]:
    """The work-items of each sub-group in the order of their lanes, from the ids that a kernel wrote."""
    for key in sorted(set(zip(group.tolist(), sub_group.tolist(), strict=True))):
        members = np.flatnonzero((group == key[0]) & (sub_group == key[1]))
        yield members[np.argsort(lane[members])]


class Assembly:
    """A kernel as the offline compiler makes it for an Intel GPU.

    Attributes:
        simd: the SIMD width of the compiled kernel.
        messages: memory messages without the ones that fetch arguments, such as ``load.ugm.d32x16t``.
    """

    def __init__(self, compiled: Any, device: str, folder: Path) -> None:
        compiler = shutil.which("ocloc")
        if compiler is None:
            pytest.skip("ocloc is not installed (Debian: intel-opencl-icd)")
        (folder / "k.spv").write_bytes(compiled.spirv)
        done = subprocess.run(
            [compiler, "compile", "-file", "k.spv", "-spirv_input", "-device", device, "-output", "k"],
            cwd=folder,
            env={**os.environ, "IGC_ShaderDumpEnable": "1", "IGC_DumpToCustomDir": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        (listing,) = folder.glob("*.asm")
        self.simd = int(re.search(r"simd(\d+)", listing.name)[1])
        found = re.findall(r"\b((?:load|store)\.(?:ugm|slm)\.d\w+)\S* \((\d+)\|M\d+\) +(.*)", listing.read_text())
        self.messages = [message for message, _, operands in found if not self._fetches_arguments(operands)]

    @staticmethod
    def _fetches_arguments(operands: str) -> bool:
        return "bti[255]" in operands


def both_gpus(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test for each Intel GPU whose code is looked at."""
    return pytest.mark.parametrize("gpu", GPUS)(test)


def _extents(extents: Any) -> tuple[int, ...]:
    return extents if isinstance(extents, tuple) else (extents,)
