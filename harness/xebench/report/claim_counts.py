"""Counts of claims: each is counted once, whatever number of points it was asked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from xebench.report.remarks import came_out_right, classes, is_barely, is_edited, is_foreign, is_stand_in
from xebench.results.analysis.compare import DECIDED
from xebench.vocabulary import Answer, DeviceClass, Strength

HOLDS, BARELY, SOMEWHERE, NOWHERE = "hold", "barely hold", "hold at some points", "do not hold"
RACE = "are data races that came out right"
UNDECIDED, SKIPPED, NOT_ASKED = "are undecided", "were skipped", "are not asked of this device"

#: The fates of claims in the order in which sentences name them, each with its words for one claim.
_ONE: Final[Mapping[str, str]] = {
    HOLDS: "holds",
    BARELY: "barely holds",
    SOMEWHERE: "holds at some points",
    NOWHERE: "does not hold",
    UNDECIDED: "is undecided",
    SKIPPED: "was skipped",
    NOT_ASKED: "is not asked of this device",
    RACE: "is a data race that came out right",
}

#: Columns of the table ``pairs`` that tell one claim from another; the points at which it is asked do not.
CLAIM: Final = (
    *("pattern", "variant", "baseline", "state"),
    *("claim", "at_least", "guide_source", "strength", "claimed_for"),
)

#: What the guide does, by the strength of a claim; for one claim and for several.
_GUIDE: Final[Mapping[str, tuple[str, str]]] = {
    Strength.FIGURE: ("the guide gives a figure for {} claim", "the guide gives figures for {} claims"),
    Strength.STATED: ("the guide states {} claim", "the guide states {} claims"),
    Strength.IMPLIED: ("{} claim follows from what the guide says", "{} claims follow from what the guide says"),
}
_STAND_INS: Final = (
    "{} claim is of a stand-in, which does not answer for the guide",
    "{} claims are of stand-ins, which do not answer for the guide",
)
_OTHERS: Final = ("{} claim is not the guide's", "{} claims are not the guide's")

#: Fates without an answer, which verdicts put together.
_OPEN: Final = (UNDECIDED, SKIPPED, NOT_ASKED, RACE)
_NO_ANSWER: Final = "have no answer"

#: Subjects of verdicts by the place of `_kind`, for one claim and for several; the last is beside the guide's claims.
_SUBJECTS: Final = (
    ("the guide's claim", "the guide's {} claims"),
    ("the guide's claim for {1}, which says nothing of {2},", "the guide's {} claims for {}, which say nothing of {}"),
    ("the claim of a stand-in, which does not answer for the guide,", "{} claims of stand-ins"),
    ("the claim", "{} claims"),
    ("the other claim", "{} other claims"),
)

#: Words of verdicts, for one claim and for several.
_IN_SHORT: Final[Mapping[str, tuple[str, str]]] = {
    HOLDS: ("holds", "hold"),
    BARELY: ("barely holds", "barely hold"),
    SOMEWHERE: ("holds at some points", "hold at some points"),
    NOWHERE: ("does not", "do not"),
    _NO_ANSWER: ("has no answer", "have no answer"),
}


def fate(pairs: Sequence[Mapping[Any, Any]]) -> str:
    """The fate of one claim over all of its points.

    Args:
        pairs: rows of table ``pairs`` with this claim, one for each point.
    """
    decided = [pair for pair in pairs if pair["answer"] in DECIDED]
    held = [pair for pair in decided if pair["answer"] == Answer.HOLDS]
    if decided:
        everywhere = BARELY if all(map(is_barely, held)) else HOLDS
        return everywhere if len(held) == len(decided) else SOMEWHERE if held else NOWHERE
    if all(came_out_right(pair["claim"], pair["answer"]) for pair in pairs):
        return RACE
    answers = {pair["answer"] for pair in pairs}
    return UNDECIDED if Answer.UNDECIDED in answers else SKIPPED if Answer.SKIPPED in answers else NOT_ASKED


def claim_sentences(pairs: Iterable[Mapping[Any, Any]]) -> list[str]:
    """The number of claims with each fate, a sentence a kind of claim; without programs that were edited since.

    What the guide says of this kind of device comes first, then what it says of others, stand-ins, and other claims.
    """
    kinds = _counted(pairs)
    told = sorted(kinds)
    first = {kind[0]: kind for kind in reversed(told)}
    return [_sentence(kind, kinds[kind], first=first[kind[0]] == kind) for kind in told]


def verdicts(pairs: Iterable[Mapping[Any, Any]]) -> list[str]:
    """The same in short, a sentence for whom claims are of: the first is the verdict on a run."""
    by_whom: dict[tuple[int, str, str], Counter[str]] = {}
    for (whom, _), counts in sorted(_counted(pairs).items()):
        by_whom.setdefault(whom, Counter()).update(counts)
    return [_verdict(whom, counts, alone=len(by_whom) == 1) for whom, counts in by_whom.items()]


def _verdict(about: tuple[int, str, str], counts: Counter[str], *, alone: bool) -> str:
    """``Of the guide's 59 claims: 35 hold, 5 do not hold, 19 have no answer.``.

    Args:
        about: whom the claims are of, see `_kind`.
        counts: number of claims with each fate.
        alone: True if there are no others.
    """
    place, whom, here = about
    total = counts.total()
    subject = _SUBJECTS[place + (place == 3 and not alone)][total != 1].format(total, whom, here)
    if total == 1:
        return f"{subject[0].upper()}{subject[1:]} {_ONE[next(iter(+counts))]}."
    counts = Counter({**counts, _NO_ANSWER: sum(counts[name] for name in _OPEN)})
    told = [f"{counts[name]} {words[counts[name] > 1]}" for name, words in _IN_SHORT.items() if counts[name]]
    return f"Of {subject}: {', '.join(told)}."


def _counted(pairs: Iterable[Mapping[Any, Any]]) -> dict[_Kind, Counter[str]]:
    """The number of claims with each fate, by their kind."""
    asked: dict[tuple[Any, ...], list[Mapping[Any, Any]]] = {}
    for pair in pairs:
        if not pd.isna(pair["claim"]) and not is_edited(pair):
            asked.setdefault(tuple(str(pair[name]) for name in CLAIM), []).append(pair)
    kinds: dict[_Kind, Counter[str]] = {}
    for group in asked.values():
        kinds.setdefault(_kind(group[0]), Counter())[fate(group)] += 1
    return kinds


#: Whom claims are of, and their strength; each with its place among the sentences.
_Kind = tuple[tuple[int, str, str], tuple[int, str]]


def _kind(pair: Mapping[Any, Any]) -> _Kind:
    strength = Strength.STATED if pd.isna(pair["strength"]) else Strength(pair["strength"])
    if strength == Strength.OURS:
        return (3, "", ""), (0, strength)
    if is_stand_in(pair):
        return (2, "", ""), (0, "")
    here = "a CPU device" if pair["device_class"] == DeviceClass.CPU else "a GPU"
    whom = (1, classes(pair["claimed_for"]), here) if is_foreign(pair) else (0, "", "")
    return whom, (list(Strength).index(strength), strength)


def _sentence(kind: _Kind, counts: Counter[str], *, first: bool) -> str:
    """``For GPUs, which say nothing of a CPU device, the guide states 67 claims: 40 hold, 27 do not hold.``.

    Args:
        kind: kind of the claims.
        counts: number of claims with each fate.
        first: True for the first sentence about these devices.
    """
    (place, whom, here), (_, strength) = kind
    total = counts.total()
    words = (_OTHERS if place == 3 else _STAND_INS if place == 2 else _GUIDE[strength])[total != 1].format(total)
    aside = f", which say nothing of {here}," if first else ""
    what = f"for {whom}{aside} {words}" if whom else words
    told = ", ".join(f"{count} {_ONE[name] if count == 1 else name}" for name in _ONE if (count := counts[name]))
    return f"{what[0].upper()}{what[1:]}: {told}."
