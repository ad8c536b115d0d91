"""Claims that cannot all hold."""

from __future__ import annotations

import pytest

from xebench import Claim
from xebench.patterns.conditions import contradiction


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({"b": [Claim("faster"), Claim("same")]}, "b is claimed"),
        ({"b": [Claim("faster")], "a": [Claim("faster", against="b")]}, "a is claimed faster than b and the opposite"),
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
        ({"b": [Claim("same")], "a": [Claim("same", against="b")]}, ""),
    ],
)
def test_contradictions(claims: dict[str, list[Claim]], why: str) -> None:
    found = contradiction(claims, "a")
    assert (found is not None and why in found) if why else found is None
