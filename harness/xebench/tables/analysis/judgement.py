"""Judgement: what is found of a claim, for programs and in words. Imports nothing that is slow to load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from xebench.vocabulary import ACCURACY_CLAIMS, MAY_BE_WRONG, Answer, Outcome, Reason, Status

#: What reasons advise, in the command's words: a script's call says the same of its arguments.
RAISE_BUDGET: Final = "raise --budget"
LARGER_PRESET: Final = "use a larger preset"

#: What became of a variant, where the status alone does not say it well.
STATUS_WORDS: Final[Mapping[str, str]] = {Status.WRONG: "wrong result", Status.ERROR: "failed"}

#: A claim of a variant's end, by the answer.
_ENDS: Final[Mapping[tuple[str | None, str], str]] = {
    ("wrong", Answer.HOLDS): "wrong result, as claimed",
    ("wrong", Answer.NO_EFFECT): "right here, claimed to be wrong",
    (MAY_BE_WRONG, Answer.HOLDS): "wrong result, as claimed",
    ("error", Answer.HOLDS): "fails, as claimed",
    ("error", Answer.NO_EFFECT): "runs here, claimed to fail",
}


@dataclass(frozen=True)
class Judgement:
    """The verdict of the samples on a claim.

    Attributes:
        outcome: faster, slower, same, inconclusive, or none when there is no speed-up to judge.
        answer: holds, inverts, no effect, same program, undecided, no claim, skipped or not asked.
        code: why, one of `xebench.vocabulary.REASON_CODES`.
        reason: why, one line for people.
    """

    outcome: Outcome
    answer: Answer
    code: str
    reason: str


def in_brief(judged: Judgement, word: str | None, baseline: str) -> str:
    """Why there is no answer, or no speed-up; "" where there is one. A skipped variant's is the whole reason.

    Args:
        judged: the answer.
        word: what is claimed.
        baseline: the name of the other side.
    """
    if (word, judged.answer) in _ENDS:
        return _ENDS[word, judged.answer]
    if judged.answer in (Answer.SKIPPED, Answer.NOT_ASKED, Answer.SAME_PROGRAM):
        return judged.reason
    if judged.code == Reason.MEASURED and word in (*ACCURACY_CLAIMS, MAY_BE_WRONG):
        return judged.reason
    if judged.code == Reason.MEASURED:
        # a claim of sameness with a width of its own
        return "the interval is too wide" if judged.answer == Answer.UNDECIDED else ""
    if judged.code == Reason.BASELINE:
        return f"no result of {baseline}"
    return STATUS_WORDS.get(judged.code, judged.code)
