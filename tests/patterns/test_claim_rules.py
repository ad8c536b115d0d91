"""Claims that cannot all hold."""

from __future__ import annotations

import math

import pytest

from xebench import Claim, Figure
from xebench.patterns.conditions import contradiction


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({"b": [Claim("faster"), Claim("same")]}, "b is claimed"),
        ({"b": [Claim("faster")], "a": [Claim("faster", against="b")]}, "a is claimed both faster and slower beside b"),
        (
            {
                "b": [Claim("faster", against="c")],
                "c": [Claim("faster", against="d")],
                "d": [Claim("slower", against="b")],
            },
            "",
        ),
        (
            {
                "b": [Claim("faster", against="c")],
                "c": [Claim("faster", against="d")],
                "d": [Claim("faster", against="b")],
            },
            "claims go round in a circle",
        ),
        ({"b": [Claim("faster", on=("gpu",)), Claim("slower", on=("cpu",))]}, ""),
        ({"b": [Claim("faster", where={"n": 1}), Claim("slower", where={"n": 2})]}, ""),
        ({"b": [Claim("faster", where={"n": (1, 2)}), Claim("slower", where={"n": 2})]}, "at n=2"),
        ({"b": [Claim("faster", where={"n": 1}), Claim("slower", where={"k": 2})]}, "at n=1, k=2"),
        ({"b": [Claim("faster"), Claim("accurate"), Claim("wrong")]}, ""),
        ({"b": [Claim("faster"), Claim("same", within=0.5)]}, ""),
        ({"b": [Claim("slower", on=("gpu",)), Claim("same", within=0.3)]}, ""),
        ({"b": [Claim("faster", at_least=2), Claim("same", within=0.5)]}, "b is claimed both same and faster"),
        ({"b": [Claim("wrong"), Claim("error")]}, "b is claimed both wrong and error"),
        ({"b": [Claim("wrong"), Claim("may be wrong")]}, ""),
        ({"b": [Claim("faster"), Claim("faster")]}, "b is claimed faster twice, in the same words"),
        ({"b": [Claim("faster"), Claim("faster", where={"n": 1}, at_least=2)]}, ""),
        (
            {"b": [Claim("accurate", against="c")], "c": [Claim("accurate", against="b")]},
            "claims go round in a circle: b comes before (accurate) c comes before (accurate) b",
        ),
        (
            {"b": [Claim("registers", against="c")], "c": [Claim("registers", against="b")]},
            "claims go round in a circle",
        ),
        ({"b": [Claim("registers", against="c")], "c": [Claim("spills", against="b")]}, ""),
        (
            {"b": [Claim("faster"), Claim("same", against="c")], "c": [Claim("same")]},
            "claims go round in a circle",
        ),
        ({"b": [Claim("same")], "a": [Claim("same", against="b")]}, ""),
    ],
)
def test_contradictions(claims: dict[str, list[Claim]], why: str) -> None:
    found = contradiction(claims, "a")
    assert (found is not None and why in found) if why else found is None


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        (Claim("slower", figure=Figure(2.9, line="G 1")), "slower, with a figure of 2.9"),
        (Claim("faster", figure=Figure(0.9, line="G 1")), "faster, with a figure of 0.9"),
        (Claim("faster", figure=2.9), "Expected `object | null`, got `float` - at `$.figure`"),  # type: ignore[arg-type]
        (Claim("faster", against=3), "Expected `str`, got `int` - at `$.against`"),  # type: ignore[arg-type]
        (Claim("faster", where="n"), "got `str` - at `$.where`"),  # type: ignore[arg-type]
        (Claim("faster", where={"n": math.nan}), "where {'n': nan}: give numbers or texts"),
        (Claim("faster", where={"n": [[1]]}), "give numbers or texts"),
        (Claim("faster", source="G 1\x1b"), "give texts without control characters"),
        (Claim("same", at_least=2), "same has no at_least"),
        (Claim("faster", within=0.5), "faster has no within"),
        (Claim("faster", kind="x"), "faster has no kind"),
    ],
)
def test_nonsense(claim: Claim, why: str) -> None:
    assert why in (claim.fault() or "")
