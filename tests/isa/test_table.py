"""Rows of the table, from launches and a stand-in for the compiler."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import isa_kit as kit
import pytest

from xebench.isa.collect import KernelLaunch
from xebench.isa.compilation import Compiler
from xebench.isa.ocloc import find_compiler
from xebench.isa.table import ISA, compile_launches, frame, row, targets


def launch(variant: str, content: bytes, **fields: Any) -> KernelLaunch:
    digest = sha256(content).hexdigest()
    role = "naive" if variant == "slow" else "optimized"
    return KernelLaunch("pattern", "chapter", variant, role, "{}", "eighty_doubles", digest, content, **fields)


@pytest.fixture
def compiler(tmp_path: Path) -> Compiler:
    return find_compiler(str(kit.fake_ocloc(tmp_path / "fake")))


def test_a_row_has_every_column(compiler: Compiler) -> None:
    one = launch("slow", b"a", global_size=(64, 2), local_size=(16, 1), local_bytes=512)
    (entry,) = compile_launches([one], targets(["pvc"], ["large"], [16]), compiler)
    values = row(entry)
    assert list(values) == [column.name for column in ISA]
    expected = {
        "pattern": "pattern",
        "spirv_sha256": one.spirv_sha256,
        "ocloc_version": "99.1.2",
        "build_options": "-cl-intel-256-GRF-per-thread",
        "grf_mode": "large",
        "forced_simd": 16,
        "status": "ok",
        "simd_width": 16,
        "spill_bytes": 7296,
        "slm_bytes": 512,
        "global_size": "64,2",
        "local_size": "16,1",
        "loads_global": 40,
        "stores_global": 20,
        "spills": 33,
        "fills": 56,
        "asm": None,
    }
    assert {name: values[name] for name in expected} == expected
    classes = [name for name in values if name.startswith("instructions_")]
    assert values["instructions"] == sum(values[name] for name in classes)
    assert json.loads(values["messages"])["load.global.d64x4"] == 40


def test_a_failure_is_a_row_with_nulls(compiler: Compiler) -> None:
    (entry,) = compile_launches([launch("slow", b"a")], targets(["crash"]), compiler)
    values = row(entry)
    assert (values["status"], values["reason"]) == ("crashed", "ended by SIGSEGV")
    assert values["simd_width"] is None and values["instructions"] is None and values["messages"] is None


def test_a_kernel_that_is_not_in_the_binary_is_unreadable(compiler: Compiler) -> None:
    one = launch("slow", b"a")
    other = KernelLaunch(**{**one.__dict__, "kernel": "missing"})
    (entry,) = compile_launches([other], targets(["pvc"]), compiler)
    assert entry.status == "unreadable"
    assert "no kernel 'missing'" in entry.reason


def test_a_kernel_counts_once_per_variant_and_is_compiled_once(compiler: Compiler, tmp_path: Path) -> None:
    launches = [launch(variant, b"a") for variant in ("slow", "slow", "fast")]
    entries = compile_launches(launches, targets(["pvc", "dg2"]), compiler)
    assert [(e.launch.variant, e.target.gpu) for e in entries] == [
        ("slow", "pvc"),
        ("slow", "dg2"),
        ("fast", "pvc"),
        ("fast", "dg2"),
    ]
    assert sorted(kit.calls(tmp_path / "fake")) == ["dg2-g10||", "pvc||"]


def test_the_same_module_with_other_options_is_another_kernel(compiler: Compiler, tmp_path: Path) -> None:
    options = ("-cl-intel-256-GRF-per-thread",)
    launches = [launch("slow", b"a"), launch("slow", b"a", build_options=options)]
    entries = compile_launches(launches, targets(["pvc"]), compiler, keep=tmp_path / "keep")
    assert [row(entry)["build_options"] for entry in entries] == ["", *options]
    assert len({row(entry)["asm"] for entry in entries}) == 2
    assert sorted(kit.calls(tmp_path / "fake")) == ["pvc|-cl-intel-256-GRF-per-thread|", "pvc||"]


def test_options_of_the_kernel_are_added(compiler: Compiler) -> None:
    one = launch("slow", b"a", build_options=("-cl-fast-relaxed-math",))
    (entry,) = compile_launches([one], targets(["pvc"], build_options=["-cl-mad-enable"]), compiler)
    assert row(entry)["build_options"] == "-cl-fast-relaxed-math -cl-mad-enable"


def test_what_the_compiler_left_is_kept(compiler: Compiler, tmp_path: Path) -> None:
    one = launch("slow", b"a")
    entries = compile_launches([one], targets(["pvc"], ["default", "large"]), compiler, keep=tmp_path / "keep")
    paths = [tmp_path / "keep" / row(entry)["asm"] for entry in entries]
    assert len(set(paths)) == 2
    for path in paths:
        assert path.read_text().startswith("//.kernel eighty_doubles")
        assert path.with_suffix(".zeinfo").is_file()
    assert (tmp_path / "keep" / f"{one.spirv_sha256}.spv").read_bytes() == b"a"


def test_kernels_with_many_build_options_are_kept_apart(compiler: Compiler, tmp_path: Path) -> None:
    many = tuple(f"-DOPTION_{number}=1" for number in range(40))
    launches = [launch("slow", b"a", build_options=options) for options in (many, (*many, "-DLAST=1"))]
    entries = compile_launches(launches, targets(["pvc"]), compiler, keep=tmp_path / "keep")
    paths = {tmp_path / "keep" / row(entry)["asm"] for entry in entries}
    assert len(paths) == 2 and all(path.is_file() and len(path.name) < 160 for path in paths)


def test_the_frame_is_typed(compiler: Compiler) -> None:
    entries = compile_launches([launch("slow", b"a")], targets(["pvc", "crash"]), compiler)
    table = frame(map(row, entries))
    assert {name: str(dtype) for name, dtype in table.dtypes.items()} == {c.name: c.dtype for c in ISA}
    assert table["spill_bytes"].tolist()[0] == 7296 and table["spill_bytes"].isna().tolist() == [False, True]
    assert list(frame([]).columns) == list(table.columns)
    for column in ISA:
        assert not (column.required and table[column.name].isna().any())
