"""Counts of claims: each is counted once, whatever number of points it was asked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from xebench.report.remarks import came_out_right, classes, is_foreign
from xebench.results.analysis.compare import DECIDED
from xebench.vocabulary import Answer, DeviceClass, Strength

HOLDS, SOMEWHERE, NOWHERE, RACE = "hold", "hold at some points", "do not hold", "are data races that came out right"
UNDECIDED, SKIPPED, NOT_ASKED = "are undecided", "were skipped", "are not asked of this device"

#: The fates of claims in the order in which sentences name them, each with its words for one claim.
_ONE: Final[Mapping[str, str]] = {
    HOLDS: "holds",
    SOMEWHERE: "holds at some points",
    NOWHERE: "does not hold",
    UNDECIDED: "is undecided",
    SKIPPED: "was skipped",
    NOT_ASKED: "is not asked of this device",
    RACE: "is a data race that came out right",
}

#: Columns of the table ``pairs`` that tell one claim from another; the points at which it is asked do not.
_CLAIM: Final = (
    *("pattern", "variant", "baseline", "state"),
    *("claim", "at_least", "guide_source", "strength", "claimed_for"),
)


def fate(pairs: Sequence[Mapping[Any, Any]]) -> str:
    """The fate of one claim over all of its points.

    Args:
        pairs: rows of table ``pairs`` with this claim, one for each point.
    """
    held = [pair["answer"] == Answer.HOLDS for pair in pairs if pair["answer"] in DECIDED]
    if held:
        return HOLDS if all(held) else SOMEWHERE if any(held) else NOWHERE
    if all(came_out_right(pair["claim"], pair["answer"]) for pair in pairs):
        return RACE
    answers = {pair["answer"] for pair in pairs}
    return UNDECIDED if Answer.UNDECIDED in answers else SKIPPED if Answer.SKIPPED in answers else NOT_ASKED


def claim_sentences(pairs: Iterable[Mapping[Any, Any]]) -> list[str]:
    """The number of claims with each fate, a sentence a kind of claim.

    What the guide states for this kind of device comes first, then what follows from it, the claims for other kinds of
    device, and ours.
    """
    asked: dict[tuple[Any, ...], list[Mapping[Any, Any]]] = {}
    for pair in pairs:
        if not pd.isna(pair["claim"]):
            asked.setdefault(tuple(str(pair[name]) for name in _CLAIM), []).append(pair)
    kinds: dict[tuple[int, str], Counter[str]] = {}
    for group in asked.values():
        kinds.setdefault(_kind(group[0]), Counter())[fate(group)] += 1
    return [_sentence(words, kinds[place, words]) for place, words in sorted(kinds, key=lambda kind: kind[0])]


def _kind(pair: Mapping[Any, Any]) -> tuple[int, str]:
    """The place of a claim's sentence among the others, and what it says of how many."""
    if pair["strength"] == Strength.OURS:
        return 3, "we make {count} {claims} of our own"
    if is_foreign(pair):
        here = "CPU device" if pair["device_class"] == DeviceClass.CPU else "GPU"
        whom = classes(pair["claimed_for"])
        return 2, f"the guide makes {{count}} {{claims}} for {whom}, which say nothing of a {here}"
    if pair["strength"] == Strength.IMPLIED:
        return 1, "{count} {claims} more {follow} from what it says"
    return 0, "the guide states {count} {claims}"


def _sentence(kind: str, counts: Counter[str]) -> str:
    total = counts.total()
    what = kind.format(
        count=total, claims="claim" if total == 1 else "claims", follow="follows" if total == 1 else "follow"
    )
    told = ", ".join(f"{count} {_ONE[name] if count == 1 else name}" for name in _ONE if (count := counts[name]))
    return f"{what[0].upper()}{what[1:]}: {told}."
