"""Advice on a run beside its answers: the undecided claims, the gain in all, and the next steps."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from xebench.report import units
from xebench.report.answer_words import obstacle
from xebench.report.result_rows import claimant, number, text
from xebench.tables import Run
from xebench.tables.analysis.rows import Row
from xebench.vocabulary import RUN_BUDGET, Answer, Outcome, Reason

#: How many reasons, and names of patterns, a sentence gives.
NAMED: Final = 3

#: Why an answer is missing that a longer or a calmer run may give.
_WORTH_TIME: Final = (Reason.NOISE, Reason.BUDGET, Reason.FEW_BLOCKS, Reason.DRIFT, Reason.MEASURED)


def untold(pairs: Sequence[Mapping[Any, Any]]) -> str:
    """The claims without an answer, by their reasons, the most frequent first; "" if all have one."""
    parts = []
    for answer in (Answer.UNDECIDED, Answer.SKIPPED):
        reasons = Counter(_why(pair) for pair in pairs if pair["answer"] == answer and text(pair["claim"]))
        if reasons:
            named = [f"{count} {reason}" for reason, count in reasons.most_common(NAMED)]
            rest = reasons.total() - sum(count for _, count in reasons.most_common(NAMED))
            parts.append(f"{reasons.total()} {answer} ({'; '.join([*named, *([f'{rest} others'] if rest else [])])})")
    return f"Not told: {', '.join(parts)}." if parts else ""


def _why(pair: Mapping[Any, Any]) -> str:
    """A reason without what is a device's or a machine's own, so that equal ones count together."""
    return obstacle(pair).partition(", the device is ")[0]


def gains(pairs: Iterable[Mapping[Any, Any]]) -> dict[str, tuple[float, int]]:
    """The geometric mean of the speed-ups that the guide promises, by chapter, and of how many patterns it is.

    A pattern counts once, by the geometric mean of its own, so that a sweep of many points weighs no more.
    """
    logs: dict[str, dict[str, list[float]]] = {}
    for pair in pairs:
        speedup = number(pair["speedup"])
        if speedup and text(pair["claim"]) == Outcome.FASTER and claimant(pair) != "ours":
            logs.setdefault(text(pair["chapter"]), {}).setdefault(pair["pattern"], []).append(math.log(speedup))
    return {chapter: _mean(by_pattern.values()) for chapter, by_pattern in logs.items()}


def gain(pairs: Sequence[Mapping[Any, Any]]) -> str:
    """The same of all chapters together, in a sentence; "" of a run of few patterns."""
    together = gains([{**pair, "chapter": ""} for pair in pairs])
    mean, patterns = together.get("", (1.0, 0))
    if patterns <= NAMED:
        return ""
    return f"{mean_words(mean, patterns)[0].upper()}{mean_words(mean, patterns)[1:]}."


def mean_words(mean: float, patterns: int) -> str:
    """``what the guide calls faster: 1.23x, the geometric mean of 4 patterns``."""
    of = f", the geometric mean of {patterns} patterns" if patterns > 1 else " (1 pattern)"
    return f"what the guide calls faster: {units.ratio(mean)}{of}"


def _mean(by_pattern: Iterable[Sequence[float]]) -> tuple[float, int]:
    each = [sum(logs) / len(logs) for logs in by_pattern]
    return math.exp(sum(each) / len(each)), len(each)


def compiling(summaries: Iterable[Row]) -> str:
    """The time of compiling kernels, and the case that took longest; "" of a run that compiled none."""
    known = {row["case_id"]: (float(row["compile_ns"]), row) for row in summaries if row["compile_ns"]}
    if not known:
        return ""
    longest_ns, longest = max(known.values(), key=lambda found: found[0])
    total = units.duration(sum(ns for ns, _ in known.values()))
    return (
        f"Compiling took {total} for {len(known)} case{'s' if len(known) > 1 else ''}, at most "
        f"{units.duration(longest_ns)} ({longest['pattern']}/{longest['variant']})."
    )


def next_steps(run: Run, pairs: Sequence[Mapping[Any, Any]], hurts: Sequence[Mapping[Any, Any]]) -> Iterator[str]:
    """The next steps, a command each with its purpose.

    Args:
        run: whose commands.
        pairs: its pairs.
        hurts: of these, the advice that hurts most, the worst first.
    """
    if hurts:
        yield f"xebench show {hurts[0]['pattern']}: why its advice hurts: both programs side by side"
    undecided = [pair for pair in pairs if pair["answer"] == Answer.UNDECIDED and text(pair["claim"])]
    open_still = list(dict.fromkeys(p["pattern"] for p in undecided if text(p["reason_code"]) in _WORTH_TIME))
    if run.manifest.get("ended_by") == RUN_BUDGET and not run.manifest.get("packed"):
        yield (
            f"xebench run --resume {run.path}: more time narrows the intervals; on the machine of the run, with its "
            "device and driver"
        )
    elif open_still:
        several = f" {' '.join(open_still[:NAMED])}" + (" ..." if len(open_still) > NAMED else "")
        yield f"xebench run{several} --precision 0.005 --budget 2m: may decide what is undecided"
    if run.pairs["pattern"].nunique() > NAMED:
        yield f"xebench report {run.path} --format html --output report.html: all of it as one page"
