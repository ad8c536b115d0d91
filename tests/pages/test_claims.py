"""The page of claims says what the patterns claim and what the reference runs answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import changed_run
import msgspec
import pytest
import rows_kit
import stored

from tools.pages.claims import Answered, Found, Said, _code, all_said, answers, cell, data, markdown, reference_runs
from xebench.patterns.declaration import PatternInfo, VariantInfo
from xebench.patterns.registry import discover
from xebench.records.claim import Claim, Figure
from xebench.results import Run, frame
from xebench.vocabulary import ANSWERED


@pytest.fixture(scope="module")
def answered() -> Answered:
    return Answered(discover(), reference_runs(), data("claim_notes"))


@pytest.mark.nightly
@stored.needed
@pytest.mark.slow
def test_every_claim_is_in_it(answered: Answered) -> None:
    page = markdown(answered, data("guide_defects")["defects"])
    for said in all_said(answered.infos):
        assert f"`{said.pattern}`" in page and f"`{said.variant}` " in page
    told = {each.answer for found in answered.found["cpu-epyc-2-cores"] for each in found}
    assert told <= {*ANSWERED, "skipped", "not asked"}


@stored.needed
@pytest.mark.slow
def test_sentences_are_about_claims(answered: Answered) -> None:
    assert answered.explained("cpu-epyc-2-cores"), "all that is claimed holds there"
    assert answered.stale == [], "delete them from tools/pages/data/claim_notes.toml"


def test_each_defect_says_where_what_and_what_instead() -> None:
    for defect in data("guide_defects")["defects"]:
        assert defect["where"].startswith("G ") and defect["wrong"].strip() and defect["here"].strip()


#: Twice as fast at 16 lanes as alone, and half as fast at 32.
SPEEDUPS = {16: 2.0, 32: 0.5}


def case(variant: str, role: str, lanes: int, **changed: Any) -> dict[str, Any]:
    parameters = json.dumps({"n": 8, "lanes": lanes})
    keys = {"case_id": f"{variant}/{lanes}", "family_id": f"{lanes}", "parameters": parameters}
    return rows_kit.case(variant, role, **keys, **changed)


@pytest.fixture(scope="module")
def run() -> Run:
    cases = [case(variant, role, n) for n in SPEEDUPS for variant, role in (("slow", "naive"), ("fast", "optimized"))]
    samples = [
        rows_kit.sample(variant, block, 1e6 / factor, **keys, sample_id=100 * lanes + 50 * place + block)
        for lanes, speedup in SPEEDUPS.items()
        for place, (variant, factor) in enumerate((("slow", 1.0), ("fast", speedup)))
        for block in range(12)
        for keys in ({"case_id": f"{variant}/{lanes}", "checked": True, "block": block, "instance": block // 2},)
    ]
    tables = {name: frame(name, []) for name in ("events", "summaries", "pairs", "machine", "checks")}
    tables |= {"cases": frame("cases", cases), "samples": frame("samples", samples)}
    tables["devices"] = frame("devices", [rows_kit.device()])
    return Run.of_tables(Path(), {"schema_version": 6, "created": "2026-01-01"}, tables)


def pattern(run: Run, *claims: Claim, **changed: Any) -> PatternInfo:
    known = run.cases.iloc[0]
    sizes = json.loads(known["preset_parameters"])
    variants = (VariantInfo("slow", "naive", (), ""), VariantInfo("fast", "optimized", claims, ""))
    info = PatternInfo(
        known["pattern"], "slm", "", "", (), known["metric"], {known["preset"]: sizes}, {"lanes": (16,)}, variants, ""
    )
    return msgspec.structs.replace(info, **changed)


FASTER = Claim("faster", against="slow", on=("gpu",), figure=Figure(2.5, "Max 1550", "G 4530"))


def asked(run: Run, info: PatternInfo) -> list[list[str]]:
    return [[each.answer for each in found] for found in answers(all_said([info]), run, [info])]


def test_an_older_run_answers_what_is_claimed_today(run: Run) -> None:
    claims = FASTER, Claim("same", against="slow", where={"lanes": 32}), Claim("registers", against="slow")
    assert asked(run, pattern(run, *claims)) == [["holds"], ["inverts"], []]  # of a CPU
    info = pattern(run, FASTER)
    (found,) = answers(all_said([info]), run, [info])
    assert [each.speedup for each in found] == pytest.approx(list(SPEEDUPS.values()))
    assert [each.point["lanes"] for each in found] == list(SPEEDUPS)


def test_an_answer_of_another_text_of_the_pattern_is_of_an_older_program(run: Run) -> None:
    info = pattern(run, FASTER)
    run = changed_run.changed(run, cases=run.cases.assign(source_sha256="of then"))
    for sha256, older in (("", False), ("of then", False), ("of today", True)):
        told = Answered([msgspec.structs.replace(info, source_sha256=sha256)], {"here": run}, {"sentences": {}})
        (found,) = told.found["here"]
        assert [each.older for each in found] == [older] * 2
        assert cell(found).endswith(" (older program)") is older
        assert ("| the guide's | 2 | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 2 | 0 | 0 |" in markdown(told, [])) is older


def test_what_a_run_measured_otherwise_it_does_not_answer(run: Run) -> None:
    info = pattern(run, FASTER)
    assert asked(run, info) == [["holds", "inverts"]]
    changes: tuple[dict[str, Any], ...]
    changes = ({"metric": "span"}, {"axes": {"other": (1,)}}, {"presets": {}}, {"state": "cold"}, {"name": "q"})
    for changed in changes:
        assert asked(run, msgspec.structs.replace(info, **changed)) == [[]], changed
    assert asked(run, pattern(run, msgspec.structs.replace(FASTER, against="another"))) == [[]]


def test_a_claim_that_another_takes_the_place_of_is_not_asked(run: Run) -> None:
    info = pattern(run, FASTER, Claim("slower", against="slow", on=("cpu",)))
    both = Answered([info], {"here": run}, {"sentences": {}})
    assert both.without("here", 0) == "not asked"
    assert both.without("here", 1) == "not in that run"  # had it no samples of it
    page = markdown(both, [])
    assert "| `p` | `fast` faster than slow, for GPUs | not asked | 2.5 on Max 1550 | figure | G 4530 |" in page
    assert (
        "|  | `fast` slower than slow, for CPUs | holds 0.500 (lanes=32); inverts 2.00 (lanes=16) |  | ours |  |"
        in page
    )


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ([], ""),
        ([("holds", 2.0, 16)], "holds 2.00"),
        ([("holds", 2.0, 16), ("holds", 4.567, 32)], "holds 2.00 to 4.57"),
        (
            [("inverts", 0.5, 8), ("holds", 2.0, 16), ("holds", 2.0, 32)],
            "holds 2.00 (lanes=16|32); inverts 0.500 (lanes=8)",
        ),
        ([("skipped", None, 16)], "skipped"),
    ],
)
def test_a_cell(found: list[tuple[str, float | None, int]], text: str) -> None:
    points = [Found(word, "", speedup, {"lanes": lanes, "state": "hot"}) for word, speedup, lanes in found]
    assert cell(points) == text


def test_a_claim_that_is_made_of_other_devices_says_which(run: Run) -> None:
    info = pattern(run, msgspec.structs.replace(FASTER, requires=("stacks=2",)))
    (found,) = answers(all_said([info]), run, [info])
    assert {each.answer for each in found} == {"not asked"}
    assert cell(found) == "not asked (stacks here: not known; the claim covers devices with stacks=2)"


def test_a_sentence_about_no_claim_is_named(run: Run) -> None:
    info = pattern(run, FASTER)
    sentences = {"p/gone/slow": "Why.", f"{info.name}/fast/slow": "Lanes wait."}
    assert Answered([info], {"here": run}, {"sentences": sentences}).stale == ["p/gone/slow"]


def test_why_a_cpu_answers_so_is_not_said_of_a_gpu(run: Run) -> None:
    info = pattern(run, FASTER)
    gpu = changed_run.changed(run, devices=run.devices.assign(device_class="gpu"))
    key = f"{info.name}/fast/slow"
    both = Answered([info], {"here": run, "there": gpu}, {"sentences": {key: "Cores are few."}})
    assert key in both.explained("there") and both.runs_of_sentence(key) == ["here"]
    assert "`slow`, on `here`: Cores are few." in markdown(both, [])
    alone = Answered([info], {"there": gpu}, {"sentences": {key: "Lanes wait."}})
    assert alone.runs_of_sentence(key) == ["there"]


def test_claims_on_code_have_the_answers_of_the_kept_compilers() -> None:
    claim = Claim("registers", against="slow", source="G 2272")
    was = {**msgspec.to_builtins(claim), "source": "", "strength": "ours"}  # it was ours then
    told: dict[str, Any] = {"pattern": "p", "variant": "fast", "gpu": "pvc", "claim": was}
    told |= {"answer": "holds", "number": 8, "against_number": 16}
    refused = {**told, "gpu": "bmg", "answer": "undecided", "number": None}
    another = {**told, "claim": {**told["claim"], "against": "x"}}
    compilers: list[dict[str, Any]] = [
        {"igc": "libigc.so.1.0.1", "rows": []},
        {"igc": "libigc.so.2.40", "rows": [], "claims": [told, refused, another]},
    ]
    said = [Said("p", "fast", claim), Said("p", "fast", FASTER)]
    assert _code(said, compilers)[2:] == [
        "| `p` | `fast` fewer registers than slow | not compiled yet "
        "| holds on pvc, 8 against 16; undecided on bmg |  | stated | G 2272 |"
    ]
    assert _code(said[1:], compilers) == []
