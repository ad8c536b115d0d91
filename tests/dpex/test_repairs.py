"""Each repair, with what happens without it: the experiments run with and without ``import xebench.dpex``."""

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from numba_sycl import separate_context
from xebench.dpex import RepairError, repairs

pytestmark = [pytest.mark.device, pytest.mark.numba_dpex]

SCRIPT = Path(__file__).parent / "repair_experiments.py"
EXPERIMENTS = (
    "lazy_registries",  # has to come before anything else is compiled
    "host_functions_still_compile",
    "misread_switches",
    "local_accessor_queue",
    "sub_device_queue",
    "array_views",
    "narrow_scalars",
    "half_arrays",
    "swallowed_errors",
    "host_copy",
    "freed_memory",
    "repeated_definitions",
)


def experiment(mode: str, *names: str, timeout: int = 120) -> tuple[dict[str, Any], int]:
    """What happened, by experiment, and the exit status of the process that they ran in."""
    command = [sys.executable, str(SCRIPT), mode, *names]
    run = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("[")]
    return dict(lines), run.returncode


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    return experiment("plain", *EXPERIMENTS)[0]


@pytest.fixture(scope="module")
def repaired() -> dict[str, Any]:
    outcomes, status = experiment("repaired", *EXPERIMENTS, "swallowed_errors_async", "required_sub_group_size")
    assert status == 0
    return outcomes


@pytest.mark.nightly
def test_lazy_registries(plain: dict[str, Any], repaired: dict[str, Any]) -> None:
    assert "No definition for lowering" in plain["lazy_registries"]
    assert repaired["lazy_registries"] is True
    assert repaired["host_functions_still_compile"] == 10


def test_misread_switches(plain: dict[str, Any], repaired: dict[str, Any]) -> None:
    assert plain["misread_switches"] == ["i2"]
    assert "i2" not in repaired["misread_switches"]


def test_local_accessor_queue(plain: dict[str, Any], repaired: dict[str, Any]) -> None:
    assert "Error" in plain["local_accessor_queue"]
    assert repaired["local_accessor_queue"] == [7, 6, 5, 4, 3, 2, 1, 0]


def test_sub_device_queue(plain: dict[str, Any], repaired: dict[str, Any]) -> None:
    if "root device" not in plain["sub_device_queue"]:
        pytest.skip(f"no sub-devices here: {plain['sub_device_queue']}")
    assert repaired["sub_device_queue"] == [3, 3, 3, 3]


def test_array_views(plain: dict[str, Any], repaired: dict[str, Any]) -> None:
    assert "Error" in plain["array_views"]
    assert repaired["array_views"] == [[2, 12], True]


def test_narrow_scalars(plain: dict[str, Any], repaired: dict[str, Any]) -> None:
    assert "Error" in plain["narrow_scalars"]
    assert repaired["narrow_scalars"] == [-5, -5]


def test_half_arrays(plain: dict[str, Any], repaired: dict[str, Any]) -> None:
    assert "Error" in plain["half_arrays"]
    assert repaired["half_arrays"] == [0.5, 2.0]


def test_swallowed_errors(plain: dict[str, Any], repaired: dict[str, Any]) -> None:
    assert plain["swallowed_errors"] == "nothing was said"
    assert "RuntimeError: the kernel was not submitted" in repaired["swallowed_errors"]


def test_host_copy(plain: dict[str, Any], repaired: dict[str, Any]) -> None:
    right = [[[3, 7, 7, 7], [0, 7, 2, 7]], [5, 5], [0, 2]]
    assert repaired["host_copy"] == right
    assert plain["host_copy"] == right or "could not be copied" in plain["host_copy"]


def test_freed_memory(plain: dict[str, Any], repaired: dict[str, Any]) -> None:
    (left, _), (places, of_another) = plain["freed_memory"], repaired["freed_memory"]
    assert set(left.values()) == {20}, "nothing is freed"
    assert set(places.values()) == {1}, "the next array lies where the one before lay"
    assert of_another == [1, 1], "memory outlives the object that it was made from"


#: A module that outlives all others holds an array.
_KEPT_TO_THE_END = """
import sys
import colorsys
sys.kept = colorsys
from xebench.system import runtime
runtime.load()
from xebench.session.session import Session
colorsys.array = Session.on("cpu").alloc(16, "int32")
"""


def test_memory_that_is_kept_to_the_end_of_the_process_is_left_to_that() -> None:
    ran = subprocess.run([sys.executable, "-c", _KEPT_TO_THE_END], capture_output=True, text=True, check=True)
    assert ran.stderr == ""


def test_repeated_definitions(plain: dict[str, Any], repaired: dict[str, Any]) -> None:
    assert plain["repeated_definitions"] > 0, "every compilation leaves more of them"
    assert repaired["repeated_definitions"] == 0


def test_swallowed_errors_of_the_asynchronous_call(repaired: dict[str, Any]) -> None:
    outcomes, status = experiment("plain", "swallowed_errors_async")
    assert outcomes == {}
    assert status != 0, "the process died"
    assert "RuntimeError: the kernel was not submitted" in repaired["swallowed_errors_async"]
    assert "requires sub-groups of 256" in repaired["required_sub_group_size"]


def test_separate_contexts_are_two() -> None:
    import dpctl

    device = dpctl.SyclDevice()
    assert dpctl.SyclContext(device) == dpctl.SyclContext(device), "the trap: dpctl caches this one"
    first, second = separate_context(device), separate_context(device)
    assert first != second
    assert first != dpctl.SyclContext(device)


def test_repairs_are_applied_once() -> None:
    from numba.core import cgutils
    from numba_dpex.kernel_api_impl.spirv.dispatcher import _SPIRVKernelCompiler

    before = _SPIRVKernelCompiler.compile
    assert repairs.apply() == repairs.REPAIRS
    assert _SPIRVKernelCompiler.compile is before
    assert cgutils.pointer_add.__module__ == "numba.core.cgutils"  # the user's own functions are compiled with it


def test_other_versions_are_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert repairs.version_mismatch() is None
    monkeypatch.setitem(repairs.PINS, "numba", "0.1.0")
    monkeypatch.setattr(repairs, "_applied", [])
    monkeypatch.setattr(repairs, "REPAIRS", ())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        repairs.apply()
    (warning,) = caught
    assert "numba 0.59.1 (pinned: 0.1.0)" in str(warning.message)
    assert "\n" not in str(warning.message)


def test_a_repair_that_does_not_fit_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repairs, "_applied", [])
    monkeypatch.setattr(repairs, "REPAIRS", ("not_there",))
    with pytest.raises(RepairError, match="repair not_there does not fit"):
        repairs.apply()
