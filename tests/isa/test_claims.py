"""The guide's claims: how they are judged, and that the page tells what was found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import isa_kit as kit
import pytest
from optional import needs

from xebench.isa.claims import about_arithmetic, about_memory, about_registers
from xebench.isa.claims.check import all_claims, check
from xebench.isa.claims.claim import Built, Claim, Result, fewer
from xebench.isa.ocloc import find_compiler
from xebench.pages import guide_claims
from xebench.pages.guide_claims_data import kept

ROOT = Path(__file__).parents[2]
CLAIMS = {claim.id: claim for claim in all_claims()}
KEPT = guide_claims.read()
GENERATIONS = ("igc1", "igc2")


def judge(claim: Claim, gpu: str = "pvc", **sides: str) -> tuple[str, str]:
    found = claim.judge({name.replace("_", " "): Built(kit.code(fixture)) for name, fixture in sides.items()}, gpu)
    return found.answer, found.because


def test_every_entry_of_the_issue_has_a_claim() -> None:
    wanted = {"E12", "E14", "E15", "E20", "E22", "E24", "E26a", "E27", "E28", "E29", "E37", "E39", "E56", "E75", "E76"}
    assert wanted <= set(CLAIMS)
    assert {name for name, claim in CLAIMS.items() if claim.known_not_to_reproduce} == {"E12", "E24", "E26a", "E37"}


@pytest.mark.parametrize(("naive", "optimized", "answer"), [(32, 8, "holds"), (8, 8, "no effect"), (8, 32, "inverts")])
def test_less_of_something(naive: int, optimized: int, answer: str) -> None:
    assert fewer(naive, optimized, "loads").answer == answer
    assert fewer(naive, optimized, "loads").because == f"loads: {naive} against {optimized}"


@pytest.mark.parametrize("generation", GENERATIONS)
def test_blocks(generation: str) -> None:
    def found(fixture: str) -> str:
        return CLAIMS["E15"].judge({"copy_blocks": Built(kit.code(f"{generation}/{fixture}"))}, "pvc").answer

    assert found("blocks.pvc") == found("blocks.tgllp") == "holds"
    assert found("mixture.pvc") == "no effect"


def test_private_memory_that_goes_or_stays() -> None:
    def found(alone: str, shared: str) -> str:
        sides = {"bins_of_item": Built(kit.code(alone)), "bins_of_sub_group": Built(kit.code(shared))}
        return CLAIMS["E27"].judge(sides, "dg2").answer

    assert found("igc2/private.dg2", "igc2/blocks.pvc") == "holds"
    assert found("igc2/blocks.pvc", "igc2/private.dg2") == "inverts"
    assert found("igc2/private.dg2", "igc2/private.dg2") == "inverts"


def test_a_small_type_must_leave_memory() -> None:
    assert judge(CLAIMS["E24"], ulong_bins="igc2/private.dg2", uint_bins="igc2/blocks.pvc")[0] == "holds"
    answer, because = judge(CLAIMS["E24"], ulong_bins="igc2/private.dg2", uint_bins="igc2/private.dg2")
    assert (answer, because) == ("no effect", "private memory: 2048 bytes against 2048, registers hold neither")
    assert judge(CLAIMS["E24"], ulong_bins="igc2/blocks.pvc", uint_bins="igc2/blocks.pvc")[1].endswith("hold both")


def test_spills_must_fall_to_nothing() -> None:
    def found(*fixtures: str) -> str:
        sides = {name: Built(kit.code(f)) for name, f in zip(about_registers.GUIDE_SPILLS, fixtures, strict=True)}
        return CLAIMS["E29"].judge(sides, "pvc").answer

    spilling = ("igc1/spills.pvc", "igc2/spills.pvc")
    assert found(*spilling, "igc2/blocks.pvc", "igc2/blocks.pvc") == "inverts"
    assert found("igc1/spills.pvc", *spilling[::-1], "igc2/blocks.pvc") == "inverts"


def test_float_atomics_are_expected_to_be_a_loop_on_xe_lp_only() -> None:
    native, loop = "igc2/atomic.pvc", "igc2/mixture.tgllp"
    assert judge(CLAIMS["E39"], "tgllp", int32=native, float32=loop)[0] == "holds"
    assert judge(CLAIMS["E39"], "tgllp", int32=native, float32=native)[0] == "inverts"
    assert judge(CLAIMS["E39"], "dg2", int32=native, float32=native)[0] == "holds"
    assert judge(CLAIMS["E39"], "dg2", int32=native, float32=loop)[0] == "inverts"
    assert judge(CLAIMS["E39"], "gen9", int32=native, float32=loop, float64=loop)[0] == "holds"
    assert judge(CLAIMS["E39"], "gen9", int32=native, float32=loop, float64=native)[0] == "inverts"


def test_a_kernel_without_an_atomic_message_is_not_native() -> None:
    found = judge(CLAIMS["E39"], "dg2", int32="igc2/atomic.pvc", float32="igc2/blocks.pvc")
    assert found == ("inverts", "int32: native, float32: no atomic message")


def test_a_compiler_that_fails_makes_a_claim_undecided(tmp_path: Path) -> None:
    compiler = find_compiler(str(kit.fake_ocloc(tmp_path / "fake")))
    claim = CLAIMS["E29"]
    moved = Claim(**{**claim.__dict__, "gpus": ("unknown", "crash")})
    assert [(r.gpu, r.answer, r.because) for r in check([moved], compiler)] == [
        ("unknown", "undecided", "SIMD32: refused: this ocloc does not know the GPU unknown"),
        ("crash", "undecided", "SIMD32: crashed: ended by SIGSEGV"),
    ]


def test_a_compilers_results_replace_its_earlier_ones(tmp_path: Path) -> None:
    file = tmp_path / "claims.json"
    for version, results in [("26.27.1", []), ("22.43.2", []), ("26.27.1", [1])]:
        file.write_text(json.dumps(kept(file, {"version": version, "igc": "", "results": results})))
    data = json.loads(file.read_text())
    assert [(c["version"], c["results"]) for c in data["compilers"]] == [("22.43.2", []), ("26.27.1", [1])]
    assert [claim["id"] for claim in data["claims"]] == list(CLAIMS)


def test_the_page_is_what_the_results_give() -> None:
    page = (ROOT / "docs/guide-claims-in-assembly.md").read_text(encoding="utf-8")
    assert page == guide_claims.markdown(KEPT), "run 'python -m xebench.pages.guide_claims'"


def test_the_results_are_of_the_claims_of_today() -> None:
    assert [(c["id"], c["says"]) for c in KEPT["claims"]] == [(c.id, c.says) for c in CLAIMS.values()]
    assert len(KEPT["compilers"]) == 2
    for compiler in KEPT["compilers"]:
        covered = [(result["claim"], result["gpu"]) for result in compiler["results"]]
        assert covered == [(claim.id, gpu) for claim in CLAIMS.values() for gpu in claim.gpus]
        assert {result["answer"] for result in compiler["results"]} <= set(guide_claims.ANSWERS)


@needs("ocloc")
@pytest.mark.device
@pytest.mark.slow
@pytest.mark.compiler
def test_this_compiler_gives_the_kept_answers() -> None:
    compiler = find_compiler()
    kept = {each["version"]: each["results"] for each in KEPT["compilers"]}
    if compiler.version not in kept:
        pytest.skip(f"no answers are kept of {compiler.label}: python -m xebench.pages.guide_claims_data --save ...")

    def answers(results: list[Mapping[str, str]]) -> dict[tuple[str, str], str]:
        return {(r["claim"], r["gpu"]): r["answer"] for r in results}

    found: list[Result] = check(all_claims(), compiler)
    assert answers([vars(result) for result in found]) == answers(kept[compiler.version])


def test_claims_are_grouped_by_topic() -> None:
    groups = (about_memory.CLAIMS, about_registers.CLAIMS, about_arithmetic.CLAIMS)
    assert len(CLAIMS) == sum(map(len, groups))
