"""Roofs of a run, raised by those that were measured with more patience."""

from dataclasses import replace

from harness.roofline.results import ProbeResult, Roofline, with_kept_roofs
from harness.vocabulary import Roof


def kept(measured: Roofline, **values: float) -> Roofline:
    """A measurement of some probes."""
    results = tuple(ProbeResult(probe, "ok", value) for probe, value in values.items())
    return replace(measured, measured_utc="2026-11-21T03:00:00Z", results=results)


def test_without_earlier_roofs_those_of_the_run_stand() -> None:
    merged = with_kept_roofs({"bandwidth_roof_gbps": 30.0, "aa_low": 0.99}, None)
    assert merged["bandwidth_roof_gbps"] == 30
    assert merged["aa_low"] == 0.99
    assert merged["slm_roof_gbps"] is None
    assert merged["roofs_from"] == "this run"


def test_the_higher_roof_counts_and_its_source_is_told(measured: Roofline) -> None:
    merged = with_kept_roofs(
        {"bandwidth_roof_gbps": 30.0, "fp32_roof_gflops": 100.0, "fp64_roof_gflops": None},
        kept(measured, read=40.0, stream_copy=35.0, fp32=90.0),
    )
    assert [merged[roof.column] for roof in Roof] == [40.0, 100.0, None, None, None]
    assert merged["roofs_from"] == "xebench roofline of 2026-11-21T03:00:00Z"


def test_lower_earlier_roofs_change_nothing(measured: Roofline) -> None:
    merged = with_kept_roofs(
        {"bandwidth_roof_gbps": 30.0, "roofs_from": "this run; fp32: wrong"}, kept(measured, read=20.0)
    )
    assert (merged["bandwidth_roof_gbps"], merged["roofs_from"]) == (30.0, "this run; fp32: wrong")
