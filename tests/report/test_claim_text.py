"""Claims in words, and in the list of patterns."""

from __future__ import annotations

import json

from xebench.patterns.declaration import PatternInfo, VariantInfo
from xebench.records.claim import Claim, Figure
from xebench.report import claims_text

CLAIMS = (
    Claim(
        "faster", against="one", at_least=1.5, where={"work": 1}, on=("gpu",), figure=Figure(2.9, "Max 1550", "G 4530")
    ),
    Claim("same", against="two", within=0.1, where={"n": [4, 8]}, source="G 4533", strength="implied"),
    Claim("error", against="one", kind="too large"),
    Claim("registers", against="one"),
)


def test_claims_are_told_with_who_makes_them() -> None:
    assert [f"{claims_text.describe_claim(claim)} [{claims_text.claim_source(claim)}]" for claim in CLAIMS] == [
        "faster than one by at least 1.5 times where work=1, for GPUs [G 4530: 2.9 on Max 1550]",
        "same as two within 10% where n=4|8 [G 4533 (implied)]",
        "must end as error with 'too large' [ours]",
        "fewer registers than one [ours]",
    ]


def test_the_list_has_the_claims_of_each_pattern_once() -> None:
    variants = (VariantInfo("one", "naive", (), ""), VariantInfo("three", "optimized", CLAIMS, ""))
    info = PatternInfo("p", "slm", "", "Lesson.", (), "device", {}, {}, variants, "p.py")
    (told,) = json.loads(claims_text.as_json([info]))
    assert [claim["variant"] for claim in told["claims"]] == ["three"] * len(CLAIMS)
    first = told["claims"][0]
    wanted = {"word": "faster", "against": "one", "where": {"work": 1}, "on": ["gpu"], "strength": "figure"}
    assert first | wanted == first
    assert first["source"] == "G 4530" and first["figure"]["speedup"] == 2.9
    assert all("claims" not in variant for variant in told["variants"])
    text = " ".join(claims_text.as_text([info], 80, verbose=True).split())
    assert "claim: three faster than one by at least 1.5 times where work=1, for GPUs [G 4530" in text
