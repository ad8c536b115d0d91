"""The judge of pairs: answer a claim by the cases of two variants and their samples so far.

The table `pairs` has its answers. A run's progress shows those alone that follow from a status.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from xebench.records import points
from xebench.records.claim import Claim, from_json
from xebench.records.points import Row
from xebench.results.analysis import answer
from xebench.results.analysis.answer import Circumstances, Judgement
from xebench.results.analysis.intervals import Interval
from xebench.vocabulary import (
    ACCURACY_CLAIMS,
    MAY_BE_WRONG,
    NEVER_RUN,
    OWN_SIZES,
    Answer,
    DeviceClass,
    Outcome,
    Reason,
    Status,
    find_baseline,
)

#: Statuses in words, where the bare status reads badly.
STATUS_WORDS: Final[Mapping[str, str]] = {Status.WRONG: "wrong result", Status.ERROR: "failed"}

#: Sentences for claims about a variant's outcome, by answer.
_SENTENCES: Final[Mapping[tuple[str | None, str], str]] = {
    ("wrong", Answer.HOLDS): "wrong result, as claimed",
    ("wrong", Answer.NO_EFFECT): "right here, claimed to be wrong",
    (MAY_BE_WRONG, Answer.HOLDS): "wrong result, as claimed",
    ("error", Answer.HOLDS): "fails, as claimed",
    ("error", Answer.NO_EFFECT): "runs here, claimed to fail",
}

#: Share of the guide's ratio that a claim needs on the guide's product and at its sizes: drivers differ, and the guide
#: prints neither the spread of its times nor the number of its runs.
FIGURE_MARGIN: Final = 0.8


@dataclass(frozen=True)
class Pair:
    """A variant, what it is compared with, and what is claimed of that.

    Attributes:
        baseline, case: rows of the table `cases`.
        claim: None when nothing is claimed.
    """

    baseline: Row
    case: Row
    claim: Claim | None

    @property
    def band(self) -> float:
        """Relative difference below which two times are the same in practice."""
        stated = self.case["same_within"]
        return answer.SAME_WITHIN if stated is None else float(stated)

    @property
    def same_program(self) -> bool | None:
        """True if both sides submit the same work to the device; None if unknown."""
        sides = [side.get("program") for side in (self.case, self.baseline)]
        return sides[0] == sides[1] if all(isinstance(side, str) for side in sides) else None

    def at_guides_size(self, device: Mapping[str, Any]) -> bool | None:
        """True if measured on the product, by the metric and at the sizes of the guide's figure.

        None without a figure.
        """
        figure, case = self.claim.figure if self.claim else None, self.case
        if figure is None:
            return None
        product, name = figure.device.lower().split(), str(device.get("name") or "").lower()
        here = bool(product) and all(word in name for word in product)
        guides = case["preset"] == "guide" and not str(case.get("parameters_from") or "").startswith(OWN_SIZES)
        as_printed = guides and points.point(case) == points.swept(case)
        return here and as_printed and figure.metric in ("", case["metric"])

    def least(self, device: Mapping[str, Any]) -> float:
        """The smallest ratio that satisfies the claim; 1 away from the guide's size, where it promises no amount."""
        there = self.at_guides_size(device)
        if self.claim is None or there is False:
            return 1.0
        printed = self.claim.figure.speedup if there and self.claim.figure else 1.0
        return max(self.claim.at_least, FIGURE_MARGIN * max(printed, 1 / printed))

    def _if_asked(self, judged: Judgement) -> Judgement:
        """An answer, unless the claim is made of other devices."""
        why = self.claim.not_asked if self.claim else ""
        return replace(judged, answer=Answer.NOT_ASKED, code=Reason.OTHER_DEVICE, reason=why) if why else judged

    def ended(self, blocks: int | None = None, spoilt: str | None = None) -> Judgement | None:
        """The answer that follows without a speed-up (from the status, errors or program), or None.

        Args:
            blocks: number of blocks that both sides share; None while sampling continues.
            spoilt: reason why most samples of a side are invalid; None if most are valid.
        """
        judged = self._ended(blocks, spoilt)
        return judged and self._if_asked(judged)

    def _ended(self, blocks: int | None, spoilt: str | None) -> Judgement | None:
        own, other, claim = self.case, self.baseline, self.claim
        # if both were skipped nothing was tested
        if claim is not None and claim.of_end and other["status"] not in NEVER_RUN:
            return judge_end(own["status"], own["reason"], claim)
        if claim is not None and claim.of_accuracy and not {own["status"], other["status"]} & NEVER_RUN:
            return judge_accuracy(own["error_ulp"], other["error_ulp"], str(other["variant"]), claim)
        for side, name in ((own, ""), (other, str(other["variant"]))):
            if side["status"] != Status.OK:
                return without_speedup(side["status"], side["reason"], name, claim)
        if self.same_program and claim is not None:  # without a claim, the pair measures how much equal programs differ
            return _same_program(str(other["variant"]), claim)
        if blocks == 0:
            why = spoilt or "the two sides share no block with a valid sample"
            return without_speedup(Status.OK, why, "", claim)
        return None

    def judge(self, speedup: Interval, device: Mapping[str, Any], circumstances: Circumstances) -> Judgement:
        """The answer of a speed-up.

        Args:
            speedup: speed-up with its interval.
            device: its row of the table `devices`.
            circumstances: further facts about the samples.
        """
        judged = answer.judge(speedup, self.claim, circumstances, self.band, self.least(device))
        for side, name in ((self.case, "the variant"), (self.baseline, "the baseline")):
            if side.get("doubt"):
                judged = _doubted(judged, f"{Reason.UNRECORDED}: {name}: {side['doubt']}")
        own, other = (lanes(side) for side in (self.case, self.baseline))
        if own and other and own != other:
            judged = replace(judged, reason=f"{judged.reason}; kernels of {own} lanes against {other}")
        return self._if_asked(judged)


def _doubted(judged: Judgement, why: str) -> Judgement:
    """The judgement of times that are in doubt."""
    answered = Answer.NO_CLAIM if judged.answer == Answer.NO_CLAIM else Answer.UNDECIDED
    return Judgement(Outcome.INCONCLUSIVE, answered, Reason.UNRECORDED, f"{why} ({judged.reason})")


def judge_end(status: str, why: str | None, claim: Claim) -> Judgement:
    """The answer to a claim that a variant computes a wrong result, is refused, or fails."""
    if status == Status.OK:
        by_chance = claim.word == MAY_BE_WRONG
        told = Answer.UNDECIDED if by_chance else Answer.NO_EFFECT
        right = "it computes the right result here" + (", as a data race may" if by_chance else "")
        return Judgement(Outcome.NONE, told, Reason.MEASURED, right)
    happened = _end(status, why)
    if claim.expects(status, why):
        return Judgement(Outcome.NONE, Answer.HOLDS, status, happened)
    if status in NEVER_RUN:
        return Judgement(Outcome.NONE, Answer.SKIPPED, status, happened)
    expected = f"; claimed with {claim.kind!r}" if claim.kind else ""
    return Judgement(Outcome.NONE, Answer.UNDECIDED, status, happened + expected)


def judge_accuracy(error_ulp: float | None, other_ulp: float | None, against: str, claim: Claim) -> Judgement:
    """The answer to a claim that a variant's largest error is smaller than another's.

    Args:
        error_ulp: error of the variant, in units in the last place; None if unknown.
        other_ulp: error of the other variant, in the same units.
        against: name of the other variant.
        claim: the claim to answer.
    """
    if error_ulp is None or other_ulp is None:
        why = f"{Reason.NO_ERRORS}: an error needs finite results and a reference in higher precision"
        return Judgement(Outcome.NONE, Answer.UNDECIDED, Reason.NO_ERRORS, why)
    found = f"errs by {error_ulp:.3g} ulp, {against} by {other_ulp:.3g} ulp"
    if error_ulp > other_ulp:
        told = Answer.INVERTS
    else:
        told = Answer.HOLDS if error_ulp < other_ulp >= claim.at_least * error_ulp else Answer.NO_EFFECT
    return Judgement(Outcome.NONE, told, Reason.MEASURED, found)


def _same_program(against: str, claim: Claim) -> Judgement:
    """The answer for two variants that are the same program: there is nothing to measure.

    Args:
        against: name of the other side.
        claim: claim of time, which holds if it is ``same``.
    """
    why = f"the same program as {against}: machine code, sizes, arguments, queues and waits are equal"
    told = Answer.HOLDS if claim.word == Outcome.SAME else Answer.SAME_PROGRAM
    return Judgement(Outcome.NONE, told, Reason.SAME_PROGRAM, why)


def without_speedup(status: str, why: str | None, baseline: str, claim: Claim | None) -> Judgement:
    """The answer for a pair with a side that is not ok.

    Args:
        status: Status of that side's case; ok when both ran, but no sample can be used.
        why: Its reason.
        baseline: The name of the other side where the status is its own; "" for the variant itself.
        claim: See `xebench.results.analysis.answer.judge`.
    """
    code = Reason.NO_SAMPLE if status == Status.OK else Reason.BASELINE if baseline else status
    word = STATUS_WORDS.get(status, status)
    reason = f"baseline {baseline} {word}" + (f": {why}" if why else "") if baseline else _end(status, why)
    if status in NEVER_RUN:
        answer = Answer.SKIPPED
    else:
        answer = Answer.NO_CLAIM if claim is None else Answer.UNDECIDED
    return Judgement(Outcome.NONE, answer, code, reason)


def _end(status: str, why: str | None) -> str:
    """The status and reason of a side; for a skipped one only the reason, as the answer has the rest."""
    word = Reason.NO_SAMPLE if status == Status.OK else STATUS_WORDS.get(status, status)
    return str(word) if not why else why if status == Status.SKIPPED else f"{word}: {why}"


def lanes(case: Row) -> str:
    """The widths for which a GPU's driver compiled a case's kernels, such as ``16`` or ``16 and 32``; "" if unknown."""
    if case.get("device_class") != DeviceClass.GPU:
        return ""
    widths = [kernel.get("max_sub_group_size") for kernel in json.loads(case.get("kernels") or "[]")]
    return "" if None in widths else " and ".join(map(str, sorted(set(widths))))


def pairs_of_family(members: Sequence[Row]) -> Iterator[Pair]:
    """All comparisons of a family; none without a naive, baseline or antipattern variant.

    The one without a claim comes first: with the variant that the case names, else with the baseline, where nothing is
    claimed against it. What is claimed of generated code has none.

    Args:
        members: its rows of the table `cases`.
    """
    baseline = find_baseline(members, role=lambda case: str(case["role"]))
    if baseline is None:
        return
    by_name = {case["variant"]: case for case in members}
    for case in members:
        claims = [claim for claim in from_json(case["claims"]) if not claim.of_code]
        if case is not baseline and not any(_is_answered_by(claim, baseline) for claim in claims):
            yield Pair(by_name.get(case.get("against"), baseline), case, None)
        for claim in claims:
            against = by_name.get(claim.against or baseline["variant"])
            if against is not None:  # else a run of this variant alone
                yield Pair(against, case, claim)


def _is_answered_by(claim: Claim, baseline: Row) -> bool:
    """True if the answer to a claim shows how a variant compares with the baseline."""
    return claim.of_end or (not claim.of_accuracy and claim.against in ("", baseline["variant"]))


def in_brief(answer: str, code: str, reason: str, *, word: str | None, baseline: str) -> str:
    """A short reason why there is no answer or speed-up, else "". For a skipped variant, the whole reason.

    Args:
        answer, code, reason: fields of a `Judgement` or of a row of table ``pairs``.
        word: the claim's word; None without a claim.
        baseline: the name of the other side.
    """
    if (word, answer) in _SENTENCES:
        return _SENTENCES[word, answer]
    if answer in (Answer.SKIPPED, Answer.NOT_ASKED, Answer.SAME_PROGRAM):
        return reason
    if code == Reason.MEASURED and word in (*ACCURACY_CLAIMS, MAY_BE_WRONG):
        return reason
    if code == Reason.MEASURED:
        # a claim of "same" with its own `within`
        return "the interval is too wide" if answer == Answer.UNDECIDED else ""
    if code == Reason.BASELINE:
        return f"no result of {baseline}"
    return STATUS_WORDS.get(code, code)
