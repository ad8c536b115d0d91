"""SPIR-V of kernels in OpenCL C: made by ocloc, kept where there is none or another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optional import needs

from xebench.dpex import kernel_api as kapi
from xebench.dpex import opencl_kernel, shipped, spirv_kernel
from xebench.dpex.compiler import of_this_stack
from xebench.dpex.foreign_kernel import foreign_digest
from xebench.dpex.shipped import shipped_spirv
from xebench.dpex.signature import signature_of
from xebench.isa import packing
from xebench.isa.ocloc import NoCompiler
from xebench.isa.packing import KernelRecorder, OpenCLModules
from xebench.measuring.session.session import Session
from xebench.system.kernel_files import OCLOC, write_pack
from xebench.system.runtime.tensor import tensor as dpt

pytestmark = pytest.mark.device

TEXT = "__kernel void add(__global float *x, const float a) { x[get_global_id(0)] += a * FACTOR; }"
ARGUMENTS = "__global float *x, const float a"


def no_compiler() -> Any:
    raise NoCompiler("none")


@needs("ocloc")
def test_the_same_text_gives_the_same_bytes_which_the_driver_takes(tmp_path: Path) -> None:
    add = opencl_kernel(TEXT, build_options="-DFACTOR=2")
    modules = OpenCLModules(tmp_path / "none.zip")
    module = modules.module(add)
    assert OpenCLModules(tmp_path / "none.zip").module(add) == module
    assert len(modules.versions) == 1
    session = Session.on(dpt.empty(1).sycl_device.filter_string)
    x = dpt.zeros(8, dtype="f4", sycl_queue=session.queue)
    session.launch(spirv_kernel(module, arguments=ARGUMENTS), kapi.Range(8), x, 3).wait()
    assert dpt.asnumpy(x).tolist() == [6.0] * 8


@needs("ocloc")
def test_what_ocloc_does_not_take_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(NoCompiler, match=r"^kernel add: ocloc makes no SPIR-V of it: .*undeclared identifier 'FACTOR'"):
        OpenCLModules(tmp_path / "none.zip").module(opencl_kernel(TEXT))


def test_without_ocloc_what_was_packed_is_kept_and_the_rest_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "find_compiler", no_compiler)
    kept, new = opencl_kernel(TEXT, build_options="-DFACTOR=2"), opencl_kernel(TEXT, build_options="-DFACTOR=3")
    recorder = KernelRecorder(of_this_stack, lambda kernel: b"module")
    arguments = (dpt.zeros(8, dtype="f4"), np.float32(1))
    recorder(kept, signature_of(kept, kapi.Range(8), arguments), None)
    earlier = tmp_path / "earlier.zip"
    write_pack(earlier, {OCLOC: "1.2"}, recorder.kernels.values())
    modules = OpenCLModules(earlier)
    assert modules.module(kept) == b"module"
    assert modules.versions == {"1.2"}
    with pytest.raises(NoCompiler, match=r"^kernel add is in OpenCL C: ocloc is needed \(Debian: intel-opencl-icd\)$"):
        modules.module(new)


def test_a_pack_has_it_for_level_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add = opencl_kernel(TEXT, build_options="-DFACTOR=5")
    recorder = KernelRecorder(of_this_stack, lambda kernel: b"module")
    recorder(add, signature_of(add, kapi.Range(8), (dpt.zeros(8, dtype="f4"), 1)), None)
    ((packed, module, _),) = recorder.kernels.values()
    expected = ("add", foreign_digest(add), "(global float32*, float32)")
    assert (packed.kernel, packed.key, packed.signature) == expected
    pack = tmp_path / "own.zip"
    write_pack(pack, {}, [(packed, module, b"")])
    monkeypatch.setattr(shipped, "OWN_PACK", pack)
    assert shipped_spirv(add, "level_zero") == b"module"
