"""The page of generated code, from rows made by hand and from the rows that are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tools.pages import generated_code
from tools.pages.kept_data import KEPT, merged
from xebench.patterns.registry import discover
from xebench.report.page import code

ROOT = Path(__file__).parents[2]

FIGURES = [
    name for name in KEPT if name not in ("pattern", "chapter", "variant", "role", "kernel", "gpu", "status", "reason")
]


def row(variant: str, gpu: str, status: str = "ok", **changed: Any) -> dict[str, Any]:
    named = {"pattern": "p", "chapter": "slm", "variant": variant, "role": "naive", "kernel": "k", "gpu": gpu}
    return {**named, "status": status, "reason": "", **dict.fromkeys(FIGURES, 0), "simd_width": 32, **changed}


def compiler(version: str, igc: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"version": version, "igc": igc, "rows": rows, "missing": []}


OLD = compiler(
    "22.43.1",
    "libigc.so.1.0.1",
    [row("a", "pvc", loads_global=16), row("a", "dg2"), row("b", "pvc", spill_bytes=64), row("b", "dg2")],
)
NEW = compiler(
    "26.1.2",
    "libigc.so.2.40",
    [
        row("a", "pvc", loads_global=16),
        row("a", "dg2"),
        row("b", "pvc"),
        {**row("b", "dg2", "refused", reason="no fp64"), **dict.fromkeys(FIGURES)},
    ],
)


def test_equal_figures_share_a_line_and_others_do_not() -> None:
    lines = generated_code.kernels_markdown([OLD, NEW]).splitlines()
    assert "| a | k | IGC 1 and IGC 2 | 32 | 0 | 0 | 16/0/0 | - | 32 | 0 | 0 | - | - |" in lines
    assert "| b | k | IGC 1 | 32 | 64 | 0 | - | - | 32 | 0 | 0 | - | - |" in lines
    assert "| b | k | IGC 2 | 32 | 0 | 0 | - | - | refused | - | - | - | - |" in lines


def test_the_page_counts_kernels_and_compares_those_that_both_compilers_have() -> None:
    old = compiler(
        "1", "libigc.so.1.0", [row("a", "pvc", instructions=10), row("b", "pvc", spill_bytes=64, instructions=9)]
    )
    new = compiler(
        "2", "libigc.so.2.0", [row("a", "pvc", instructions=20, simd_width=16), row("c", "pvc", instructions=1)]
    )
    lines = generated_code.markdown([old, new]).splitlines()
    assert "| IGC 1 | pvc | 2 | 2 | 0 | 0 | 1 | 0 | 9.5 |" in lines
    assert "| pvc | 1 | 2.00 | 1 | 0 | 1 |" in lines
    assert "| slm | 1 | 2.00 | - |" in lines
    assert "| `p` | 64 | - | - | - |" in lines


def test_both_pages_are_up_to_date(tmp_path: Path) -> None:
    pages = ROOT / "docs" / "generated-code.md", ROOT / "results" / "studies" / "generated-code.md"
    new = [tmp_path / "page.md", tmp_path / "kernels.md"]
    done = CliRunner().invoke(generated_code.main, ["--page", str(new[0]), "--kernels", str(new[1])])
    assert done.exit_code == 0, done.output
    for page, made in zip(pages, new, strict=True):
        assert page.read_text(encoding="utf-8") == made.read_text(encoding="utf-8"), "run 'make docs'"


def test_compilers_are_named_with_what_they_refused() -> None:
    text = generated_code.markdown([OLD, NEW])
    assert "**IGC 1**: ocloc 22.43.1 (libigc.so.1.0.1). Kernels compiled: pvc 2 of 2, dg2 2 of 2." in text
    assert "pvc 2 of 2, dg2 1 of 2" in text
    assert "    - dg2: 1 refused: no fp64" in text


def test_a_compiler_replaces_its_own_earlier_result() -> None:
    again = {**OLD, "missing": [["p", "c", "no device"]]}
    assert merged([OLD, NEW], again) == [again, NEW]
    assert merged([NEW], OLD) == [OLD, NEW]


@pytest.mark.parametrize("number", [0, 1])
def test_the_kept_rows_are_of_the_suite_and_of_both_generations(number: int) -> None:
    kept = code.read()
    assert [generated_code.name(each) for each in kept] == ["IGC 1", "IGC 2"]
    known = {(info.name, variant.name) for info in discover() for variant in info.variants}
    found = {(each["pattern"], each["variant"]) for each in kept[number]["rows"]}
    assert found <= known, "a pattern was renamed: renew the page with make isa-current"
    assert len({pattern for pattern, _ in found}) > 20
    on_pvc = [each for each in kept[number]["rows"] if each["gpu"] == "pvc" and "subgroup size 8" not in each["reason"]]
    others = {(each["status"], each["reason"].partition(" of ")[0]) for each in on_pvc if each["status"] != "ok"}
    assert others <= {("skipped", "needs a matrix engine (XMX)")}, "pvc's has 16 lanes, and some variants are for 8"
