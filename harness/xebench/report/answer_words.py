"""The words around an answer: its sign, what is to be said beside it, and the guide's figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from xebench.tables.analysis.answer import FEW
from xebench.tables.analysis.claim import Judgement, in_brief
from xebench.vocabulary import ACCURACY_CLAIMS, END_CLAIMS, MAY_BE_WRONG, Answer, DeviceClass, Outcome

#: What stands before a row. The sign carries the answer; colours only help.
SIGNS: Final[Mapping[str, str]] = {
    Answer.HOLDS: "✓",
    Answer.INVERTS: "✗",
    Answer.NO_EFFECT: "=",
    Answer.SAME_PROGRAM: "≡",
    Answer.UNDECIDED: "?",
    Answer.NO_CLAIM: "·",
    Answer.SKIPPED: "-",
    Answer.NOT_ASKED: "/",
}

_CLASSES: Final[Mapping[str, str]] = {DeviceClass.GPU: "GPUs", DeviceClass.CPU: "CPUs"}


def classes(claimed_for: Any) -> str:
    """Classes of devices as people say them: ``GPUs``; "" for all."""
    return "" if pd.isna(claimed_for) else " and ".join(_CLASSES.get(name, name) for name in claimed_for.split(","))


def is_foreign(pair: Mapping[Any, Any]) -> bool:
    """True if the claim is not made for the device's class."""
    return not pd.isna(pair["claimed_for"]) and pair["device_class"] not in pair["claimed_for"].split(",")


def guide_words(pair: Mapping[Any, Any], *, with_source: bool) -> str:
    """The guide's figure: ``2.9x on Max 1550 (G 4530)``; "" if it gives none."""
    figure = ""
    if not pd.isna(pair["guide_speedup"]):
        where = "" if pd.isna(pair["guide_device"]) else f" on {pair['guide_device']}"
        figure = f"{float(pair['guide_speedup']):.3g}x{where}"
    if not with_source or pd.isna(pair["guide_source"]):
        return figure
    return f"{figure} ({pair['guide_source']})" if figure else str(pair["guide_source"])


def asides(pair: Mapping[Any, Any]) -> tuple[str, ...]:
    """Remarks beside the sign, in a few words each; the whole reason is in the table ``pairs``."""
    guide = guide_words(pair, with_source=False)
    return tuple(filter(None, [obstacle(pair), f"guide {guide}" if guide else "", _claimed(pair), too_short(pair)]))


def too_short(pair: Mapping[Any, Any]) -> str:
    """That the size is too small to measure on this device, as the guide's own may be on a large one."""
    times = pair["times_empty_kernel"]
    return "" if pd.isna(times) or times >= FEW else f"only {times:.2g} empty kernels long"


def came_out_right(claim: Any, answer: Any) -> bool:
    """True of a data race with a right result, which says nothing about its claim."""
    return bool(answer == Answer.UNDECIDED and claim == MAY_BE_WRONG)


def obstacle(pair: Mapping[Any, Any]) -> str:
    """Why there is no answer, or why there is no speed-up."""
    code = "" if pd.isna(pair["reason_code"]) else pair["reason_code"]
    judged = Judgement(pair["outcome"], pair["answer"], code, pair["reason"])
    return in_brief(judged, None if pd.isna(pair["claim"]) else pair["claim"], pair["baseline"])


def sentence(pair: Mapping[Any, Any]) -> str:
    """The claim, if it is decided, and what the answer rests on."""
    decided = pair["answer"] in (Answer.HOLDS, Answer.INVERTS, Answer.NO_EFFECT)
    return f"{_claim_words(pair)}; {pair['reason']}" if decided else str(pair["reason"])


def _claimed(pair: Mapping[Any, Any]) -> str:
    """The claim if the sign does not show it, and its devices if this is none of them."""
    if pd.isna(pair["claim"]):
        return ""
    whom = f" for {classes(pair['claimed_for'])}" if is_foreign(pair) else ""
    expected = pair["claim"] == Outcome.FASTER and pair["answer"] in (Answer.HOLDS, Answer.UNDECIDED, Answer.SKIPPED)
    if expected or pair["claim"] in (*END_CLAIMS, *ACCURACY_CLAIMS):
        return f"claimed{whom}" if whom else ""
    return f"{_claim_words(pair)}{whom}"


def _claim_words(pair: Mapping[Any, Any]) -> str:
    least = "" if pd.isna(pair["at_least"]) else f" by at least {float(pair['at_least']):g} times"
    return f"claimed {pair['claim']}{least}"
