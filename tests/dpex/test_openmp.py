"""Intel's OpenMP runtime on the CPU device, by its plugin for OpenCL: memory, copies, regions; traces of Level Zero.

Its variables are read once a process, so each program of OpenMP is a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from xebench.errors import Unsupported

pytestmark = pytest.mark.device

PROGRAM = """
import json
import numpy as np
from xebench.dpex import openmp
from xebench.errors import Unsupported

told = {}
target = openmp.TargetDevice(0)
x, back = np.arange(1000, dtype=np.int32), np.zeros(1000, np.int32)
memory = target.alloc(x.nbytes)
target.copy(memory, x, x.nbytes)
target.copy(back, memory + 4, x.nbytes - 4)
target.free(memory)
told["memory"] = back.tolist()

rows, results = np.arange(12).reshape(3, 4), np.zeros((3, 4), int)
always = openmp.Map.ALWAYS
memory = openmp.TargetRegion(target, [(openmp.Map.ALLOC, rows), (openmp.Map.ALLOC, results)])
to = [(openmp.Map.TO | always, rows[number]) for number in (0, 2)]
region = openmp.TargetRegion(target, [*to, *((openmp.Map.FROM | always, row) for row in results)])
for factor in (1, 10):
    rows *= factor
    with memory:
        target.copy(memory.address(rows), np.zeros_like(rows), rows.nbytes)
        with region:
            target.copy(memory.address(results), memory.address(rows), rows.nbytes)
            results[:] = -1
        told[f"times {factor}"] = results.tolist()

try:
    target.alloc(1 << 60)
except Unsupported as error:
    told["too large"] = str(error)
print("\\n" + json.dumps(told))
"""


@pytest.fixture(scope="module")
def told() -> Any:
    plugin = {"LIBOMPTARGET_PLUGIN": "opencl", "LIBOMPTARGET_DEVICETYPE": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **plugin},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_memory_of_a_device_is_copied_by_its_address(told: Any) -> None:
    assert told["memory"] == [*range(1, 1000), 0]


def test_a_region_copies_what_its_clauses_name_at_its_begin_and_its_end(told: Any) -> None:
    assert told["times 1"] == [[0, 1, 2, 3], [0, 0, 0, 0], [8, 9, 10, 11]]
    assert told["times 10"] == [[0, 10, 20, 30], [0, 0, 0, 0], [80, 90, 100, 110]], "it can be entered again"


def test_memory_that_is_not_there_is_refused_in_one_line(told: Any) -> None:
    assert told["too large"] == f"OpenMP has no {1 << 60} bytes of device memory"


def test_an_environment_without_the_runtime_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.dpex import openmp

    monkeypatch.setattr(openmp, "LIBRARY", "libno-such-runtime.so")
    openmp._runtime.cache_clear()
    with pytest.raises(Unsupported, match=r"needs Intel's OpenMP runtime for devices \(package intel-openmp\): "):
        openmp.TargetDevice(0)
    openmp._runtime.cache_clear()


# Lines of traces of both runtimes, on Intel's driver without hardware, shortened.
OF_2024 = """
Target LEVEL_ZERO RTL --> ZE_CALLER: zeCommandListAppendMemoryCopy ( CmdList, Dst, Src, Size, SignalEvent )
Target LEVEL_ZERO RTL --> ZE_CALLEE: zeCommandListAppendMemoryCopy (
Target LEVEL_ZERO RTL -->     dstptr = 0xff00fffffffe0000
Target LEVEL_ZERO RTL -->     srcptr = 0x000055557bac0000
Target LEVEL_ZERO RTL --> )
Target LEVEL_ZERO RTL --> ZE_CALLER: zeCommandQueueExecuteCommandLists ( Queue, 1, &CmdList, nullptr )
Target LEVEL_ZERO RTL --> ZE_CALLEE: zeCommandQueueExecuteCommandLists (
"""
OF_2026 = """
TARGET LEVEL_ZERO RTL --> ZE_CALLER: zeCommandListAppendMemoryCopy(hCommandList, dstptr, srcptr, size)
TARGET LEVEL_ZERO RTL --> ZE_CALLER: SUCCESS (ZE_RESULT_SUCCESS) in zeCommandListAppendMemoryCopy(hCommandList=0x1, \
dstptr=0xff00ffffffbe0000, srcptr=0x7fa00c5e0000, size=4000)
"""
BY_HOST = "Target LEVEL_ZERO RTL --> ZE_CALLEE: zeMemAllocShared (\n"


@pytest.mark.parametrize(
    ("trace", "own", "copies"),
    [
        (OF_2024, 0x1, (1, True)),
        (OF_2024, 0x55557BAC0000, (1, False)),
        (OF_2026, 0x1, (0, True)),
        (OF_2026, 0x7FA00C5E0000, (0, False)),
        (BY_HOST, 0x1, (0, False)),
    ],
)
def test_a_trace_shows_lists_and_where_the_driver_copies_from(trace: str, own: int, copies: tuple[int, bool]) -> None:
    from xebench.dpex.openmp import copies_of

    assert copies_of(trace, {own}) == copies


def test_a_trace_of_another_form_is_refused() -> None:
    from xebench.dpex.openmp import copies_of

    with pytest.raises(Unsupported, match="names no function of Level Zero"):
        copies_of("omptarget --> copied", {1})


def test_a_device_that_is_not_on_level_zero_is_refused() -> None:
    import dpctl

    from xebench.dpex import openmp

    with pytest.raises(Unsupported, match="and the device is on opencl"):
        openmp.target_device(dpctl.SyclDevice("opencl:cpu:0"))
