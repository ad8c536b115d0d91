"""SPIR-V of kernels in OpenCL C: the suite's from the archive, others by ocloc, once."""

from __future__ import annotations

import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from optional import needs

from numba_sycl import kernel_api as kapi
from numba_sycl.errors import KernelBuildError
from numba_sycl.tensor import tensor as dpt
from xebench.dpex import NeedsOcloc, opencl_kernel, opencl_modules, spirv_kernel
from xebench.dpex.opencl_modules import foreign_digest, spirv_of
from xebench.errors import BrokenEnvironment
from xebench.session.session import Session

pytestmark = pytest.mark.device

TEXT = "__kernel void add(__global float *x, const float a) { x[get_global_id(0)] += a * FACTOR; }"
ARGUMENTS = "__global float *x, const float a"
#: What is asked of a device.
GPU: Any = SimpleNamespace(name="a GPU", backend=SimpleNamespace(name="level_zero"))


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture
def no_ocloc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda program: None)


@pytest.mark.nightly
def test_the_archive_has_every_kernel_of_the_suite_and_no_other() -> None:
    from tools.compilers.opencl_archive import ARCHIVE, kernels_in_opencl

    archived = set(zipfile.ZipFile(ARCHIVE).namelist())
    assert archived == {f"{digest}.spv" for digest in kernels_in_opencl()}, "run make opencl-kernels"
    assert len(archived) > 50


@pytest.mark.usefixtures("no_ocloc")
def test_what_is_archived_needs_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add = opencl_kernel(TEXT, build_options="-DFACTOR=2")
    archive = tmp_path / "archive.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(f"{foreign_digest(add)}.spv", b"module")
    monkeypatch.setattr(opencl_modules, "ARCHIVE", archive)
    assert spirv_of(add, GPU) == b"module"
    archive.write_bytes(b"no zip")
    with pytest.raises(BrokenEnvironment, match=r"^archive\.zip cannot be read \(.*\): install its program again$"):
        spirv_of(add, GPU)


@pytest.mark.usefixtures("no_ocloc")
def test_without_ocloc_one_line_names_the_package() -> None:
    with pytest.raises(NeedsOcloc) as caught:
        spirv_of(opencl_kernel(TEXT, build_options="-DFACTOR=3"), GPU)
    assert str(caught.value) == (
        "kernel add is in OpenCL C, but level_zero takes SPIR-V only: ocloc is not on the path: install it "
        "(Debian: intel-opencl-icd or intel-ocloc)"
    )


@needs("ocloc")
def test_text_is_compiled_once_to_what_a_driver_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    add = opencl_kernel(TEXT, build_options="-DFACTOR=2")
    module = spirv_of(add, GPU)
    monkeypatch.setattr(opencl_modules, "to_spirv", lambda *_: pytest.fail("compiled again"))
    assert spirv_of(add, GPU) == module
    session = Session.on("cpu")
    x = dpt.zeros(8, dtype="f4", sycl_queue=session.queue)
    session.launch(spirv_kernel(module, arguments=ARGUMENTS), kapi.Range(8), x, 3).wait()
    assert dpt.asnumpy(x).tolist() == [6.0] * 8


@needs("ocloc")
def test_what_ocloc_does_not_take_is_one_line() -> None:
    with pytest.raises(KernelBuildError) as caught:
        spirv_of(opencl_kernel(TEXT), GPU)
    line = str(caught.value)
    assert line.startswith("kernel add does not build for a GPU: ocloc makes no SPIR-V of it: ")
    assert "undeclared identifier 'FACTOR'" in line and "\n" not in line
