"""Rows of the measured tables for tests, as a run appends them: every column there, null unless given."""

from typing import Any

from xebench.results import schema
from xebench.results.analysis.summaries import CheckRow
from xebench.vocabulary import CheckResult


def row(table: str, **values: Any) -> dict[str, Any]:
    """A row with the given values and None elsewhere."""
    return {**dict.fromkeys(schema.columns(table, measured=True)), **values}


def device(**changed: Any) -> dict[str, Any]:
    known = {"device": "opencl:cpu:0", "name": "Test CPU", "device_class": "cpu", "timer_resolution_ns": 1.0}
    return row("devices", **{**known, **changed})


def case(variant: str, role: str, **changed: Any) -> dict[str, Any]:
    known = {
        "case_id": f"p/{variant}/smoke//cpu",
        "family_id": "p/smoke//cpu",
        "pattern": "p",
        "variant": variant,
        "role": role,
        "preset": "smoke",
        "parameters": '{"n": 8}',
        "preset_parameters": '{"n": 8}',
        "device": "opencl:cpu:0",
        "device_class": "cpu",
        "metric": "device",
        "claims": "[]" if role == "naive" else '[{"word":"faster"}]',
        "status": "ok",
    }
    return row("cases", **{**known, **changed})


def sample(variant: str, number: int, device_ns: float, **changed: Any) -> dict[str, Any]:
    known = {
        "case_id": f"p/{variant}/smoke//cpu",
        "sample_id": number,
        "block": number // 2,
        "order": number % 2,
        "state": "hot",
        "host_ns": device_ns + 50,
        "build_ns": 0,
        "device_ns": device_ns,
        "span_ns": device_ns + 10,
        "valid": True,
        "sample_flags": "",
    }
    return row("samples", **{**known, **changed})


def event(variant: str, number: int, **changed: Any) -> dict[str, Any]:
    known = {
        "case_id": f"p/{variant}/smoke//cpu",
        "sample_id": number,
        "sequence": 0,
        "kind": "kernel",
        "name": "k",
        "submit_ns": 2**60 + 10 * number,
        "start_ns": 2**60 + 10 * number + 1,
        "end_ns": 2**60 + 10 * number + 2,
    }
    return row("events", **{**known, **changed})


def check(variant: str, first: int, end: int, result: CheckResult = CheckResult.PASSED) -> CheckRow:
    """A check that speaks for the samples from ``first`` to before ``end``."""
    return CheckRow(f"p/{variant}/smoke//cpu", first, end, result)


def write_pair(writer: Any, blocks: int = 10) -> None:
    """A naive variant of 200 ns and an optimized one of 100 ns, one sample each in each block, and a check of each."""
    writer.append("devices", [device()])
    writer.append("cases", [case("a", "naive"), case("b", "optimized")])
    for block in range(blocks):
        of = {"instance": block // 2}
        writer.append("samples", [sample("a", 2 * block, 200.0, **of), sample("b", 2 * block + 1, 100.0, **of)])
        writer.append("events", [event("a", 2 * block), event("b", 2 * block + 1)])
    writer.append_checks([check("a", 0, 2 * blocks), check("b", 0, 2 * blocks)])
