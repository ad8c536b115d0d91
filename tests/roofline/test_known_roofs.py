"""Roofs of a run, raised by those that were measured with more patience."""

from harness.roofline.known_roofs import Known, unknown_roofs, with_known_roofs
from harness.vocabulary import Roof


def test_without_earlier_roofs_those_of_the_run_stand() -> None:
    merged = with_known_roofs({"bandwidth_roof_gbps": 30.0, "aa_low": 0.99}, unknown_roofs({}))
    assert merged["bandwidth_roof_gbps"] == 30
    assert merged["aa_low"] == 0.99
    assert merged["slm_roof_gbps"] is None
    assert merged["roofs_from"] == "this run"


def test_the_higher_roof_counts_and_its_source_is_told() -> None:
    known = Known(
        {"bandwidth_roof_gbps": 40.0, "fp32_roof_gflops": 90.0, "slm_roof_gbps": None}, "2026-11-21T03:00:00Z"
    )
    measured = {"bandwidth_roof_gbps": 30.0, "fp32_roof_gflops": 100.0, "fp64_roof_gflops": None}
    merged = with_known_roofs(measured, known)
    assert [merged[roof.column] for roof in Roof] == [40.0, 100.0, None, None, None]
    assert merged["roofs_from"] == "xebench roofline of 2026-11-21T03:00:00Z"


def test_lower_earlier_roofs_change_nothing() -> None:
    merged = with_known_roofs({"bandwidth_roof_gbps": 30.0}, Known({"bandwidth_roof_gbps": 20.0}, "2026-11-21"))
    assert (merged["bandwidth_roof_gbps"], merged["roofs_from"]) == (30.0, "this run")
