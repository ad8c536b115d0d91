"""A run in two sentences: where and how long it was measured, and what became of the claims."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from xebench.report import units
from xebench.report.answer_words import SIGNS
from xebench.report.result_rows import claimant, claims_for_others, number, sorted_pairs, text
from xebench.tables import Run
from xebench.vocabulary import RUN_BUDGET, Answer, DeviceClass, Outcome

#: Between a sign or a unit and its number, so that no line ends between them.
NBSP: Final = "\N{NO-BREAK SPACE}"

#: What is said of one claim, and of more.
_VERBS: Final[Mapping[str, tuple[str, str]]] = {
    Answer.HOLDS: ("holds", "hold"),
    Answer.INVERTS: ("inverts", "invert"),
    Answer.NO_EFFECT: ("has no effect", "have no effect"),
    Answer.SAME_PROGRAM: ("is of the same program", "are of the same program"),
    Answer.UNDECIDED: ("is undecided", "are undecided"),
    Answer.SKIPPED: ("was skipped", "were skipped"),
    Answer.NOT_ASKED: ("is not asked", "are not asked"),
}

#: How many lessons the first screen names, of those that help and of those that hurt; and the patterns of a run that is
#: seen at a glance without that.
NAMED: Final = 3

#: How claims are told apart: who makes them; runs of earlier versions do not say.
_OWNERS: Final[Mapping[str, str]] = {"guide": "the guide's {}", "": "{}", "ours": "our {}"}


def headline(run: Run) -> str:
    """The device, how much was measured on it, on which stack if not the pinned one, for how long, and the noise."""
    count = run.cases["pattern"].nunique()
    patterns = f"{count} pattern{'' if count == 1 else 's'}"
    presets = sorted({text(preset) for preset in run.cases["preset"]})
    stack = "" if run.stack == "pinned" else f"{run.stack} stack"
    parts = [f"{patterns} ({', '.join(presets)})" if presets else patterns, stack, _duration(run), _noise(run)]
    return " · ".join([_device(run), *(part.replace(" ", NBSP) for part in parts if part)])


def state(run: Run) -> str:
    """Whether the run is over, and what ended it if that is no fault: ``ended by its run budget``."""
    return f"ended by its {RUN_BUDGET}" if run.manifest.get("ended_by") == RUN_BUDGET else str(run.manifest["state"])


def _device(run: Run) -> str:
    if run.devices.empty:
        return "no device was recorded"
    hosts: dict[str, list[str]] = {}
    for device in run.devices.to_dict("records"):
        kind = "CPU device" if device["device_class"] == DeviceClass.CPU else "GPU"
        hosts.setdefault(f"{device['name']}, {kind}", []).append(text(device["host"]))
    return " and ".join(what + _on_hosts(filter(None, own)) for what, own in hosts.items())


def _on_hosts(names: Iterable[str]) -> str:
    """Where a device is, in a run over several hosts: `` on node1, node2``."""
    hosts = ", ".join(sorted(set(names)))
    return f" on {hosts}" if hosts else ""


def _duration(run: Run) -> str:
    """How long the run took; "" of one that is not over, or that had pauses."""
    begun, ended = run.manifest.get("created"), run.manifest.get("finished")
    if not begun or not ended or run.manifest.get("resumed"):
        return ""
    took = datetime.fromisoformat(ended) - datetime.fromisoformat(begun)
    return units.long_time(took.total_seconds())


def _noise(run: Run) -> str:
    """How far a kernel was from itself: ``noise below 0.1 %``, rounded up."""
    ends = [number(end) for name in ("aa_low", "aa_high") for end in run.devices[name]]
    off = max((100 * abs(end - 1) for end in ends if end is not None), default=0.0)
    if not off:
        return ""
    unit = 10.0 ** math.floor(math.log10(off))
    return f"noise below {math.ceil(off / unit) * unit:.3g} %"


def visits_line(run: Run) -> str:
    """What the seconds of all visits went into, the largest part first; "" of runs that do not say."""
    by_family = run.cases.dropna(subset=["visit_seconds"]).drop_duplicates("family_id")["visit_seconds"]
    seconds = sum((Counter(json.loads(each)) for each in by_family), Counter[str]())
    total = sum(seconds.values())
    if total <= 0:
        return ""
    large = [(part, value / total) for part, value in seconds.most_common() if value >= 0.001 * total]
    parts = (f"{part} {units.percent(fraction)}" for part, fraction in large)
    return f"visits took {units.long_time(total)}: {', '.join(parts)}"


def highlights(run: Run) -> list[str]:
    """Which of the guide's advice helps most here, and which hurts most: a sentence each, none in a short run.

    What is surely gained counts, the lower end of the interval; a pattern is named once.
    """
    if run.cases["pattern"].nunique() <= NAMED:
        return []
    decided = [
        pair
        for pair in sorted_pairs(run)
        if text(pair["claim"]) == Outcome.FASTER and claimant(pair) == "guide" and number(pair["speedup_low"])
    ]
    helps = sorted(decided, key=lambda pair: -pair["speedup_low"])
    hurts = sorted(decided, key=lambda pair: pair["speedup_high"])
    told = (("Helps most", helps, Answer.HOLDS), ("Hurts most", hurts, Answer.INVERTS))
    return [
        f"{words}: {', '.join(named)}."
        for words, pairs, answer in told
        if (named := _named([pair for pair in pairs if pair["answer"] == answer]))
    ]


def _named(pairs: Sequence[dict[Any, Any]]) -> list[str]:
    by_pattern: dict[str, dict[Any, Any]] = {}
    for pair in pairs:
        by_pattern.setdefault(pair["pattern"], pair)
    return [
        f"{name}/{pair['variant']}{NBSP}{units.ratio(pair['speedup'], pair['speedup_low'], pair['speedup_high'])}"
        for name, pair in [*by_pattern.items()][:NAMED]
    ]


def answer_sentence(run: Run) -> str:
    """How many claims got each answer, with its sign; the guide's and ours told apart."""
    return answers_in_words(sorted_pairs(run))


def answers_in_words(pairs: Sequence[dict[Any, Any]]) -> str:
    """Likewise, of rows of the table ``pairs``."""
    claimed = [pair for pair in pairs if text(pair["claim"])]
    parts = [*_of_claims(claimed), *_without_claim([pair for pair in pairs if not text(pair["claim"])])]
    if not parts:
        return "Nothing was compared."
    sentence = "; ".join(parts)
    others = claims_for_others(claimed)
    verb = "is" if others == 1 else "are"
    where = f" {others} of the claims {verb} made for another kind of device." if others else ""
    return f"{sentence[0].upper()}{sentence[1:]}.{where}"


def _of_claims(pairs: Sequence[dict[Any, Any]]) -> Iterator[str]:
    for owner, words in _OWNERS.items():
        answers = Counter(pair["answer"] for pair in pairs if claimant(pair) == owner)
        if total := sum(answers.values()):
            counts = ", ".join(
                f"{SIGNS[answer]}{NBSP}{count} {_VERBS[answer][count > 1]}"
                for answer in _VERBS
                if (count := answers[answer])
            )
            yield f"of {words.format(total)} claim{'' if total == 1 else 's'} {counts}"


def _without_claim(pairs: Sequence[dict[Any, Any]]) -> Iterator[str]:
    answers = Counter(pair["answer"] for pair in pairs)
    if count := answers[Answer.NO_CLAIM]:
        yield f"{SIGNS[Answer.NO_CLAIM]}{NBSP}{count} {'pair has' if count == 1 else 'pairs have'} no claim"
    if count := answers[Answer.SKIPPED]:
        yield f"{SIGNS[Answer.SKIPPED]}{NBSP}{count} without a claim {_VERBS[Answer.SKIPPED][count > 1]}"
