"""Resume a run: find what is missing in it, and check that the machine is still the same."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
import pandas as pd

from xebench.errors import RunFolderError, XebenchError
from xebench.measuring.case_rows import NOT_MEASURED, CaseResult
from xebench.measuring.messages import Instance
from xebench.measuring.sampling import Sampling
from xebench.patterns.plan import Family
from xebench.records.points import rows, to_json
from xebench.results import Run, load_run, schema
from xebench.results.analysis import summaries
from xebench.results.analysis.speedups import speedups_of_instances
from xebench.runner.family_progress import FamilyProgress
from xebench.runner.round_plan import earlier_round
from xebench.runner.run_options import Options, Progress
from xebench.vocabulary import SAMPLED_STATES, RoundPart, Status, StopReason, find_baseline

#: Columns that identify a device and its driver.
IDENTITY: Final = ("device", "name", "driver_version")


#: Manifest entry of a run over a scheduler: the class of its devices, and the limits that size its problems.
OVER_SCHEDULER: Final = "over_scheduler"


def earlier_session(options: Options, progress: Progress, plan: Sequence[Family], *, over_scheduler: bool) -> Run:
    """The earlier session in the folder.

    Raises:
        RunFolderError: there is nothing to resume in the folder.
        XebenchError: the earlier session went the other way.
    """
    earlier = load_run(options.output)
    if is_done(earlier, plan):
        progress.say(f"{options.output} holds a complete run: there is nothing to resume")
    else:
        require_same_way(earlier, over_scheduler=over_scheduler)
    return earlier


def is_done(run: Run, plan: Sequence[Family]) -> bool:
    """True for a complete run of the pattern files as they are now."""
    if not run.complete:
        return False
    known = _sources(run.cases, "pattern")
    patterns = (family.pattern for family in plan)
    return all(known.get(pattern.name, pattern.source_sha256) == pattern.source_sha256 for pattern in patterns)


def _sources(cases: pd.DataFrame, key: str) -> dict[Any, str]:
    """The hash of the last pattern file that each case, or pattern, is of; without those of which none is known."""
    known: dict[Any, str] = cases.dropna(subset="source_sha256").groupby(key)["source_sha256"].last().to_dict()
    return known


def require_same_way(run: Run, *, over_scheduler: bool) -> None:
    """Refuse to go on with a run on one machine over a scheduler, or the other way round: their keys differ.

    Raises:
        XebenchError: an earlier session went the other way.
    """
    if (OVER_SCHEDULER in run.manifest) == over_scheduler:
        return
    if over_scheduler:
        raise XebenchError(f"{run.path} was begun on one machine: leave out --on, or start a new run with --output")
    raise XebenchError(f"{run.path} was begun over a scheduler: add --on with the address of one")


def recorded_device(run: Run) -> dict[str, Any] | None:
    """The row of the device that an earlier run used; None if it ended before there was one."""
    return None if run.devices.empty else rows(run.devices)[-1]


def require_same_device(recorded: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """Refuse to mix the times of two devices, or of two drivers, under one name.

    Raises:
        XebenchError: ``here`` is not what the run was begun on.
    """
    if any(recorded[name] != here[name] for name in IDENTITY):
        raise XebenchError(
            f"the run was measured on {_words(recorded)}, but this is {_words(here)}: start a new run with --output"
        )


def _words(row: Mapping[str, Any]) -> str:
    return f"{row['name']} ({row['device']}, driver {row['driver_version']})"


def cases_with_samples(run: Run) -> pd.DataFrame:
    """The cases of a run, without those that went well but whose samples, or their check, are lost."""
    samples = run.samples[run.samples["checked"] & run.samples["state"].isin(SAMPLED_STATES)]
    return run.cases[(run.cases["status"] != Status.OK) | run.cases["case_id"].isin(samples["case_id"])]


def missing_families(plan: Sequence[Family], cases: pd.DataFrame, device_class: str) -> list[Family]:
    """The families of ``plan`` in which a case is not over: they are measured again as a whole.

    A speed-up needs both of its sides in the same blocks, so a family cannot be completed variant by variant. A preset
    that has other sizes by now makes another family, and so does a pattern file that is another by now.
    """
    over = cases[cases["status"] != NOT_MEASURED]
    done = set(zip(over["case_id"], over["parameters"], strict=True))
    changed = changed_families(plan, cases, device_class)
    return [
        family
        for family in plan
        if family in changed
        or not done.issuperset((case_id, to_json(family.parameters)) for case_id in case_ids([family], device_class))
    ]


def changed_families(plan: Sequence[Family], cases: pd.DataFrame, device_class: str) -> list[Family]:
    """The families of ``plan`` that have results of another pattern file, or of other modules that it imports.

    An earlier version of xebench wrote no hash of them: whether they have changed is not known then.
    """
    begun = cases[cases["status"] != NOT_MEASURED]
    known = _sources(begun, "case_id")
    return [
        family
        for family in plan
        if any(
            known.get(case_id, family.pattern.source_sha256) != family.pattern.source_sha256
            for case_id in case_ids([family], device_class)
        )
    ]


def unfinished_families(plan: Sequence[Family], cases: pd.DataFrame, device_class: str) -> list[Family]:
    """The families of ``plan`` whose cases have results, but to which the run wanted to come again."""
    waiting = set(cases.loc[cases["stopped_by"] == StopReason.ROUND, "case_id"])
    missing = {family.family_id(device_class) for family in missing_families(plan, cases, device_class)}
    return [
        family
        for family in plan
        if family.family_id(device_class) not in missing and waiting.intersection(case_ids([family], device_class))
    ]


def family_progress(family: Family, run: Run, device_class: str, sampling: Sampling, next_block: int) -> FamilyProgress:
    """The progress of a run with a family that was to have another round, after those that came to their ends.

    Args:
        family: family whose cases have results.
        run: run as an earlier session left it.
        device_class: class of its device.
        sampling: limits of all rounds together.
        next_block: next free block number.
    """
    names = {family.case_id(variant.name, device_class): variant.name for variant in family.pattern.variants}
    own_cases = run.cases.loc[run.cases["case_id"].isin(names), [*schema.columns("cases")]]
    cases = {names[row["case_id"]]: row for row in rows(own_cases)}
    own = run.samples[run.samples["case_id"].isin(names)]
    taken = own[own["state"].isin(SAMPLED_STATES) & own["checked"]]
    instances = _instances(family, summaries.usable(run.cases, own), taken, names, family.compared(device_class))
    recorded = (row["round_seconds"] for row in cases.values() if row["round_seconds"])
    seconds: dict[str, float] = json.loads(next(recorded, "{}"))
    return FamilyProgress(
        family,
        cases,
        sampling,
        next_block,
        next_instance=int(max(own["instance"].dropna(), default=-1)) + 1,
        instances=instances,
        results={variant: CaseResult.of_row(row) for variant, row in cases.items()},
        round=earlier_round(sampling, max(Counter(one.state for one in instances).values(), default=0)),
        lost_s=sum(seconds.get(part, 0.0) for part in (RoundPart.WARMING_UP, RoundPart.SAMPLING)),
        compiled=set(cases),
        seconds=seconds,
    )


def _instances(
    family: Family,
    samples: pd.DataFrame,
    taken: pd.DataFrame,
    variants: Mapping[str, str],
    compared: Sequence[tuple[str, str]],
) -> list[Instance]:
    """The instances of a family, from samples that count, and from all that a check covers.

    Their seconds are those of all rounds (`FamilyProgress.lost_s`).
    """
    baseline = find_baseline(family.pattern.variants, role=lambda variant: variant.role)
    assert baseline is not None  # Pattern refuses to be declared without
    logs = {
        (state, number): {name: values.tolist() for name, values in own.items()}
        for state, number, own in speedups_of_instances(samples, variants, baseline.name, compared)
    }
    blocks = taken.groupby(["state", "instance"])["block"].nunique().reset_index()
    return [
        Instance(number=number, state=state, speedups=logs.get((state, number), {}), blocks=count)
        for state, number, count in zip(blocks["state"], blocks["instance"], blocks["block"], strict=True)
    ]


def case_ids(families: Iterable[Family], device_class: str) -> list[str]:
    """The keys of all cases of ``families``."""
    return [family.case_id(variant.name, device_class) for family in families for variant in family.pattern.variants]


class _Git(msgspec.Struct):
    commit: str | None = None


class _Software(msgspec.Struct):
    """The software of a manifest."""

    xebench: str | None = None
    git: _Git | None = None
    packages: dict[str, str | None] = {}

    def versions(self) -> dict[str, str | None]:
        """All of it by name."""
        commit = self.git.commit if self.git else None
        return {"xebench": self.xebench, "commit": commit and commit[:12], **self.packages}


def changed_software(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The versions that differ between two manifests: ``numba 0.59.1 -> 0.60.0``.

    Raises:
        RunFolderError: a manifest was tampered with.
    """
    try:
        then, current = (msgspec.convert(manifest, _Software).versions() for manifest in (before, now))
    except msgspec.ValidationError as error:
        raise RunFolderError(f"the run's manifest is damaged ({error}): restore it from a copy") from None
    return [f"{name} {then.get(name)} -> {version}" for name, version in current.items() if then.get(name) != version]
