"""Every claim with its source, and what the reference runs answer: a page of the site.

``python -m tools.pages.claims`` prints it.

People write `data/claim_notes.toml`: sentences on claims that invert or have no effect, where the cause is known. The
command names on standard error those that are about no claim. `data/guide_defects.toml` has the guide's own defects.
"""

from __future__ import annotations

import json
import math
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Final

import msgspec

from tools.pages import generated_code
from xebench.isa.table import describe_sides
from xebench.patterns.conditions import mark_not_asked
from xebench.patterns.declaration import PatternInfo
from xebench.patterns.registry import discover
from xebench.records import points
from xebench.records.claim import Claim, applying, columns, to_json
from xebench.records.points import Row, by_device, device_key, rows
from xebench.report import claims_text, units
from xebench.report.page import code
from xebench.report.remarks import came_out_right
from xebench.report.table_forms import fill, table
from xebench.results import Run, load_run
from xebench.results.analysis.pairs import pairs
from xebench.vocabulary import ANSWERED, STATES_ASKED, Answer, DeviceClass

#: Folder of the reference runs.
RESULTS: Final = Path(__file__).resolve().parents[2] / "results"


@dataclass(frozen=True)
class Said:
    """A claim with the variant and the pattern that it is made of."""

    pattern: str
    variant: str
    claim: Claim

    @property
    def key(self) -> str:
        """``pattern/variant/against``: what sentences of the page are found by."""
        return f"{self.pattern}/{self.variant}/{self.claim.against}"


@dataclass(frozen=True)
class Found:
    """The answer to a claim at one point of a run.

    Attributes:
        answer: a word of `xebench.vocabulary.Answer`.
        reason: what it rests on.
        speedup: None where there is none.
        low, high: ends of its 95 % interval; None where there is none.
        point: parameters that are swept or not the preset's own, and the state of the caches.
        older: whether the pattern's file, or what it imports, has changed since.
    """

    answer: str
    reason: str
    speedup: float | None
    point: Mapping[str, Any]
    older: bool = False
    low: float | None = None
    high: float | None = None


def all_said(infos: Iterable[PatternInfo]) -> list[Said]:
    """Every claim of every pattern."""
    return [
        Said(info.name, variant.name, claim) for info in infos for variant in info.variants for claim in variant.claims
    ]


def reference_runs(folder: Path = RESULTS) -> dict[str, Run]:
    """The runs that are kept, by the name of their folder, CPU devices first; not those of earlier programs, which are
    a folder deeper.
    """
    found = [path.parent for path in sorted(folder.glob("*/manifest.json"))]
    runs = {path.name: load_run(path) for path in found}
    return dict(sorted(runs.items(), key=lambda item: class_of(item[1]) != DeviceClass.CPU))


def class_of(run: Run) -> str:
    """The class of a run's device."""
    return str(run.devices["device_class"].iloc[0])


def answers(claims: Iterable[Said], run: Run, infos: Sequence[PatternInfo]) -> list[list[Found]]:
    """The answers of a run to each of some claims; none where it cannot answer.

    A run answers what is claimed of a variant when it has the pattern with this metric, state of the caches, and axes
    and sizes of these names, and both variants; at its own sizes, whatever those of the presets are today.

    Args:
        claims: claims of these patterns.
        run: run of these programs.
        infos: the patterns of today.
    """
    cases, used = rows(run.cases), by_device(run.devices)
    variants = {(info.name, variant.name): (info, variant) for info in infos for variant in info.variants}
    asked_of_cases, roles = [], []
    for case in cases:
        info, variant = variants.get((case["pattern"], case["variant"]), (None, None))
        asked: list[Claim] = []
        if info and variant and _is_as_today(case, info):
            applied = mark_not_asked(
                applying(variant.claims, case["device_class"], _values(case)), used[device_key(case)]
            )
            asked = [claim for claim in applied if not claim.of_code]
        asked_of_cases.append(to_json(asked))
        roles.append(variant.role if variant else case["role"])
    table = pairs(run.cases.assign(claims=asked_of_cases, role=roles), run.samples, run.devices, ())
    states = {info.name: STATES_ASKED[info.state] for info in infos}
    measured = [row for row in table if row["state"] is None or row["state"] in states.get(row["pattern"], ())]
    older = _older(cases, infos)
    return [[_found(row, row["pattern"] in older) for row in measured if _answers(row, said)] for said in claims]


def _older(cases: Iterable[Row], infos: Iterable[PatternInfo]) -> set[str]:
    """Patterns that a run has measured of another text than today's."""
    today = {info.name: info.source_sha256 for info in infos if info.source_sha256}
    return {
        case["pattern"] for case in cases if today.get(case["pattern"], case["source_sha256"]) != case["source_sha256"]
    }


def is_asked(said: Said, every: Iterable[Said], device_class: str) -> bool:
    """True if a claim applies to a class of devices at any point: not if another of the variant is made for it."""
    own = [other.claim for other in every if (other.pattern, other.variant) == (said.pattern, said.variant)]
    anywhere = [msgspec.structs.replace(claim, where={}) for claim in own]
    return msgspec.structs.replace(said.claim, where={}) in applying(anywhere, device_class, {})


def _is_as_today(case: Row, info: PatternInfo) -> bool:
    """True if pattern and case have the same metric and parameters of the same names."""
    own = info.presets.get(case["preset"])
    return own is not None and case["metric"] == info.metric and set(_values(case)) == {*own, *info.axes}


def _values(row: Row) -> dict[str, Any]:
    return points.parse(row["parameters"])


def _answers(row: Row, said: Said) -> bool:
    """True if a row of the table `pairs` answers a claim."""
    claim = said.claim
    told = {"pattern": said.pattern, "variant": said.variant, "baseline": claim.against, **columns(claim)}
    return all(row[name] == value for name, value in told.items()) and claim.is_said_at(_values(row))


def _found(row: Row, older: bool) -> Found:
    point = {**points.point(row), "state": row["state"]}
    speedup, low, high = (_number(row[name]) for name in ("speedup", "speedup_low", "speedup_high"))
    return Found(str(row["answer"]), row["reason"], speedup, point, older, low, high)


def _number(value: Any) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


def varying(found: Sequence[Found]) -> Iterator[str]:
    """Names of what is not the same at all points."""
    for name in dict.fromkeys(name for each in found for name in each.point):
        if len({str(each.point.get(name)) for each in found}) > 1:
            yield name


NOT_MEASURED: Final = "not in that run"
NOT_ASKED: Final = "not asked"
OLDER: Final = "older program"
RIGHT_BY_CHANCE: Final = "right by chance"

#: Answers that a sentence is asked for.
EXPLAINED: Final = (Answer.INVERTS, Answer.NO_EFFECT)

_SHOWN: Final = (*ANSWERED, Answer.SKIPPED)
_COUNTED: Final = ("asked", *_SHOWN, RIGHT_BY_CHANCE, OLDER, NOT_ASKED, NOT_MEASURED)


def data(name: str) -> dict[str, Any]:
    """A file of `data`, written by people."""
    return tomllib.loads(resources.files(__package__).joinpath(f"data/{name}.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Answered:
    """All claims, and what the runs answer.

    Attributes:
        infos: the patterns.
        runs: runs by their folder.
        notes: the content of `data/claim_notes.toml`.
    """

    infos: Sequence[PatternInfo]
    runs: Mapping[str, Run]
    notes: Mapping[str, Any]

    @cached_property
    def said(self) -> list[Said]:
        """The claims that samples can answer."""
        return [said for said in all_said(self.infos) if not said.claim.of_code]

    @cached_property
    def found(self) -> dict[str, list[list[Found]]]:
        """The answers to each of `said`, for each run."""
        return {name: answers(self.said, run, self.infos) for name, run in self.runs.items()}

    def without(self, name: str, n: int) -> str:
        """The reason why a run does not answer a claim."""
        return NOT_MEASURED if is_asked(self.said[n], self.said, class_of(self.runs[name])) else NOT_ASKED

    def explained(self, name: str) -> set[str]:
        """Keys of the claims that invert or have no effect in a run."""
        return {
            said.key
            for said, found in zip(self.said, self.found[name], strict=True)
            if any(each.answer in EXPLAINED for each in found)
        }

    def runs_of_sentence(self, key: str) -> list[str]:
        """The runs that a sentence is of: why a CPU device answers so says nothing of a GPU that does, too."""
        names = [name for name in self.runs if key in self.explained(name)]
        return [name for name in names if class_of(self.runs[name]) == DeviceClass.CPU] or names

    def owner(self, said: Said) -> str:
        """The source of a claim, as the summary counts them."""
        if said.claim.is_ours:
            return "ours"
        return "of stand-ins" if said.pattern in self._stand_ins else "the guide's"

    @cached_property
    def _stand_ins(self) -> set[str]:
        return {info.name for info in self.infos if info.stand_in}

    @property
    def stale(self) -> list[str]:
        """Keys of sentences on what is not claimed."""
        return sorted(set(self.notes["sentences"]) - {said.key for said in self.said})


def markdown(answered: Answered, defects: Sequence[Mapping[str, str]]) -> str:
    """The page."""
    of_chapter = {info.name: info.chapter for info in answered.infos}
    chapters = sorted({of_chapter[said.pattern] for said in answered.said})
    return (
        fill(
            "tools.pages",
            "claims.md.j2",
            runs=answered.runs,
            not_measured=NOT_MEASURED,
            not_asked=NOT_ASKED,
            older=OLDER,
            summary=_summary(answered),
            chapters={chapter: _chapter(answered, of_chapter, chapter) for chapter in chapters},
            code=_code(all_said(answered.infos), code.read()),
            defects=table(("where", "what is wrong", "what is done here"), map(_defect, defects)),
        ).rstrip("\n")
        + "\n"
    )


def _summary(answered: Answered) -> list[str]:
    lines = []
    for name in answered.runs:
        for who in ("the guide's", "of stand-ins", "ours"):
            own = [n for n, said in enumerate(answered.said) if answered.owner(said) == who]
            counts = Counter(_counted(answered.said[n], each) for n in own for each in answered.found[name][n])
            counts += Counter(answered.without(name, n) for n in own if not answered.found[name][n])
            counts["asked"] = sum(counts[word] for word in (*_SHOWN, RIGHT_BY_CHANCE))
            counts[OLDER] = sum(each.older for n in own for each in answered.found[name][n] if each.answer in _SHOWN)
            lines.append((f"`{name}`", who, *(counts[word] for word in _COUNTED)))
    headings = ("run", "claims", *_COUNTED)
    return table(headings, lines, right=range(2, len(headings)))


def _counted(said: Said, found: Found) -> str:
    return RIGHT_BY_CHANCE if came_out_right(said.claim.word, found.answer) else found.answer


def _chapter(answered: Answered, of_chapter: Mapping[str, str], chapter: str) -> dict[str, list[str]]:
    numbers = [n for n, said in enumerate(answered.said) if of_chapter[said.pattern] == chapter]
    headings = ("pattern", "claim", *(f"`{name}`" for name in answered.runs), *SOURCE)
    lines = [
        told(
            answered.said[n],
            [cell(answered.found[name][n]) or answered.without(name, n) for name in answered.runs],
            first=n == numbers[0] or answered.said[n - 1].pattern != answered.said[n].pattern,
        )
        for n in numbers
    ]
    return {"table": table(headings, lines), "notes": list(_notes(answered, numbers))}


#: Headings of the last columns that `told` gives.
SOURCE: Final = ("figure", "strength", "source")


def told(said: Said, answers: Iterable[str], *, first: bool = True) -> tuple[str, ...]:
    """A claim in words: the pattern where it is the first of one, what is said, its answers, and its source."""
    claim, figure = said.claim, said.claim.figure
    printed = claims_text.format_figure(figure) if figure else ""
    what = f"`{said.variant}` {claims_text.describe_claim(claim)}"
    return f"`{said.pattern}`" if first else "", what, *answers, printed, claim.strength, claim.source


def cell(found: Sequence[Found]) -> str:
    """The answers of one run: ``holds 2.91``, ``holds 1.2 to 4.5 (stride=1|16); inverts 0.9 (stride=32)``, or ""."""
    names = list(varying(found))
    by_answer = [
        (word, [each for each in found if each.answer == word]) for word in (*_SHOWN, Answer.NOT_ASKED, Answer.NO_CLAIM)
    ]
    present = [(word, group) for word, group in by_answer if group]
    parts = []
    for word, group in present:
        speedups = [each.speedup for each in group if each.speedup is not None]
        ends = (min(speedups), max(speedups)) if speedups else ()
        span = " to ".join(dict.fromkeys(map(units.figure, ends)))
        if word == Answer.NOT_ASKED:
            span = f"({group[0].reason})"
        where = f"({_points(group, names)})" if len(present) > 1 else ""
        parts.append(" ".join(part for part in (word, span, where) if part))
    older = f" ({OLDER})" if any(each.older and each.answer in _SHOWN for each in found) else ""
    return "; ".join(parts) + older


def _points(found: Sequence[Found], names: Sequence[str]) -> str:
    values = {name: dict.fromkeys(str(each.point.get(name)) for each in found) for name in names}
    return ", ".join(f"{name}={'|'.join(known)}" for name, known in values.items())


def _notes(answered: Answered, numbers: Sequence[int]) -> Iterator[str]:
    """A line for each claim of a chapter that a sentence explains, and for each that is undecided."""
    sentences = answered.notes["sentences"]
    for key in dict.fromkeys(answered.said[n].key for n in numbers):
        pattern, variant, against = key.split("/")
        whose = f"- `{pattern}`: `{variant}` against `{against}`"
        if key in sentences and (names := answered.runs_of_sentence(key)):
            where = ", ".join(f"`{name}`" for name in names)
            yield f"{whose}, on {where}: {' '.join(sentences[key].split())}"
        for name in answered.runs:
            found = [each for n in numbers if answered.said[n].key == key for each in answered.found[name][n]]
            reasons = [*dict.fromkeys(each.reason for each in found if each.answer == Answer.UNDECIDED)]
            if reasons:
                more = f", and {len(reasons) - 1} more" if reasons[1:] else ""
                yield f"{whose}, undecided on `{name}`: {reasons[0]}{more}."


def _code(every: Sequence[Said], compilers: Sequence[Mapping[str, Any]]) -> list[str]:
    """The table of the claims on generated code; nothing where there are none."""
    of_code = [said for said in every if said.claim.of_code]
    headings = ("pattern", "claim", *map(generated_code.name, compilers), *SOURCE)
    lines = [told(said, [_by_gpu(said, compiler.get("claims", ())) for compiler in compilers]) for said in of_code]
    return table(headings, lines) if of_code else []


def _by_gpu(said: Said, told: Sequence[Mapping[str, Any]]) -> str:
    """``holds on pvc, 8 against 16; no effect on dg2, 11 against 11``."""
    own = [
        each
        for each in told
        if (each["pattern"], each["variant"]) == (said.pattern, said.variant) and _same(said.claim, each["claim"])
    ]
    parts = [f"{each['answer']} on {each['gpu']}{_numbers(each)}" for each in own]
    return "; ".join(dict.fromkeys(parts)) or "not compiled yet"


def _numbers(told: Mapping[str, Any]) -> str:
    number, against, sides = told["number"], told["against_number"], describe_sides(told.get("both_sides", {}))
    if number is None or against is None:
        return ""
    return f", {number} against {against}" + (f" ({sides})" if sides else "")


def _same(claim: Claim, kept: Mapping[str, Any]) -> bool:
    """True if a claim was answered in its present form; its source may have changed."""
    now = json.loads(to_json([claim]))[0]
    return all(now[name] == kept[name] for name in ("word", "against", "at_least", "where"))


def _defect(defect: Mapping[str, str]) -> tuple[str, ...]:
    return defect["where"], " ".join(defect["wrong"].split()), " ".join(defect["here"].split())


def page() -> str:
    """The page; sentences about no claim are named on standard error."""
    answered = Answered(discover(), reference_runs(), data("claim_notes"))
    for key in answered.stale:
        print(f"nothing claims what the sentence is on: {key} (tools/pages/data/claim_notes.toml)", file=sys.stderr)
    return markdown(answered, data("guide_defects")["defects"])


if __name__ == "__main__":
    print(page(), end="")
