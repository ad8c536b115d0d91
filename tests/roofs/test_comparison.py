"""Reading what clpeak prints, and judging beside it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "roofline_vs_clpeak.py"

# two devices as clpeak 1.1.2 prints them, with other numbers
PRINTED = """
Platform: Some OpenCL
  Device: Other GPU
    Driver version  : 1 (Linux x64)
    Compute units   : 8

    Global memory bandwidth (GBPS)
      float   : 900.00

    Single-precision compute (GFLOPS)
      float   : 9000.00

Platform: Intel(R) OpenCL
  Device: AMD EPYC
    Driver version  : 2026.22 (Linux x64)
    Compute units   : 2
    Clock frequency : 0 MHz

    Global memory bandwidth (GBPS)
      float   : 12.87
      float2  : 17.78
      float16 : 31.28

    Single-precision compute (GFLOPS)
      float   : 57.60
      float16 : 74.88

    Double-precision compute (GFLOPS)
      double   : 28.04
"""


@pytest.fixture(scope="module")
def script() -> Any:
    spec = importlib.util.spec_from_file_location("roofline_vs_clpeak", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_numbers_are_those_of_the_device(script: Any) -> None:
    assert script.parse_clpeak(PRINTED, "AMD EPYC") == {
        "bandwidth": {"float": 12.87, "float2": 17.78, "float16": 31.28},
        "fp32": {"float": 57.6, "float16": 74.88},
    }
    assert script.parse_clpeak(PRINTED, "Other GPU")["fp32"] == {"float": 9000.0}


def test_what_clpeak_does_not_see_is_no_result(script: Any) -> None:
    with pytest.raises(SystemExit, match="does not see 'Arc', only Other GPU, AMD EPYC"):
        script.parse_clpeak(PRINTED, "Arc")
    with pytest.raises(SystemExit, match="only nothing"):
        script.parse_clpeak("no platforms found", "Arc")
    with pytest.raises(SystemExit, match="prints no 'Single-precision compute'"):
        script.parse_clpeak(PRINTED.partition("Single")[0], "Other GPU")


def numbers(read: float, triad: float, fp32: float, clpeak: float | None, opencl: float) -> dict[str, Any]:
    found = {
        "xebench": {"stream_copy": 1.0, "stream_triad": triad, "read": read, "write": 1.0, "fp32": fp32},
        "opencl": {f"{name} {side}": 1.0 for name in ("read", "copy", "fp32") for side in ("xebench", "opencl")},
    }
    found["opencl"] |= {"triad xebench": triad, "triad opencl": opencl, "fp32 opencl": 99.0}
    return found if clpeak is None else {**found, "clpeak": {"bandwidth": clpeak, "fp32": 100.0}}


def test_the_best_round_of_each_side_is_compared(script: Any) -> None:
    rounds = [numbers(30, 20, 94, clpeak=10, opencl=21), numbers(20, 25, 90, clpeak=31, opencl=26)]
    table = {row["quantity"].partition(",")[0]: row for row in script.compare(rounds)}
    assert table["bandwidth roof"]["probe"] == "read"
    assert table["bandwidth roof"]["ratio"] == pytest.approx(30 / 31)
    assert table["bandwidth roof"]["holds"]
    assert table["triad"]["ratio"] == pytest.approx(25 / 26)
    assert table["fp32 roof"]["ratio"] == pytest.approx(0.94)
    assert not table["fp32 roof"]["holds"], "more than 5 % below"


def test_without_clpeak_opencl_is_beside_it(script: Any) -> None:
    table = {row["quantity"]: row for row in script.compare([numbers(30, 20, 94, clpeak=None, opencl=25)])}
    assert table["bandwidth roof, GB/s"]["ratio"] == pytest.approx(30 / 25)
    assert table["fp32 roof, GFLOP/s"]["ratio"] == pytest.approx(94 / 99)


def test_the_page_says_which_roof_is_too_low(script: Any) -> None:
    rounds = [numbers(30, 20, 94, clpeak=10, opencl=21)]
    outcome = {
        "utc": "2026-01-02",
        "device": {"name": "D", "device": "opencl:cpu:0", "driver_version": "1"},
        "clpeak_version": "clpeak 1.1.2",
        "machine": {"cores": 2, "load_begin": 0.1, "load_end": 0.2},
        "table": script.compare(rounds),
        "rounds": rounds,
    }
    page = script.markdown(outcome)
    assert "| fp32 roof, GFLOP/s | 94.0 | fp32 | 100.0 | 99.0 | 0.94 | **no** |" in page
    assert "| 1 | 30.0 | 21.0 | 10.0 | 94.0 | 99.0 | 100.0 |" in page
