"""What a claim says, of what and where; and what a declaration may not say."""

from __future__ import annotations

from typing import Any

import pytest

from xebench.records.claim import Claim, Figure, applying, claims_of, from_json, is_expected, to_json


@pytest.mark.parametrize(
    ("claim", "strength", "source"),
    [
        (Claim("faster"), "ours", ""),
        (Claim("faster", source="G 7"), "stated", "G 7"),
        (Claim("faster", figure=Figure(2.9, line="G 8")), "figure", "G 8"),
        (Claim("faster", figure=Figure(2.9, line="G 8"), source="G 7 to 9"), "figure", "G 7 to 9"),
        (Claim("faster", source="G 7", strength="implied"), "implied", "G 7"),
        (Claim("faster", source="G 7", strength="ours"), "ours", "G 7"),
    ],
)
def test_without_a_line_of_the_guide_a_claim_is_ours(claim: Claim, strength: str, source: str) -> None:
    assert (claim.strength, claim.source, claim.fault()) == (strength, source, None)
    assert claim.is_ours == (strength == "ours")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"word": "better"}, "'better' is none of faster, slower, same, accurate, wrong, may be wrong, error"),
        ({"on": ("fpga",)}, "name classes of devices: gpu, cpu"),
        ({"strength": "loud"}, "strength 'loud' is none of figure, stated, implied, ours"),
        ({"strength": "stated"}, "needs a source"),
        ({"strength": "figure", "source": "G 1"}, "needs figure="),
        ({"at_least": 0.5}, "at_least 0.5: give a ratio of 1 or more"),
        ({"at_least": float("nan")}, "at_least nan"),
        ({"within": -0.1}, "within -0.1"),
        ({"within": 1.0}, "within 1.0: give a part below 1"),
        ({"figure": Figure(0.0, line="G 1")}, "figure 0.0"),
        ({"figure": Figure(2.0, line="G 1", inferred="G 2")}, "figure: inferred, but no device"),
        ({"figure": Figure(2.0, line="G 1", metric="cpu")}, "metric 'cpu' is none of device, span, build, wall"),
    ],
)
def test_a_claim_that_cannot_be_says_why(fields: dict[str, Any], words: str) -> None:
    assert words in str(Claim(**{"word": "faster", **fields}).fault())


def test_a_pattern_file_may_write_a_word_a_class_or_several() -> None:
    assert claims_of(None) == ()
    assert claims_of("same") == (Claim("same"),)
    assert claims_of({"gpu": "faster", "cpu": "slower"}) == (Claim("faster", on=("gpu",)), Claim("slower", on=("cpu",)))
    assert claims_of(Claim("same")) == (Claim("same"),)
    assert claims_of([Claim("same"), Claim("wrong")]) == (Claim("same"), Claim("wrong"))


def test_a_claim_for_gpus_is_asked_of_a_cpu_device_too() -> None:
    claims = claims_of({"gpu": "faster"})
    assert applying(claims, "cpu", {}) == applying(claims, "gpu", {}) == list(claims)


def test_what_is_said_of_this_class_comes_before_what_is_said_of_others() -> None:
    claims = [*claims_of({"gpu": "faster", "cpu": "slower"}), Claim("same", against="other"), Claim("registers")]
    assert [claim.word for claim in applying(claims, "cpu", {})] == ["slower", "same", "registers"]
    assert [claim.word for claim in applying(claims, "gpu", {})] == ["faster", "same", "registers"]


def test_only_an_answer_to_the_same_question_takes_the_place_of_a_claim_about_others() -> None:
    registers, wrong = Claim("registers", on=("gpu",)), Claim("wrong", on=("cpu",))
    assert applying([registers, wrong], "cpu", {}) == [registers, wrong]
    assert applying([Claim("error", on=("gpu",)), wrong], "cpu", {}) == [wrong]


def test_where_a_claim_is_said() -> None:
    light, heavy = Claim("faster", where={"work": 1}), Claim("same", where={"work": [100, 1000]})
    assert applying([light, heavy], "gpu", {"work": 1, "n": 8}) == [light]
    assert applying([light, heavy], "gpu", {"work": 1000, "n": 8}) == [heavy]
    assert applying([light, heavy], "gpu", {"work": 7}) == []


def test_the_table_keeps_all_of_a_claim() -> None:
    claims = [
        Claim("faster", against="a", where={"n": 8}, on=("gpu",), figure=Figure(2.0, "Max 1550", "G 1")),
        Claim("wrong"),
    ]
    assert from_json(to_json(claims)) == claims
    assert from_json(None) == from_json("[]") == []


def test_an_expected_end_is_no_failure() -> None:
    wrong, error = Claim("wrong"), Claim("error", kind="too wide")
    assert is_expected("wrong", "2 of 4 differ", [wrong])
    assert is_expected("error", "check: too wide", [wrong, error])
    assert not is_expected("error", "check: boom", [error])
    assert not is_expected("crashed", "signal 11", [wrong, error])
    assert not is_expected("wrong", "2 of 4 differ", [Claim("faster")])
