"""Reason codes of pairs of schema version 5, which had nothing but the sentence. Goes when version 5 does."""

from __future__ import annotations

import re
from typing import Any, Final

import pandas as pd

from xebench.vocabulary import REASON_CODES, Outcome, Reason, Status

#: What its sentences said of a claim before anything else.
_CLAIMED: Final = re.compile(r"claimed \w+(?: by at least (?P<least>\S+) times)?(?: with '.*?')?; ")

_WORDS: Final = {"wrong result": Status.WRONG, "failed": Status.ERROR, "it computes the right result here": "measured"}


def with_codes(pairs: pd.DataFrame) -> pd.DataFrame:
    """The table `pairs` with `reason_code` and `at_least`, and sentences as they are today."""
    told = [_read(*one) for one in zip(pairs["reason"], pairs["outcome"], pairs["baseline"], strict=True)]
    codes, least, reasons = zip(*told, strict=True) if told else ((), (), ())
    return pairs.assign(
        reason_code=pd.array(codes, dtype="string"),
        at_least=pd.array(least, dtype="Float64"),
        reason=pd.array(reasons, dtype="string"),
    )


def _read(sentence: str, outcome: str, baseline: str) -> tuple[str | None, float | None, str]:
    claimed = _CLAIMED.match(sentence)
    least = float(claimed["least"]) if claimed and claimed["least"] else None
    rest = sentence[claimed.end() :] if claimed else sentence
    if outcome not in (Outcome.NONE, Outcome.INCONCLUSIVE) or rest.startswith("errs by "):
        return Reason.MEASURED, least, rest
    if rest.startswith(f"baseline {baseline} "):
        return Reason.BASELINE, least, rest
    word: Any = rest.partition(":")[0]
    code = _WORDS.get(word, word)
    return code if code in REASON_CODES else None, least, rest.removeprefix(f"{Status.SKIPPED}: ")
