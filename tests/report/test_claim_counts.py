"""Each claim is counted once."""

from __future__ import annotations

from typing import Any

import pytest

from xebench.report.claim_counts import claim_sentences, fate


def pair(answer: str, claim: str = "faster", **columns: Any) -> dict[str, Any]:
    names = {"pattern": "p", "variant": "v", "baseline": "n", "state": "hot", "at_least": None, "guide_source": "G 1"}
    here = {"strength": "stated", "claimed_for": None, "device_class": "gpu"}
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


def test_stated_claims_come_first_and_those_for_others_and_ours_apart() -> None:
    pairs = [
        pair("holds", strength="ours"),
        pair("inverts", claimed_for="cpu"),
        pair("holds", strength="implied", guide_source="G 3"),
        pair("skipped", strength="figure"),
    ]
    assert claim_sentences(pairs) == [
        "The guide states 1 claim: 1 was skipped.",
        "1 claim more follows from what it says: 1 holds.",
        "The guide makes 1 claim for CPUs, which say nothing of a GPU: 1 does not hold.",
        "We make 1 claim of our own: 1 holds.",
    ]
