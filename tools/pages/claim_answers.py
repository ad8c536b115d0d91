"""What is claimed today, answered from a run that may be older: its samples are looked at again with today's claims."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from xebench.patterns.conditions import mark_not_asked
from xebench.patterns.declaration import PatternInfo
from xebench.tables import Run, load_run
from xebench.tables.analysis import points
from xebench.tables.analysis.claim import Claim, applying, columns, to_json
from xebench.tables.analysis.pairs import pairs
from xebench.tables.analysis.points import Row, by_place, place, rows
from xebench.vocabulary import STATES_ASKED, DeviceClass

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
        claims: of these patterns.
        run: of these programs.
        infos: the patterns of today.
    """
    cases, used = rows(run.cases), by_place(run.devices)
    variants = {(info.name, variant.name): (info, variant) for info in infos for variant in info.variants}
    asked_of_cases, roles = [], []
    for case in cases:
        info, variant = variants.get((case["pattern"], case["variant"]), (None, None))
        asked: list[Claim] = []
        if info and variant and _is_as_today(case, info):
            applied = mark_not_asked(applying(variant.claims, case["device_class"], _values(case)), used[place(case)])
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
    """Whether a claim is asked of a class of devices at any point: not where another of the variant is made for it."""
    own = [other.claim for other in every if (other.pattern, other.variant) == (said.pattern, said.variant)]
    anywhere = [msgspec.structs.replace(claim, where={}) for claim in own]
    return msgspec.structs.replace(said.claim, where={}) in applying(anywhere, device_class, {})


def _is_as_today(case: Row, info: PatternInfo) -> bool:
    """Whether pattern and case have the same metric and parameters of the same names."""
    own = info.presets.get(case["preset"])
    return own is not None and case["metric"] == info.metric and set(_values(case)) == {*own, *info.axes}


def _values(row: Row) -> dict[str, Any]:
    return points.parse(row["parameters"])


def _answers(row: Row, said: Said) -> bool:
    """Whether a row of the table `pairs` answers a claim."""
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
