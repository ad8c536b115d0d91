"""What the tests of kernels' functions share: launches, skips, refusals, assembly for Intel GPUs."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dpctl
import numpy as np
import pytest
from numpy.typing import NDArray

from numba_sycl import CompiledKernel, PreparedLaunch, build, compile_kernel, errors
from numba_sycl import kernel_api as kapi
from numba_sycl.narrow.module import bounded_module
from numba_sycl.stacks import is_current
from numba_sycl.tensor import tensor as dpt

#: Intel GPUs whose code is looked at.
GPUS = ("pvc", "dg2-g10")

#: Types that a sub-group exchanges and a vector holds.
DTYPES = tuple(
    np.dtype(name).type
    for name in (
        *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
        *("float16", "float32", "float64"),
    )
)


def require(dtype: Any = np.int32, sub_group_size: int | None = None) -> None:
    """Skip the test if the default device lacks a type or a sub-group size."""
    device = dpctl.SyclDevice()
    if np.dtype(dtype) == np.float64 and not device.has_aspect_fp64:
        pytest.skip(f"{device.name} has no float64")
    if np.dtype(dtype) == np.float16 and not device.has_aspect_fp16:
        pytest.skip(f"{device.name} has no float16")
    if sub_group_size is not None and sub_group_size not in device.sub_group_sizes:
        pytest.skip(f"{device.name} has sub-groups of {list(device.sub_group_sizes)}, not {sub_group_size}")


def require_atomics(dtype: Any) -> None:
    """Skip the test if the default device has no atomics on a type."""
    require(dtype)
    device = dpctl.SyclDevice()
    if np.dtype(dtype).itemsize == 8 and not device.has_aspect_atomic64:
        pytest.skip(f"{device.name} has no 64-bit atomics")


def require_blocks(sub_group_size: int) -> None:
    """Skip the test if the default device has no sub-group block access at a sub-group size."""
    device = dpctl.SyclDevice()
    if "Intel" not in device.vendor:
        pytest.skip(f"{device.name} is no Intel device: SPV_INTEL_subgroups is Intel's")
    if device.is_gpu and sub_group_size == 32 and 8 in device.sub_group_sizes:
        pytest.skip(f"{device.name} is of a generation without block access at 32 lanes")


def launch(kernel: Any, items: Any, group: Any, *arrays: Any) -> list[NDArray[Any]]:
    """Run a kernel on the default device; numpy arrays go there, and what they hold afterwards comes back."""
    queue = dpctl.SyclQueue()
    on_device = [dpt.asarray(a, sycl_queue=queue) if isinstance(a, np.ndarray) else a for a in arrays]
    index_space = kapi.NdRange(_extents(items), _extents(group))
    compiled = compile_kernel(kernel, index_space, on_device)
    PreparedLaunch(build(compiled, queue), queue, index_space, on_device).submit().wait()
    return [dpt.asnumpy(a) for a in on_device if isinstance(a, dpt.usm_ndarray)]


def launch_each(kernel: Any, items: int, *arrays: Any) -> list[list[NDArray[Any]]]:
    """What arrays hold after a kernel's module, and after the one for launches within a limit, if there is one."""
    queue, index_space, found = dpctl.SyclQueue(), kapi.Range(items), []
    for narrow in (False, True):
        on_device = [dpt.asarray(a, sycl_queue=queue) if isinstance(a, np.ndarray) else a for a in arrays]
        compiled = compile_kernel(kernel, index_space, on_device)
        if narrow and not compiled.narrow:
            break
        module = compiled.narrowed if narrow else compiled
        PreparedLaunch(build(module, queue), queue, index_space, on_device).submit().wait()
        found.append([dpt.asnumpy(a) for a in on_device if isinstance(a, dpt.usm_ndarray)])
    return found


def bounded_text(compiled: CompiledKernel) -> str:
    """The LLVM IR of a kernel for launches within a limit."""
    return bounded_module(compiled.llvm_ir or "", compiled.name, compiled.signature, lambda text: text)[0]


def spirv_of(kernel: Any, group: int, *arguments: Any) -> Any:
    """A kernel compiled to SPIR-V for a 1-D index space."""
    on_device = [dpt.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments]
    return compile_kernel(kernel, kapi.NdRange((group,), (group,)), on_device)


def instructions(*compiled: Any) -> set[str]:
    """The SPIR-V instructions of kernels, without the ``Op``, and the names of the extensions that they declare."""
    dpcpp_llvm_spirv = pytest.importorskip("dpcpp_llvm_spirv", reason="kernels are compiled on the pinned stack")
    found = set()
    for each in compiled:
        with TemporaryDirectory() as folder:
            module, text = Path(folder, "k.spv"), Path(folder, "k.txt")
            module.write_bytes(each.spirv)
            translator = dpcpp_llvm_spirv.get_llvm_spirv_path()
            subprocess.run([translator, "--to-text", str(module), "-o", str(text)], check=True)
            listing = text.read_text(encoding="utf-8")
        found |= set(re.findall(r"^\d+ (\w+)", listing, re.MULTILINE))
        found |= set(re.findall(r'Extension "(\w+)"', listing))
    return found


def documented_instructions(module: Any) -> set[str]:
    """The instructions that the docstrings of a module's functions name, without the ``Op``."""
    texts = (getattr(module, name).__doc__ or "" for name in module.__all__)
    return {name for text in texts for name in re.findall(r"``Op(\w+)``", text)}


def refused(kernel: Any, *arguments: Any) -> str:
    """The one line with which a kernel is refused, after checking that it points at the line marked ``# wrong``."""
    if is_current() and importlib.util.find_spec("numba") is None:
        pytest.skip("kernels are compiled, and refused, where numba is installed")
    with pytest.raises(errors.KernelCompileError) as caught:
        spirv_of(kernel, 16, *arguments)
    file, _, line = caught.value.location.rpartition(":")
    assert "# wrong" in Path(file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
    assert "\n" not in str(caught.value)
    return caught.value.reason


def sample_of(dtype: Any, count: int) -> NDArray[Any]:
    """Reproducible numbers over the whole range of an integer type, or whole numbers whose sums are exact."""
    rng = np.random.default_rng(count)
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        return rng.integers(limits.min, limits.max, count, dtype=kind, endpoint=True)
    return rng.integers(-20, 20, count).astype(kind)


def sub_groups(group: NDArray[Any], sub_group: NDArray[Any], lane: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """The work-items of each sub-group in the order of their lanes, from the ids that a kernel wrote."""
    for key in sorted(set(zip(group.tolist(), sub_group.tolist(), strict=True))):
        members = np.flatnonzero((group == key[0]) & (sub_group == key[1]))
        yield members[np.argsort(lane[members])]


class Assembly:
    """A kernel as the offline compiler makes it for an Intel GPU.

    Attributes:
        simd: the SIMD width of the compiled kernel.
        text: the listing.
        messages: memory messages without the ones that fetch arguments, such as ``load.ugm.d32x16t``.
    """

    def __init__(self, compiled: Any, device: str, folder: Path) -> None:
        (folder / "k.spv").write_bytes(compiled.spirv)
        done = subprocess.run(
            ["ocloc", "compile", "-file", "k.spv", "-spirv_input", "-device", device, "-output", "k"],
            cwd=folder,
            env={**os.environ, "IGC_ShaderDumpEnable": "1", "IGC_DumpToCustomDir": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        listings = sorted(folder.glob("*.asm"))  # one for the kernel, and one for each function left in it
        self.simd = int(re.findall(r"simd(\d+)", listings[0].name)[0])
        self.text = "\n".join(listing.read_text(encoding="utf-8") for listing in listings)
        found = re.findall(r"\b((?:load|store)\.(?:ugm|slm)\.d\w+)(.*)", self.text)
        self.messages = [message for message, operands in found if "bti[255]" not in operands]


def _extents(extents: Any) -> tuple[int, ...]:
    return extents if isinstance(extents, tuple) else (extents,)
