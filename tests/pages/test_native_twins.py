"""The page of twins, from rows made by hand and from what is kept."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from tools.pages import native_twins
from tools.pages.claims import data
from tools.pages.kept_data import of_patterns, ratios
from tools.pages.native_twins import Twin
from xebench.patterns.registry import discover

INFO: Any = SimpleNamespace(
    name="p", variants=[SimpleNamespace(name="a", against=""), SimpleNamespace(name="a_in_opencl", against="a")]
)


SUITE = {
    "libigc.so.2.40.14": {"bmg": {"date": "2026-11-24", "kernels": 7, "exact": 0.9, "narrow": 0.7}},
    "libigc.so.1.0.1": {"pvc": {"date": "2026-11-24", "kernels": 8, "exact": 0.8, "narrow": 0.6}},
}
TIMES = {
    "device": "a CPU",
    "preset": "default",
    "date": "2026-11-24",
    "load": 0.25,
    "patterns": [
        {"pattern": "p", "variant": "a", "ratio": 2.0, "blocks": 9, "points": 1},
        {"pattern": "q", "variant": "b", "ratio": 0.5, "blocks": 7, "points": 2},
    ],
    "launch_ns": {"dpctl": 10000.0, "prepared": 5100.0},
}


def row(variant: str, instructions: int, **changed: Any) -> dict[str, Any]:
    named = {"pattern": "p", "variant": variant, "kernel": "k", "gpu": "pvc", "status": "ok", "simd_width": 32}
    return {**named, "instructions": instructions, **changed}


def compiler(*rows: dict[str, Any], narrow: bool = True) -> dict[str, Any]:
    return {"igc": "libigc.so.1.0.1", "narrow": narrow, "rows": rows}


def found(*rows: dict[str, Any], narrow: bool = True) -> list[Twin]:
    both = [compiler(row("a", 500), row("a_in_opencl", 1), narrow=not narrow), compiler(*rows, narrow=narrow)]
    return native_twins.twins([INFO], both, narrow=narrow)


def test_kernels_meet_their_twins_by_name_and_count_for_as_many_lanes() -> None:
    (twin,) = found(row("a", 60), row("a_in_opencl", 40, simd_width=16), row("a", 99), row("b", 7))
    assert (twin.pattern, twin.variant, twin.kernel) == ("p", "a", "k")
    assert twin.counts == {("IGC 1", "pvc"): (60, 80)}
    assert twin.ratio(("IGC 1", "pvc")) == 0.75
    assert twin.ratio(("IGC 2", "bmg")) is None


def test_what_was_not_compiled_has_no_ratio() -> None:
    assert found(row("a", 60), row("a_in_opencl", 40, status="refused")) == []


@pytest.mark.parametrize(("instructions", "asked"), [(115, False), (116, True)])
def test_a_cause_is_asked_for_above_the_limit(instructions: int, asked: bool) -> None:
    (twin,) = found(row("a", instructions), row("a_in_opencl", 100))
    assert twin.is_explained == asked


def test_the_mean_is_geometric_and_of_what_is_known() -> None:
    assert native_twins.mean([2.0, 0.5, None]) == "1.00"
    assert native_twins.mean([None]) == "-"


def test_the_page_tells_64_bits_apart_and_why_a_kernel_is_longer() -> None:
    twins = found(row("a", 130), row("a_in_opencl", 100))
    of_64_bits = found(row("a", 170), row("a_in_opencl", 100), narrow=False)
    notes = {"data_of_64_bits": [], "causes": {"p/k": "a cause."}}
    page = native_twins.markdown(twins, of_64_bits, notes, SUITE, TIMES)
    narrow, wide = page.split("64 bits, in both languages:")
    assert "130/100 = 1.30" in narrow and "130/100 = 1.30" not in wide
    assert "| `p` | `k` | a cause. |" in page
    assert "| **geometric mean** |  | **1.30** | **-** | **-** | **-** |" in page
    assert "| **with indices in 64 bits** |  | **1.70** | **-** | **-** | **-** |" in page
    apart = native_twins.markdown(twins, of_64_bits, {**notes, "data_of_64_bits": ["p"]}, SUITE, TIMES)
    assert "130/100 = 1.30" in apart.split("64 bits, in both languages:")[1]


def test_the_page_has_the_whole_suite_times_and_launches() -> None:
    page = native_twins.markdown([], [], {"data_of_64_bits": [], "causes": {}}, SUITE, TIMES)
    assert "|  | pvc (IGC 1) | bmg (IGC 2) |" in page or "|  | bmg (IGC 2) | pvc (IGC 1) |" in page
    assert re.search(r"32 bits\]\(\S+\) \| 0\.[67]0 \| 0\.[67]0 \|", page)
    assert "| `q` | `b` | 2 | 7 | 0.50 |" in page
    text = page.replace("\n", " ")
    assert "load average 0.2)" in text and "geometric mean is **1.00**, the median 1.25." in text
    assert "| prepared | 5.10 | 0.51 |" in page


def test_times_are_compared_block_by_block() -> None:
    cases = pd.DataFrame(
        {
            "family_id": ["f", "f", "g", "g"],
            "case_id": ["own", "twin", "slow", "skipped"],
            "pattern": "p",
            "variant": ["a", "a_in_opencl"] * 2,
            "against": [None, "a"] * 2,
            "status": ["ok", "ok", "ok", "skipped"],
        }
    )
    rows = [("own", 0, 100.0), ("twin", 0, 50.0), ("own", 1, 300.0), ("twin", 1, 100.0), ("own", 2, 40.0)]
    samples = pd.DataFrame(rows, columns=["case_id", "block", "device_ns"]).assign(state="hot", valid=True)
    run: Any = SimpleNamespace(cases=cases, samples=samples)
    assert of_patterns(list(ratios(run))) == [
        {"pattern": "p", "variant": "a", "ratio": pytest.approx(2.5), "blocks": 2, "points": 1}
    ]


def test_every_twin_of_the_suite_was_compiled_and_every_cause_is_told() -> None:
    infos, notes = discover(), data("native_twins")
    twins = native_twins.twins(infos, json.loads(native_twins.COUNTS.read_text(encoding="utf-8")))
    declared = {info.name for info in infos for variant in info.variants if variant.against}
    assert {twin.pattern for twin in twins} == declared, "renew them with python -m tools.pages.kept_data twins"
    assert {twin.key for twin in twins if twin.is_explained} == set(notes["causes"])
