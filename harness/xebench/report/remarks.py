"""Remarks beside numbers: on an answer, in a few words with its sign; on a whole run, in sentences and short lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

import pandas as pd

from xebench.errors import some_of
from xebench.records import points
from xebench.records.claim import from_json, is_expected
from xebench.records.device_facts import ROOF_DOUBT, noise_floor
from xebench.results import Run
from xebench.results.analysis.answer import FEW
from xebench.results.analysis.judge import in_brief
from xebench.results.analysis.summaries import counting_samples
from xebench.vocabulary import (
    ACCURACY_CLAIMS,
    END_CLAIMS,
    JUDGED,
    MAY_BE_WRONG,
    NEVER_RUN,
    REMEDIES,
    Answer,
    DeviceClass,
    Outcome,
    Status,
    Strength,
)

#: Signs before rows. The sign carries the answer; colours only help.
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
    of = ("stand-in" if is_stand_in(pair) else "", "edited since" if is_edited(pair) else "")
    said = obstacle(pair), f"guide {guide}" if guide else "", *_claimed(pair), too_short(pair), *of
    return tuple(filter(None, said))


def is_stand_in(pair: Mapping[Any, Any]) -> bool:
    """True if a claim of the guide is made of a pattern that stands in for the guide's."""
    return _is(pair["stand_in"]) and not pd.isna(pair["claim"]) and pair["strength"] != Strength.OURS


def is_edited(pair: Mapping[Any, Any]) -> bool:
    """True if the program was edited since: the run has later results of its pattern."""
    return _is(pair["edited"])


def _is(value: Any) -> bool:
    """A boolean of a table, which is null in runs of earlier versions."""
    return not pd.isna(value) and bool(value)


def too_short(pair: Mapping[Any, Any]) -> str:
    """A remark that the size is too small to measure on this device, as the guide's own may be on a large one."""
    times = pair["times_empty_kernel"]
    return "" if pd.isna(times) or times >= FEW else f"only {times:.2g} empty kernels long"


def came_out_right(claim: Any, answer: Any) -> bool:
    """True of a data race with a right result, which says nothing about its claim."""
    return bool(answer == Answer.UNDECIDED and claim == MAY_BE_WRONG)


def is_barely(pair: Mapping[Any, Any]) -> bool:
    """True if a claim holds by less than the noise."""
    return _is(pair["barely"])


def obstacle(pair: Mapping[Any, Any]) -> str:
    """The reason why there is no answer, or no speed-up; ``barely`` if a claim holds by less than the noise."""
    if is_barely(pair):
        return "barely"
    code = "" if pd.isna(pair["reason_code"]) else pair["reason_code"]
    word = None if pd.isna(pair["claim"]) else pair["claim"]
    return in_brief(pair["answer"], code, pair["reason"], word=word, baseline=pair["baseline"])


def sentence(pair: Mapping[Any, Any]) -> str:
    """The claim, if it is decided, and what the answer rests on."""
    return f"{_claim_words(pair)}; {pair['reason']}" if pair["answer"] in JUDGED else str(pair["reason"])


def _claimed(pair: Mapping[Any, Any]) -> tuple[str, ...]:
    """The claim if the sign does not show it, and its devices if this is none of them."""
    if pd.isna(pair["claim"]):
        return ()
    expected = pair["claim"] == Outcome.FASTER and pair["answer"] in (Answer.HOLDS, Answer.UNDECIDED, Answer.SKIPPED)
    shown = expected or pair["claim"] in (*END_CLAIMS, *ACCURACY_CLAIMS)
    whom = f"claimed for {classes(pair['claimed_for'])}" if is_foreign(pair) else ""
    return "" if shown else _claim_words(pair), whom


def _claim_words(pair: Mapping[Any, Any]) -> str:
    least = "" if pd.isna(pair["at_least"]) else f" by at least {float(pair['at_least']):g} times"
    return f"claimed {pair['claim']}{least}"


#: Share of samples from which the short report mentions a flag.
MANY: Final = 0.1


def failures(run: Run, *, whole: bool = False) -> list[tuple[str, str, str]]:
    """Cases that have no result, and that no claim says must fail: key, status and reason.

    Those that an unfinished run lacks are one entry a reason.

    Args:
        run: the run.
        whole: True for the whole text of an error instead of its first line.
    """
    without = pd.concat([run.failed_cases, _never_run(run), _interrupted(run)]).sort_index()
    unfinished = without["status"] == Status.INTERRUPTED
    reason = without["error_text"].fillna(without["reason"]) if whole else without["reason"]
    named = list(zip(*(column[~unfinished] for column in (without["case_id"], without["status"], reason)), strict=True))
    return named + _unmeasured(run)


def _never_run(run: Run) -> pd.DataFrame:
    cases = run.cases[run.cases["status"].isin(NEVER_RUN)]
    expected = [
        is_expected(row["status"], row["reason"], from_json(None if pd.isna(row["claims"]) else row["claims"]))
        for row in cases.to_dict("records")
    ]
    return cases[[not each for each in expected]]


def _interrupted(run: Run) -> pd.DataFrame:
    return run.cases[run.cases["status"] == Status.INTERRUPTED]


def _unmeasured(run: Run) -> list[tuple[str, str, str]]:
    counts = _interrupted(run)["reason"].value_counts(sort=False)
    return [(f"{count} cases", "interrupted", str(reason)) for reason, count in counts.items()]


def above_roofs_line(run: Run) -> str:
    """A line that doubts the roofs which cases exceed by more than 2 %; empty if there are none."""
    above = run.summaries[(run.summaries["roof_fraction"] > ROOF_DOUBT).fillna(False)]
    if above.empty:
        return ""
    # runs of earlier versions have only the memory level
    reasons = above["roof_note"].fillna("faster than the memory: its data came from a cache")
    return f"* above 100 %: {'; '.join(f'{count} {reason}' for reason, count in reasons.value_counts().items())}"


def disturbed_line(run: Run) -> str:
    """The roofs that were measured while others used the machine, in one line; empty if none was."""
    names = _by_host(run, lambda device: device["roofs_disturbed"])
    if not names:
        return ""
    return (
        f"roofs were measured on a busy machine and may be too low: {names}; 'xebench roofline --refresh' on a quiet "
        "one measures them for later runs"
    )


def lacking_line(run: Run) -> str:
    """The roofs that could not be measured, with the reasons, in one line; empty if all were."""
    reasons = _by_host(run, lambda device: str(device["roofs_from"]).partition("; ")[2])
    return f"unknown roofs: {reasons}" if reasons else ""


def noise_line(run: Run) -> str:
    """The instrument's own error in this run, in one line; empty if it was not measured."""
    error = _by_host(run, lambda device: noise_floor({str(k): v for k, v in device.items()}))
    return f"noise floor: {error}" if error else ""


def _by_host(run: Run, words: Callable[[dict[Any, Any]], Any]) -> str:
    """Remarks on each device, with its host if there is one to name; empty without any."""
    said = [(device["host"], words(device)) for device in run.devices.to_dict("records")]
    known = [(host, what) for host, what in said if not pd.isna(what) and what]
    return "; ".join(what if pd.isna(host) else f"{host}: {what}" for host, what in known)


def compilers_line(run: Run) -> str:
    """The compilers of the Python kernels, in one line; empty without any, or if an earlier run lacks them."""
    made = [f"{count} by {compiler}" for compiler, count in run.compilers.items()]
    return f"compiled kernels: {'; '.join(made)}" if made else ""


#: Part of the core time of a run that others had from which the machine is called busy.
BUSY: Final = 0.1


def busy_words(run: Run) -> str:
    """That others had much of the cores' time that the run wanted; "" if they had little, or it is unknown."""
    waited = run.part("samples", ["waited"])["waited"].mean()
    return "" if pd.isna(waited) or waited < BUSY else f"busy machine: others had {100 * waited:.0f} % of its core time"


def flag_line(run: Run) -> str:
    """The number of samples with each flag, in one line; empty if there are none."""
    samples = _marks(run)
    flags = _flags(samples)
    shown = [f"{count} {flag}" for flag, count in flags.items()]
    if unchecked := int((~samples["checked"]).sum()):
        shown.append(f"{unchecked} that no check followed")
    if not shown:
        return ""
    unused = int((~counting_samples(samples)).sum())
    remedies = "".join(f"; {flag}: {remedy}" for flag, remedy in REMEDIES.items() if flag in flags)
    return f"flags: {', '.join(shown)}; of {len(samples)} samples {unused} are not used{remedies}"


def _marks(run: Run) -> pd.DataFrame:
    """The columns of a long run's samples that reports use."""
    return run.part("samples", ("sample_flags", "valid", "checked"))


def _flags(samples: pd.DataFrame) -> Counter[str]:
    """The number of samples with each flag, the most frequent first; few combinations stand in many rows."""
    found: Counter[str] = Counter()
    for together, count in samples["sample_flags"].value_counts().items():
        found.update(dict.fromkeys(filter(None, str(together).split(",")), int(count)))
    return Counter(dict(found.most_common()))


def instance_line(run: Run) -> str:
    """Whose intervals lack the differences between instances, in one line; empty when none does."""
    with_interval, alone = _of_one_instance(run)
    if not alone:
        return ""
    which = "the intervals" if alone == with_interval else f"{alone} of {with_interval} intervals"
    return (
        f"{which} are of one instance, and as wide as instances usually differ, by where their arrays and code lie in "
        "memory: they decide nothing; --instances 6 narrows them"
    )


def _of_one_instance(run: Run) -> tuple[int, int]:
    """The number of pairs with an interval, and of those with one of a single instance."""
    with_interval = run.pairs[run.pairs["speedup_low"].notna()]
    return len(with_interval), int((with_interval["instances"].fillna(1) == 1).sum())  # older runs knew no instances


def edited_line(run: Run) -> str:
    """The pairs of programs that were edited since, which are not counted; empty if there are none."""
    edited = run.pairs[[_is(value) for value in run.pairs["edited"]]]
    if edited.empty:
        return ""
    rows = "row is of a program that was" if len(edited) == 1 else "rows are of programs that were"
    return f"{len(edited)} {rows} edited since, and not counted: {', '.join(edited['pattern'].unique())}"


def fixed_cost_line(run: Run) -> str:
    """The number of speed-ups of kernels hardly longer than an empty one, in one line; empty if there are none."""
    short = _short(run)
    if not short:
        return ""
    which = f"{short} of {len(run.pairs)} speed-ups {'is' if short == 1 else 'are'}"
    return (
        f"fixed cost: {which} of device times less than {FEW:g} times an empty kernel's, so that what every launch "
        "costs draws them towards 1; a larger preset shows more"
    )


def _short(run: Run) -> int:
    return int((run.pairs["times_empty_kernel"] < FEW).sum())


def notes(run: Run) -> list[str]:
    """Notes on the whole run, a line each: its noise, its compilers, and the remarks."""
    return [*filter(None, [noise_line(run), compilers_line(run)]), *remarks(run)]


def brief_remarks(run: Run) -> list[str]:
    """The remarks and the failed cases that bear on the answers, in a few words each."""
    failed = [
        f"{row['pattern']}/{row['variant']}{point_words(row)}: {row['status']}: {row['reason']}"
        for row in run.failed_cases.to_dict("records")
    ]
    unmeasured = [f"{cases} were not measured: {reason}" for cases, _, reason in _unmeasured(run)]
    return [*failed, *unmeasured, *(line for _, brief in OF_RUN if brief is not None for line in _lines(brief(run)))]


def point_words(case: Mapping[Any, Any]) -> str:
    """The point of a case on its axes, as `` [k=1]``; "" without any."""
    words = points.words(points.point(case))
    return f" [{words}]" if words else ""


def _many_flags(run: Run) -> list[str]:
    """The state of the machine where it was another in many samples; and samples that do not count."""
    samples = _marks(run)
    if samples.empty:
        return []
    parts = {flag: count / len(samples) for flag, count in _flags(samples).items()}
    lines = [
        f"{flag} in {100 * parts[flag]:.0f} % of the samples: {remedy}"
        for flag, remedy in REMEDIES.items()
        if parts.get(flag, 0) >= MANY
    ]
    unused = float((~counting_samples(samples)).mean())
    if unused >= MANY:
        lines.append(f"{100 * unused:.0f} % of the samples are not used: --verbose shows why")
    return lines


def _one_instance(run: Run) -> str:
    with_interval, alone = _of_one_instance(run)
    which = "" if alone == with_interval else f" in {alone} of {with_interval} pairs"
    return f"one instance{which} decides nothing: use --instances 6, or --preset default" if alone else ""


def _fixed_cost(run: Run) -> str:
    short = _short(run)
    return f"fixed cost draws {short} of {len(run.pairs)} speed-ups towards 1: take a larger preset" if short else ""


def untried_line(run: Run) -> str:
    """The patterns that were tried at no odd size, though none was excluded, in one line; empty if there are none."""
    cases = run.part("cases", ("pattern", "odd_size")).dropna()
    right = cases[~cases["odd_size"].str.startswith("not tried")]["pattern"]
    untried = [pattern for pattern in cases["pattern"].unique() if pattern not in set(right)]
    if not untried:
        return ""
    count = cases["pattern"].nunique()
    return f"{len(untried)} of {count} patterns could not run at odd sizes, and need odd_sizes=: {some_of(untried)}"


#: The rules for remarks on a run, in the order in which reports show them: in full, and in a few words where they bear
#: on the answers.
OF_RUN: Final[tuple[tuple[Callable[[Run], str], Callable[[Run], str | list[str]] | None], ...]] = (
    (above_roofs_line, None),
    (lacking_line, None),
    (disturbed_line, None),
    (flag_line, _many_flags),
    (instance_line, _one_instance),
    (edited_line, edited_line),
    (fixed_cost_line, _fixed_cost),
    (untried_line, untried_line),
)


def remarks(run: Run) -> list[str]:
    """Remarks on a run's results, a line each."""
    return [text for line, _ in OF_RUN if (text := line(run))]


def _lines(said: str | list[str]) -> list[str]:
    return [said] if isinstance(said, str) and said else list(said)
