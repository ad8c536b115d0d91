"""The codes of version 5's sentences."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from xebench.tables import load_run
from xebench.tables.schema import with_codes
from xebench.vocabulary import REASON_CODES


@pytest.mark.parametrize(
    ("outcome", "sentence", "code", "least", "reason"),
    [
        (
            "faster",
            "claimed faster by at least 1.5 times; 2 times as fast: 2.0",
            "measured",
            1.5,
            "2 times as fast: 2.0",
        ),
        ("same", "1.000, 95 % interval 0.99 to 1.01", "measured", None, "1.000, 95 % interval 0.99 to 1.01"),
        ("inconclusive", "claimed same; stolen time: a; b", "stolen time", None, "stolen time: a; b"),
        ("inconclusive", "unrecorded work?: a (b: c)", "unrecorded work?", None, "unrecorded work?: a (b: c)"),
        ("none", "skipped: kernel f(Item<1>, x): y", "skipped", None, "kernel f(Item<1>, x): y"),
        ("none", "refused: 9 GiB", "refused", None, "refused: 9 GiB"),
        ("none", "baseline plain wrong result: a", "baseline", None, "baseline plain wrong result: a"),
        ("none", "claimed error with 'local; memory'; failed: a", "error", None, "failed: a"),
        (
            "none",
            "claimed wrong; it computes the right result here",
            "measured",
            None,
            "it computes the right result here",
        ),
        ("none", "claimed accurate; errs by 1 ulp, b by 2", "measured", None, "errs by 1 ulp, b by 2"),
        ("none", "claimed accurate; errors are not known: a", "errors are not known", None, "errors are not known: a"),
        ("none", "interrupted: the run ended", "interrupted", None, "interrupted: the run ended"),
        ("none", "no valid sample: a", "no valid sample", None, "no valid sample: a"),
        ("none", "something else", None, None, "something else"),
    ],
)
def test_a_sentence_of_version_5_is_read_once(
    outcome: str, sentence: str, code: str | None, least: float | None, reason: str
) -> None:
    old = pd.DataFrame({"reason": [sentence], "outcome": [outcome], "baseline": ["plain"]})
    found = with_codes(old).astype(object).where(lambda data: data.notna(), None).iloc[0]
    assert (found["reason_code"], found["at_least"], found["reason"]) == (code, least, reason)


def test_every_pair_of_the_reference_run_has_a_code() -> None:
    codes = load_run(Path(__file__).parents[2] / "results" / "cpu-epyc-2-cores").pairs["reason_code"]
    assert set(codes.dropna()) <= set(REASON_CODES) and codes.notna().all()


def test_a_run_without_pairs_has_none() -> None:
    none = pd.DataFrame({"reason": [], "outcome": [], "baseline": []})
    assert with_codes(none).empty
