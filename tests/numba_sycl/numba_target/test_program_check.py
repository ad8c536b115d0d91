"""``python -m numba_sycl check FILE`` on programs written for numba-dpex."""

from pathlib import Path
from typing import Any

import pytest

from numba_sycl.__main__ import main
from numba_sycl.stacks import is_current

pytestmark = pytest.mark.skipif(not is_current(), reason="numba-dpex itself is here")

OF_0_23 = """\
import numba_sycl
numba_sycl.as_numba_dpex()
import dpctl.tensor as dpt
import numba_dpex as dpex
from numba_dpex import kernel_api as kapi

@dpex.kernel
def double(item: kapi.Item, a):
    kapi.AtomicRef(a, item.get_id(0)).fetch_add(dpex.float32(1))

dpex.call_kernel(double, dpex.Range(8), dpt.ones(8))
"""
OF_0_20 = """\
import dpctl
import numba
import numba_dppy as dppy
from numba_dpex import dpjit

@dppy.kernel("void(f4[:])")
def double(a):
    a[dppy.get_global_id(0)] *= 2

@numba.vectorize(["f4(f4)"], target="dppy")
def half(x):
    return x / 2

with dpctl.device_context("gpu"):
    double[8, dppy.DEFAULT_LOCAL_SIZE](a)
with dppy.offload_to_sycl_device("gpu"):
    half(a)
"""


def checked(tmp_path: Path, capsys: Any, program: str) -> tuple[int, list[str]]:
    file = tmp_path / "program.py"
    file.write_text(program)
    status = main(["check", str(file)])
    return status, [line.removeprefix(f"{file}:") for line in capsys.readouterr().out.splitlines()]


def test_a_program_of_offered_names_runs(tmp_path: Path, capsys: Any) -> None:
    assert checked(tmp_path, capsys, OF_0_23) == (0, [" no line uses what is not offered"])


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        (3, "write import numba_sycl as numba_dpex"),
        (4, "numba_dpex.dpjit compiles functions of the host"),
        (6, "signatures as text are not supported"),
        (8, "write item.get_id(d)"),
        (10, "vectorize for dppy is not supported: write a kernel"),
        (14, "dpctl has no device_context: make arrays with sycl_queue"),
        (15, "write call_kernel(double, Range(n), ...)"),
        (16, "offload_to_sycl_device runs functions of the host on a device"),
    ],
)
def test_each_line_that_will_not_run_is_named(tmp_path: Path, capsys: Any, line: int, advice: str) -> None:
    status, lines = checked(tmp_path, capsys, OF_0_20)
    assert status == 1
    assert any(one.startswith(f"{line}: ") and advice in one for one in lines), lines


def test_the_older_api_has_its_names(tmp_path: Path, capsys: Any) -> None:
    older = 'import numba_sycl\nnumba_sycl.as_numba_dpex(api="0.20")\n' + OF_0_20
    _, lines = checked(tmp_path, capsys, older)
    assert {line.partition(":")[0] for line in lines} == {"6", "8", "12", "18"}


def test_a_file_that_is_no_program_is_one_line(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "program.py").write_text("def")
    assert main(["check", str(tmp_path / "program.py")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
