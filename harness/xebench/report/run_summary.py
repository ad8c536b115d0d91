"""A run in short: where it was measured, what became of the claims, what helps or hurts most and why, the next step."""

from __future__ import annotations

import json
import math
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from math import prod
from typing import Any, Final, NamedTuple

from xebench.records.points import Row, rows
from xebench.report import units
from xebench.report.claim_counts import claim_sentences, verdicts
from xebench.report.remarks import (
    busy_words,
    came_out_right,
    classes,
    failures,
    guide_words,
    is_edited,
    is_foreign,
    obstacle,
    too_short,
)
from xebench.report.result_rows import ResultRow, claimant, number, sorted_pairs, text
from xebench.results import Run
from xebench.results.analysis.noise import noise_of
from xebench.vocabulary import RUN_BUDGET, Answer, DeviceClass, Outcome, Reason, Status, Strength

#: Suffix of the name of a variant's twin in OpenCL C (docs/adding-a-pattern.md).
_IN_OPENCL: Final = "_in_opencl"

#: Speed-up of an OpenCL C twin over the Python kernel below which both share the cause of a slow result.
_AS_SLOW: Final = 1.1


def causes(pairs: Sequence[Mapping[Any, Any]], pair: Mapping[Any, Any], kernels: Mapping[str, Any]) -> str:
    """The measured causes why a variant is slower than its baseline, in a few words each; "" if there are none.

    Args:
        pairs: all pairs of the run, with those of OpenCL C twins.
        pair: pair of the variant.
        kernels: column `kernels` of table `cases`, by case id.
    """
    facts = [f"claimed for {classes(pair['claimed_for'])}"] if is_foreign(pair) else []
    facts += _differences(*(kernels.get(pair[side]) for side in ("baseline_case_id", "case_id")))
    if reached := number(pair["roof_fraction"]):
        facts.append(f"it reaches {units.percent(reached)} of the roof {pair['nearest_roof']}")
    facts += filter(None, [too_short(pair), _of_twin(pairs, pair)])
    return "; ".join(facts)


def _of_twin(pairs: Sequence[Mapping[Any, Any]], pair: Mapping[Any, Any]) -> str:
    """The result of the same kernel in OpenCL C, in a few words."""
    twin = (pair["family_id"], pair["state"], pair["variant"], pair["variant"] + _IN_OPENCL)
    for other in pairs:
        if (other["family_id"], other["state"], other["baseline"], other["variant"]) == twin:
            faster = number(other["speedup"])
            if faster:
                return "as slow in OpenCL C" if faster < _AS_SLOW else f"{units.ratio(faster)} in OpenCL C"
    return ""


def _differences(baseline: Any, variant: Any) -> list[str]:
    """The differences between the launches of two programs: ``SLM 2K instead of 0``."""
    before, after = (_launches(json.loads(each) if isinstance(each, str) else []) for each in (baseline, variant))
    differing = [name for name in after if name in before and before[name] != after[name]]
    return [f"{name} {after[name]} instead of {before[name]}" for name in differing]


def _launches(kernels: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The shape of a program: how many kernels, and of the one with most work-items its launch."""
    sized = [kernel for kernel in kernels if kernel.get("global_size")]
    if not sized:
        return {}
    largest = max(sized, key=lambda kernel: prod(kernel["global_size"]))
    shape = {
        "kernels": len(kernels),
        "work-items": prod(largest["global_size"]),
        "work-group": prod(largest["local_size"]) if largest.get("local_size") else None,
        "SLM": units.binary_size(largest.get("local_bytes", 0)),
        "sub-group": largest.get("max_sub_group_size"),
    }
    return {name: value for name, value in shape.items() if value is not None}


#: Non-breaking space between a number and its sign or unit.
NBSP: Final = "\N{NO-BREAK SPACE}"

#: Lessons that the first screen names, of those that help and of those that hurt.
NAMED: Final = 10


def headline(run: Run) -> str:
    """The device, how much was measured on it, on which stack if not the pinned one, for how long, and the noise.

    Where others had much of its cores the noise is that the machine was busy.
    """
    count = run.cases["pattern"].nunique()
    patterns = f"{count} pattern{'' if count == 1 else 's'}"
    presets = sorted({text(preset) for preset in run.cases["preset"]})
    stack = "" if run.stack == "pinned" else f"{run.stack} stack"
    measured = f"{patterns} ({', '.join(presets)})" if presets else patterns
    parts = [measured, stack, _duration(run), busy_words(run), _noise(run)]
    return " · ".join([_device(run), *(part.replace(" ", NBSP) for part in parts if part)])


def state(run: Run) -> str:
    """The state of the run, or ``ended by its run budget``."""
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
    """The hosts of a device in a run over several hosts: `` on node1, node2``."""
    hosts = ", ".join(sorted(set(names)))
    return f" on {hosts}" if hosts else ""


def _duration(run: Run) -> str:
    """The duration of the run; "" if it is not over, or had pauses."""
    begun, ended = run.manifest.get("created"), run.manifest.get("finished")
    if not begun or not ended or run.manifest.get("resumed"):
        return ""
    took = datetime.fromisoformat(ended) - datetime.fromisoformat(begun)
    return units.long_time(took.total_seconds())


def _noise(run: Run) -> str:
    """The noise of the run's own samples: ``noise 3 %``."""
    noise = noise_of(
        run.part("pairs", ["speedup_low", "speedup_high"]).astype(float).itertuples(index=False, name=None)
    )
    return f"noise {100 * noise:.3g} %" if noise else ""


def rounds_line(run: Run) -> str:
    """The parts of all rounds in seconds, the largest first; "" for runs that do not record them."""
    by_family = run.cases.dropna(subset=["round_seconds"]).drop_duplicates("family_id")["round_seconds"]
    seconds = sum((Counter(json.loads(each)) for each in by_family), Counter[str]())
    total = sum(seconds.values())
    if total <= 0:
        return ""
    large = [(part, value / total) for part, value in seconds.most_common() if value >= 0.001 * total]
    parts = (f"{part} {units.percent(fraction)}" for part, fraction in large)
    return f"rounds took {units.long_time(total)}: {', '.join(parts)}"


class Highlight(NamedTuple):
    """The statements of the first screen.

    Attributes:
        sentence: summary in one sentence.
        rows: patterns in the summary, each with the text after its name.
    """

    sentence: str
    rows: Sequence[tuple[str, str]] = ()


def highlights(run: Run) -> list[Highlight]:
    """The guide's advice that helps most here, and that hurts most, with what is measured of the causes; undecided
    claims; the gain in all; the time of compiling kernels. For a short run the last one only.

    What is surely gained counts, the lower end of the interval; a pattern is named once.
    """
    pairs = sorted_pairs(run)
    told: list[Highlight] = []
    if not is_small(run):
        hurts = sorted(hurting(pairs)[:NAMED], key=_slowness, reverse=True)
        kernels = dict(run.part("cases", ["case_id", "kernels"]).itertuples(index=False, name=None)) if hurts else {}
        why = {pair["case_id"]: causes(pairs, pair, kernels) for pair in hurts}
        cause = ", and why, as far as is measured" if any(why.values()) else ""
        told += [
            Highlight("Helps most:", [_named(pair) for pair in sorted(helping(pairs)[:NAMED], key=_slowness)]),
            Highlight(f"Hurts most{cause}:", [_named(pair, why[pair["case_id"]]) for pair in hurts]),
        ]
        told = [highlight for highlight in told if highlight.rows]
        told += [Highlight(sentence) for sentence in (untold(pairs), gain(pairs)) if sentence]
    compiled = compiling(rows(run.part("summaries", ["case_id", "pattern", "variant", "compile_ns"])))
    return [*told, Highlight(compiled)] if compiled else told


def is_small(run: Run) -> bool:
    """True for a run of few patterns: its rows are seen at a glance, without what helps or hurts most."""
    return run.cases["pattern"].nunique() <= REASONS_NAMED


def helping(pairs: Iterable[dict[Any, Any]]) -> list[dict[Any, Any]]:
    """The pair that gains most of each pattern whose advice surely helps, the best first."""
    return _by_pattern(sorted(_decided(pairs, Answer.HOLDS), key=lambda pair: -pair["speedup_low"]))


def hurting(pairs: Iterable[dict[Any, Any]]) -> list[dict[Any, Any]]:
    """The pair that loses most of each pattern whose advice surely hurts, the worst first."""
    return _by_pattern(sorted(_decided(pairs, Answer.INVERTS), key=lambda pair: pair["speedup_high"]))


def next_steps(run: Run) -> list[tuple[str, str]]:
    """The next steps: a command, and its purpose."""
    pairs = sorted_pairs(run)
    return list(_steps_of(run, pairs, hurting(pairs)))


def _decided(pairs: Iterable[dict[Any, Any]], answer: Answer) -> Iterator[dict[Any, Any]]:
    for pair in pairs:
        guides = text(pair["claim"]) == Outcome.FASTER and claimant(pair) == "guide" and not is_edited(pair)
        if guides and pair["answer"] == answer and number(pair["speedup_low"]):
            yield pair


def _slowness(pair: Mapping[Any, Any]) -> float:
    return -float(pair["speedup"])


def _by_pattern(pairs: Iterable[dict[Any, Any]]) -> list[dict[Any, Any]]:
    first: dict[str, dict[Any, Any]] = {}
    for pair in pairs:
        first.setdefault(pair["pattern"], pair)
    return [*first.values()]


def _named(pair: dict[Any, Any], why: str = "") -> tuple[str, str]:
    speedup = units.ratio(pair["speedup"], pair["speedup_low"], pair["speedup_high"])
    guide = guide_words(pair, with_source=False)
    told = f"/{pair['variant']}{NBSP}{speedup}" + (f" (guide {guide})" if guide else "")
    return pair["pattern"], ": ".join(filter(None, (told, why.replace(" %", f"{NBSP}%"))))


def answer_sentences(run: Run) -> list[str]:
    """The verdict, a sentence on the claims of each source, then the cases that failed."""
    told = verdicts(sorted_pairs(run))
    told = told or [*_alone(run)] or ["No claim was tested." if len(run.pairs) else "Nothing was compared."]
    statuses = (str(status) for _, status, _ in failures(run))
    if failed := Counter(status for status in statuses if status not in {Status.INTERRUPTED, Status.SKIPPED}):
        parts = ", ".join(f"{count} {status}" for status, count in failed.most_common())
        told.append(f"{failed.total()} {'case' if failed.total() == 1 else 'cases'} failed: {parts}.")
    return told


def counted_answers(run: Run) -> list[str]:
    """The number of claims with each answer, a sentence a kind of claim; and of pairs without one."""
    pairs = sorted_pairs(run)
    unclaimed = sum(not text(pair["claim"]) and not is_edited(pair) for pair in pairs)
    none = f"{unclaimed} {'pair has' if unclaimed == 1 else 'pairs have'} no claim."
    return [*claim_sentences(pairs), *([none] if unclaimed else [])]


def _alone(run: Run) -> Iterator[str]:
    """The times of programs that are compared with nothing, a sentence each."""
    for row in rows(run.part("summaries", ["pattern", "variant", "median_ns", "low_ns", "high_ns"])):
        if row["median_ns"]:
            ends = f" ({units.duration(row['low_ns'])} to {units.duration(row['high_ns'])})" if row["low_ns"] else ""
            yield f"{row['pattern']}/{row['variant']} takes {units.duration(row['median_ns'])}{ends}."


def in_a_sentence(family: Sequence[ResultRow]) -> str:
    """The best variant of a family: ``tiles is 1.96 times as fast as plain (1.90 to 2.01).``.

    Args:
        family: its rows; the first is the baseline's.

    Returns:
        "" where nothing is compared with the baseline.
    """
    compared = [row for row in family if not row.against and row.ends[1] is not None]
    sure = [(row, *row.ends) for row in compared if _is_sure(row)]
    if not sure:
        return f"No variant is surely faster or slower than {family[0].variant}." if compared else ""
    row, speedup, low, high = max(sure, key=lambda found: found[1] or 0.0)
    assert speedup and low and high
    if speedup < 1:
        speedup, low, high = 1 / speedup, 1 / high, 1 / low
        slower = f"{row.variant} takes {_times(speedup, low, high)} as long ({_range(low, high)})."
        return f"{row.baseline} is the fastest: {slower}" if len(sure) == len(compared) else slower
    return f"{row.variant} is {_times(speedup, low, high)} as fast as {row.baseline} ({_range(low, high)})."


def _is_sure(row: ResultRow) -> bool:
    speedup, low, high = row.ends
    # of one instance a claim's answer knows what it decides; without a claim nobody does
    decided = row.answer != Answer.UNDECIDED if row.claim else row.pair.get("instances") != 1
    return bool(decided and speedup and low and high and (low > 1 or high < 1))


def _times(speedup: float, low: float, high: float) -> str:
    return f"{units.ratio(speedup, low, high).removesuffix('x')} times"


def _range(low: float, high: float) -> str:
    return units.interval(low, high).replace(" - ", " to ")


#: Most reasons, and names of patterns, in one sentence.
REASONS_NAMED: Final = 3

#: Options of a run that say what is measured, and where; each has a value.
_REPEATED: Final = ("--preset", "--set", "--device", "--metric", "--state")

#: Reasons of missing answers that a longer or quieter run may give.
_WORTH_TIME: Final = (
    Reason.NOISE,
    Reason.ONE_INSTANCE,
    Reason.BUDGET,
    Reason.FEW_BLOCKS,
    Reason.DRIFT,
    Reason.MEASURED,
)


def untold(pairs: Sequence[Mapping[Any, Any]]) -> str:
    """The claims without an answer, by their reasons, the most frequent first; "" if all have one."""
    parts = []
    for answer in (Answer.UNDECIDED, Answer.SKIPPED):
        asked = [pair for pair in pairs if text(pair["claim"]) and not is_edited(pair)]
        asked = [pair for pair in asked if not came_out_right(pair["claim"], pair["answer"])]
        reasons = Counter(_why(pair) for pair in asked if pair["answer"] == answer)
        if reasons:
            named = [f"{count} x {reason}" for reason, count in reasons.most_common(REASONS_NAMED)]
            rest = reasons.total() - sum(count for _, count in reasons.most_common(REASONS_NAMED))
            parts.append(f"{reasons.total()} {answer} ({'; '.join([*named, *([f'{rest} others'] if rest else [])])})")
    return f"Without an answer: {', '.join(parts)}." if parts else ""


def _why(pair: Mapping[Any, Any]) -> str:
    """A reason without what is a device's or a machine's own, so that equal ones count together."""
    return obstacle(pair).partition(", the device is ")[0]


def gains(pairs: Iterable[Mapping[Any, Any]]) -> dict[str, tuple[float, int]]:
    """The geometric mean of the speed-ups that the guide promises, by chapter, and of how many patterns it is.

    It is of figures and stated claims that speak of this kind of device. A pattern counts once, by the geometric mean
    of its own, so that a sweep of many points weighs no more.
    """
    logs: dict[str, dict[str, list[float]]] = {}
    for pair in pairs:
        speedup = number(pair["speedup"])
        said = claimant(pair) == "guide" and pair["strength"] != Strength.IMPLIED
        if speedup and said and text(pair["claim"]) == Outcome.FASTER and not (is_foreign(pair) or is_edited(pair)):
            logs.setdefault(text(pair["chapter"]), {}).setdefault(pair["pattern"], []).append(math.log(speedup))
    return {chapter: _mean(by_pattern.values()) for chapter, by_pattern in logs.items()}


def gain(pairs: Sequence[Mapping[Any, Any]]) -> str:
    """The same of all chapters together, in a sentence; "" of a run of few patterns."""
    together = gains([{**pair, "chapter": ""} for pair in pairs])
    mean, patterns = together.get("", (1.0, 0))
    if patterns <= REASONS_NAMED:
        return ""
    words = mean_words(mean, patterns)
    return f"{words[0].upper()}{words[1:]} with figures or statements for this device."


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


def _steps_of(
    run: Run, pairs: Sequence[Mapping[Any, Any]], hurts: Sequence[Mapping[Any, Any]]
) -> Iterator[tuple[str, str]]:
    """The next steps, a command each with its purpose.

    Args:
        run: run that the commands refer to.
        pairs: its pairs.
        hurts: pairs in which the advice hurts most, the worst first.
    """
    if hurts:
        worst = hurts[0]
        command = " ".join(["xebench show", worst["pattern"], worst["variant"], *_files(run)])
        yield command, f"what hurts most, beside {worst['baseline']}"
    undecided = [p for p in pairs if p["answer"] == Answer.UNDECIDED and text(p["claim"]) and not is_edited(p)]
    open_still = list(dict.fromkeys(p["pattern"] for p in undecided if text(p["reason_code"]) in _WORTH_TIME))
    if run.manifest.get("ended_by") == RUN_BUDGET and not run.manifest.get("packed"):
        purpose = "more time narrows the intervals; on the machine of the run, with its device and driver"
        yield f"xebench run --resume {run.path}", purpose
    elif open_still:
        named = open_still[:REASONS_NAMED]
        more = len(open_still) - len(named)
        rest = f" ({more} more pattern{'' if more == 1 else 's'} likewise)" if more else ""
        yield f"{_again(run, named)} --precision 0.005 --budget 2m", f"may decide what is undecided{rest}"
    if run.pairs["pattern"].nunique() > REASONS_NAMED:
        pattern = hurts[0]["pattern"] if hurts else pairs[0]["pattern"]
        yield f"xebench report {run.path} {pattern}", "the rows of a pattern; with --verbose those of all"
        yield f"xebench report {run.path} --format html -o report.html", "all of it as one page"


def _again(run: Run, patterns: Sequence[str]) -> str:
    """The command of the run for some of its patterns: the same files, preset, device and values."""
    words = [*map(str, run.manifest.get("command", ())), ""]
    kept = _files(run)
    for word, value in pairwise(words):
        name, given, _ = word.partition("=")
        if name in _REPEATED:
            kept += map(shlex.quote, [word] if given else [word, value])
    return " ".join(["xebench run", *patterns, *kept])


def _files(run: Run) -> list[str]:
    """The options that name the user's own pattern files."""
    return [f"--path {shlex.quote(path)}" for path in run.manifest.get("request", {}).get("paths", ())]
