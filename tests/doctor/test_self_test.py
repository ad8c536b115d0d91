"""The self-test passes on a device that computes right, and fails on one that does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_device import GPU
from optional import needs

from xebench.doctor import examination as doctor
from xebench.doctor.examination import main
from xebench.errors import NoDevice
from xebench.system.children.process import ChildReply
from xebench.system.runtime.devices import select_device


def answering(answer: ChildReply) -> Any:
    return lambda module, arguments, timeout_s: answer


def test_no_failures_is_ok(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "ask", answering(ChildReply([])))
    result = doctor.selftest(GPU)
    assert result == doctor.SelfTest("level_zero:gpu:0")
    assert result.ok
    assert result.summary == "ok"


@pytest.mark.parametrize(
    ("answer", "failures"),
    [
        (ChildReply(["a: 1 of 2 wrong", "b: gone"]), ("a: 1 of 2 wrong", "b: gone")),
        (ChildReply(failure="crashed (SIGABRT)"), ("self-test: crashed (SIGABRT)",)),
        (ChildReply(failure="no answer within 120 s"), ("self-test: no answer within 120 s",)),
    ],
)
def test_failures_crashes_and_hangs_are_failures(
    monkeypatch: pytest.MonkeyPatch, answer: ChildReply, failures: tuple[str, ...]
) -> None:
    monkeypatch.setattr(doctor, "ask", answering(answer))
    result = doctor.selftest("opencl:cpu:0")
    assert result.failures == failures
    assert not result.ok
    assert result.summary == "; ".join(failures)


@pytest.mark.device
def test_a_device_that_is_not_there_is_one_line() -> None:
    with pytest.raises(NoDevice, match="^no device 'nonsense'$"):
        main(["self-test", "nonsense"])


@pytest.mark.device
def test_no_check_passes_if_nothing_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.doctor import self_test

    device = select_device("auto").device
    monkeypatch.setattr(self_test, "_run", lambda *arguments, **options: None)
    assert len(self_test.run_checks(device.device)) == len(self_test._checks(device))


@pytest.mark.device
def test_no_check_passes_if_one_element_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba_sycl import tensor
    from xebench.doctor import self_test

    def slightly_wrong(array: Any) -> Any:
        copy = real(array).copy()
        copy.flat[-1] += copy.flat[-1] * copy.dtype.type(1e-5) + (copy.dtype.kind == "i")
        return copy

    real = tensor.asnumpy
    monkeypatch.setattr(self_test, "asnumpy", slightly_wrong)
    device = select_device("auto").device
    failures = self_test.run_checks(device.device)
    assert len(failures) == len(self_test._checks(device))
    assert all(" 1 of " in failure for failure in failures), failures


@pytest.mark.device
def test_a_compiler_that_throws_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.doctor import self_test

    def broken(*arguments: Any, **options: Any) -> None:
        raise RuntimeError("Internal compiler error\nand much more")

    monkeypatch.setattr(self_test, "_run", broken)
    failures = self_test.run_checks(select_device("auto").device.device)
    assert failures[0] == "integers to float32: RuntimeError: Internal compiler error"


@pytest.mark.device
def test_checks_fit_the_device() -> None:
    from dataclasses import replace

    from xebench.doctor import self_test

    assert "float64 functions" in self_test._checks(GPU)
    poor = replace(GPU, aspects=("gpu",), max_work_group_size=32)
    assert not {"float64 functions", "local memory and barrier"} & set(self_test._checks(poor))


@needs("GPU driver")
@pytest.mark.device
@pytest.mark.slow
def test_a_gpu_driver_without_a_gpu_is_caught(tmp_path: Path) -> None:
    """Intel's driver can be told that a GPU is there: it takes every kernel, says it is done, and computes nothing."""
    pretend = {
        "NEOReadDebugKeys": "1",
        "SetCommandStreamReceiver": "1",
        "ProductFamilyOverride": "dg2",
        "HardwareInfoOverride": "8x4x16",
    }
    done = subprocess.run(
        [sys.executable, "-m", "xebench.doctor.examination", "self-test", "opencl:gpu:0"],
        env=os.environ | pretend,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    if "no device 'opencl:gpu:0'" in done.stderr:
        pytest.skip("this version of the driver does not pretend")
    assert done.returncode or json.loads(done.stdout.splitlines()[-1]), done.stderr
