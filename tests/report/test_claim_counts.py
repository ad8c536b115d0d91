"""Each claim is counted once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import stored

from xebench.report.claim_counts import claim_sentences, fate, verdicts

ROOT = Path(__file__).parents[2]


def pair(answer: str, claim: str = "faster", **columns: Any) -> dict[str, Any]:
    names = {"pattern": "p", "variant": "v", "baseline": "n", "state": "hot", "at_least": None, "guide_source": "G 1"}
    here: dict[str, Any] = {"strength": "stated", "claimed_for": None, "device_class": "gpu"}
    here |= {"barely": False, "stand_in": False, "edited": None}  # older runs lack the columns
    return {**names, **here, "answer": answer, "claim": claim, **columns}


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (["holds", "holds"], "hold"),
        (["holds", "undecided"], "hold"),
        (["holds", "inverts"], "hold at some points"),
        (["no effect", "inverts"], "do not hold"),
        (["undecided", "skipped"], "are undecided"),
        (["skipped", "not asked"], "were skipped"),
        (["not asked"], "are not asked of this device"),
    ],
)
def test_the_points_of_a_claim_make_one_fate(answers: list[str], expected: str) -> None:
    assert fate([pair(answer) for answer in answers]) == expected


def test_a_race_that_came_out_right_neither_holds_nor_fails() -> None:
    assert fate([pair("undecided", "may be wrong")]) == "are data races that came out right"


def test_a_claim_is_counted_once_whatever_its_points() -> None:
    points = [pair("holds", parameters=f'{{"n": {n}}}') for n in range(9)]
    assert claim_sentences([*points, pair("inverts", guide_source="G 2")]) == [
        "The guide states 2 claims: 1 holds, 1 does not hold."
    ]


def test_what_holds_by_less_than_the_noise_is_counted_apart() -> None:
    barely = pair("holds", barely=True)
    assert fate([barely, barely]) == fate([barely, pair("undecided")]) == "barely hold"
    assert fate([barely, pair("holds")]) == "hold"
    assert fate([barely, pair("inverts")]) == "hold at some points"


def test_programs_that_were_edited_since_are_not_counted() -> None:
    assert claim_sentences([pair("holds"), pair("inverts", pattern="q", edited=True)]) == [
        "The guide states 1 claim: 1 holds."
    ]


def test_claims_are_told_by_their_strength_and_those_for_others_of_stand_ins_and_ours_apart() -> None:
    pairs = [
        pair("holds", strength="ours", stand_in=True),
        pair("holds", strength="ours", claimed_for="cpu"),
        pair("inverts", claimed_for="cpu"),
        pair("holds", strength="figure", claimed_for="cpu"),
        pair("holds", strength="implied", guide_source="G 3"),
        pair("skipped", strength="figure"),
        pair("no effect", guide_source="G 4"),
        pair("inverts", guide_source="G 5", stand_in=True),
    ]
    assert claim_sentences(pairs) == [
        "The guide gives a figure for 1 claim: 1 was skipped.",
        "The guide states 1 claim: 1 does not hold.",
        "1 claim follows from what the guide says: 1 holds.",
        "For CPUs, which say nothing of a GPU, the guide gives a figure for 1 claim: 1 holds.",
        "For CPUs the guide states 1 claim: 1 does not hold.",
        "1 claim is of a stand-in, which does not answer for the guide: 1 does not hold.",
        "2 claims are not the guide's: 2 hold.",
    ]
    assert verdicts(pairs) == [
        "Of the guide's 3 claims: 1 holds, 1 does not, 1 has no answer.",
        "Of the guide's 2 claims for CPUs, which say nothing of a GPU: 1 holds, 1 does not.",
        "The claim of a stand-in, which does not answer for the guide, does not hold.",
        "Of 2 other claims: 2 hold.",
    ]


def test_a_claim_alone_is_a_sentence_and_so_are_claims_without_a_guide() -> None:
    assert verdicts([pair("holds", claimed_for="cpu")]) == [
        "The guide's claim for CPUs, which says nothing of a GPU, holds."
    ]
    own = [pair(answer, strength="ours", pattern=answer) for answer in ("holds", "inverts", "skipped")]
    assert verdicts(own[:1]) == ["The claim holds."]
    assert verdicts(own) == ["Of 3 claims: 1 holds, 1 does not, 1 has no answer."]


@stored.needed
def test_the_lines_of_the_page_on_measuring_count_as_reports_do(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "measurement.md").read_text(encoding="utf-8")
    (block,) = (each for each in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "held" in each)
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    exec(block, names)
    held = names["held"]
    sentences = claim_sentences(names["pairs"].to_dict("records"))

    def told(words: str) -> int:
        return sum(int(count) for each in sentences for count in re.findall(rf"(\d+) (?:{words})(?=[,.])", each))

    assert told("holds?|barely holds?") == (held == 1).sum() > 100
    assert told("holds? at some points") == held.between(0, 1, "neither").sum() > 0
    assert told("do not hold|does not hold") == (held == 0).sum() > 50
    (stated,) = (each for each in sentences if each.startswith("The guide states"))
    here = held[[row[0] == "stated" and not isinstance(row[1], str) and row[2] is not True for row in held.index]]
    assert f" {(here == 1).sum()} hold, {(here == 0).sum()} do not hold" in stated
