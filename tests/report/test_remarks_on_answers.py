"""Few words beside an answer."""

from __future__ import annotations

from typing import Any

import pytest

from xebench.report.remarks import SIGNS, asides, classes, guide_words, sentence
from xebench.vocabulary import Answer

PAIR: dict[str, Any] = {
    "outcome": "faster",
    "answer": "holds",
    "claim": "faster",
    "claimed_for": None,
    "device_class": "cpu",
    "guide_speedup": None,
    "guide_device": None,
    "guide_source": None,
    "times_empty_kernel": None,
    "strength": "stated",
    **dict.fromkeys(("barely", "stand_in", "edited")),
    "at_least": None,
    "baseline": "plain",
    "reason_code": "measured",
    "reason": "2 times as fast: 2.000",
}


def test_every_answer_has_a_sign_of_its_own() -> None:
    assert set(SIGNS) == set(Answer)
    assert len(set(SIGNS.values())) == len(SIGNS)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, ()),
        ({"claimed_for": "cpu"}, ()),
        ({"claimed_for": "gpu"}, ("claimed for GPUs",)),
        ({"claimed_for": "cpu", "device_class": "gpu"}, ("claimed for CPUs",)),
        ({"claim": "slower"}, ("claimed slower",)),
        ({"answer": "inverts", "claimed_for": "gpu"}, ("claimed faster", "claimed for GPUs")),
        (
            {"answer": "no effect", "at_least": 3.0},
            ("claimed faster by at least 3 times",),
        ),
        ({"guide_speedup": 2.945, "guide_device": "Max 1550"}, ("guide 2.94x on Max 1550",)),
        ({"guide_speedup": 2.0}, ("guide 2x",)),
        ({"times_empty_kernel": 40.0}, ()),
        ({"barely": True}, ("barely",)),
        ({"stand_in": True}, ("stand-in",)),
        ({"stand_in": True, "strength": "ours"}, ()),
        ({"edited": True}, ("edited since",)),
        ({"times_empty_kernel": 2.71}, ("only 2.7 empty kernels long",)),
        (
            {"answer": "undecided", "outcome": "inconclusive", "reason_code": "budget"},
            ("budget",),
        ),
        ({"answer": "undecided", "outcome": "none", "reason_code": "wrong"}, ("wrong result",)),
        (
            {"answer": "undecided", "outcome": "none", "claim": "error", "reason_code": "crashed"},
            ("crashed",),
        ),
        ({"answer": "no effect", "outcome": "none", "claim": "error"}, ("runs here, claimed to fail",)),
        ({"answer": "no effect", "outcome": "none", "claim": "wrong"}, ("right here, claimed to be wrong",)),
        (
            {"answer": "undecided", "outcome": "same", "claim": "same"},
            ("the interval is too wide", "claimed same"),
        ),
        ({"answer": "no claim", "claim": None}, ()),
        # a reason is for people: what stands in it tells a program nothing
        ({"reason": "claimed slower by at least 3 times; noise: it is (a, b); skipped: interrupted"}, ()),
        (
            {"answer": "skipped", "outcome": "none", "reason": "no kernel f(Item<1>, x): y; z"},
            ("no kernel f(Item<1>, x): y; z",),
        ),
        ({"answer": "undecided", "outcome": "none", "reason_code": "baseline"}, ("no result of plain",)),
        ({"claim": "accurate", "outcome": "none", "reason": "errs by 1 ulp"}, ("errs by 1 ulp",)),
        ({"reason_code": None}, ()),
    ],
)
def test_only_what_the_sign_does_not_tell_is_said(change: dict[str, Any], words: tuple[str, ...]) -> None:
    assert asides({**PAIR, **change}) == words


def test_the_sentence_says_what_is_claimed_too() -> None:
    assert sentence({**PAIR, "at_least": 1.5}) == "claimed faster by at least 1.5 times; 2 times as fast: 2.000"
    assert sentence({**PAIR, "claim": None, "answer": "no claim"}) == "2 times as fast: 2.000"
    assert sentence({**PAIR, "answer": "undecided", "reason": "noise: too wide"}) == "noise: too wide"


def test_the_guides_figure_comes_with_its_lines() -> None:
    pair = {**PAIR, "guide_speedup": 2.9, "guide_device": "Max 1550", "guide_source": "G 4530"}
    assert guide_words(pair, with_source=True) == "2.9x on Max 1550 (G 4530)"
    assert guide_words({**PAIR, "guide_source": "G 20"}, with_source=True) == "G 20"
    assert guide_words(PAIR, with_source=True) == ""


def test_classes_of_devices_are_said_in_words() -> None:
    assert (classes(None), classes("gpu"), classes("gpu,cpu")) == ("", "GPUs", "GPUs and CPUs")
