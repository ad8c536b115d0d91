"""Kernels that were compiled elsewhere: found by what they are, or one line that says what to do."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from current_stack import run_without_numba

from xebench.dpex import CompiledKernel, NotShipped, SpirvCache, compile_kernel, compiler, kernel, kernel_api, shipped
from xebench.dpex.shipped import shipped_key, source_digest
from xebench.dpex.signature import signature_of
from xebench.system.kernel_files import PackedKernel, write_pack
from xebench.system.runtime.tensor import tensor as dpt

pytestmark = pytest.mark.device


@kernel(unroll=2)
def add_one(item: kernel_api.Item, x: Any) -> None:
    x[item.get_id(0)] += 1


@pytest.fixture
def array(queue: Any) -> Any:
    return dpt.zeros(4, dtype="i4", sycl_queue=queue)


@pytest.fixture
def no_packs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where the project's pack is looked for: there is none."""
    path = tmp_path / "pack.zip"
    monkeypatch.setattr(shipped, "OWN_PACK", path)
    return path


def pack(kernel: Any, compiled: CompiledKernel, path: Path) -> None:
    """Ship a kernel, and nothing else."""
    packed = PackedKernel(
        kernel=compiled.name,
        origin="here",
        signature=str(compiled.signature),
        atomic64=compiled.signature.atomic64,
        options="{}",
        source=source_digest(kernel),
        key=shipped_key(kernel, compiled.signature),
        spirv=hashlib.sha256(compiled.spirv).hexdigest(),
    )
    write_pack(path, {}, [(packed, compiled.spirv, b"")])
    shipped._kernels.cache_clear()  # which has seen that there is none


def test_a_shipped_kernel_is_what_was_compiled(array: Any, no_packs: Path) -> None:
    compiled = compile_kernel(add_one, kernel_api.Range(4), (array,))
    pack(add_one, compiled, no_packs)
    found = shipped.find_shipped(add_one, compiled.signature)
    assert (found.name, found.spirv, found.options) == (compiled.name, compiled.spirv, compiled.options)
    assert found.cached


def test_a_pack_that_was_made_since_takes_the_place_of_what_was_kept(
    array: Any, no_packs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = compile_kernel(add_one, kernel_api.Range(4), (array,))
    cache = SpirvCache(tmp_path / "cache")
    monkeypatch.setattr(compiler, "compile_here", lambda *_: replace(compiled, cached=False))

    def find() -> CompiledKernel:
        return compiler.find_or_compile(add_one, compiled.signature, cache)

    monkeypatch.setattr(compiler, "has_compiler", lambda: True)
    assert [find().cached, find().cached] == [False, True]
    pack(add_one, replace(compiled, name="packed"), no_packs)
    assert [find().name, find().name] == ["packed", "packed"]
    no_packs.unlink()
    shipped._kernels.cache_clear()
    assert find().name == compiled.name


def test_what_is_not_shipped_is_one_line_with_the_way_to_make_it(array: Any, no_packs: Path) -> None:
    signature = signature_of(add_one, kernel_api.Range(4), (array,))
    with pytest.raises(NotShipped) as caught:
        shipped.find_shipped(add_one, signature)
    line = (
        "kernel add_one is not shipped for (Item<1>, int32[:]C): run 'python -m pip install numba', which compiles it"
    )
    assert str(caught.value) == f"{line} here"


def test_what_cannot_be_shipped_says_why(array: Any, no_packs: Path) -> None:
    thing = object()

    @kernel
    def of_an_object(item: kernel_api.Item, x: Any) -> None:
        x[0] = thing

    with pytest.raises(NotShipped, match="it refers to <object object.*, so that it cannot be shipped"):
        shipped.find_shipped(of_an_object, signature_of(of_an_object, kernel_api.Range(4), (array,)))


def test_everything_is_importable_and_says_what_is_missing_without_numba() -> None:
    done = run_without_numba(
        "import xebench.dpex as dpex, dpctl\n"
        "from xebench import kernel, kernel_api as kapi\n"
        "from xebench.dpex import atomics, native, sub_group, vector, work_group\n"
        "from xebench.system.runtime.tensor import empty\n"
        "@kernel(sub_group_size=8)\n"
        "def run(item: kapi.NdItem, x):\n"
        "    x[0] = sub_group.reduce_add(x[0])\n"
        "for call in (lambda: dpex.compile_kernel(run, kapi.Range(4), (empty(4),)), dpex.load_numba_dpex, run):\n"
        "    try:\n"
        "        call()\n"
        "    except dpex.DpexError as error:\n"
        "        print(type(error).__name__, error)\n"
        "print(sub_group.reduce_add, vector.alignment(4, 4))\n"
    )
    assert done.returncode == 0, done.stderr
    missing, module, call, names = done.stdout.splitlines()
    assert missing.startswith("NotShipped kernel run is not shipped for (Item<1>, float64[:]C): ")
    assert (
        module == "NeedsCompiler numba_dpex.call_kernel and the like: numba-dpex is needed, which only the pinned "
        "environment has"
    )
    assert call.startswith("NeedsCompiler a call of run on the host: ")
    assert names == "<device function sub_group.reduce_add> 16"
