"""The workers' results as rows of the one run folder: with new numbers, and with host and device in every key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from xebench.measuring.case_rows import CaseResult, fixed_columns
from xebench.patterns.plan import Family
from xebench.runner import resume
from xebench.runner.cluster.order import FamilyResult
from xebench.tables import Run, RunWriter
from xebench.tables.analysis.rows import DeviceKey, measured_at, place, problem_id, rows
from xebench.tables.checks import superseding
from xebench.vocabulary import Status

#: Columns of numbers that are unique in a run.
_NUMBERS: Final = ("sample_id", "first_sample", "last_sample", "end_sample")


class Folder:
    """The run folder of a run over several hosts.

    Args:
        writer: of the folder.
        device_class: of the run's devices.
        seed, precision: of the run, for its cases.
        earlier: what the folder has of an earlier session.
    """

    def __init__(
        self, writer: RunWriter, device_class: str, *, seed: int, precision: float, earlier: Run | None
    ) -> None:
        self._writer = writer
        self._class = device_class
        self._seed, self._precision = seed, precision
        self._next_sample = self._first_sample = writer.next_numbers()[0] if earlier is not None else 0
        self._without_results: set[str] = set()
        self._earlier_ids: dict[str, list[str]] = {}
        for row in rows(earlier.cases) if earlier is not None else ():
            self._earlier_ids.setdefault(problem_id(row), []).append(row["case_id"])
        self._places = calibrated(earlier)

    def check_in_place(self) -> None:
        """See `xebench.tables.RunWriter.check_in_place`."""
        self._writer.check_in_place()

    def announce(self, families: Sequence[Family]) -> None:
        """Write the cases of families that have no results; those of others stand until there are better ones."""
        for family in families:
            self._without_results.add(family.family_id(self._class))
            self._write(family, CaseResult())

    def give_up(self, family: Family, status: Status, reason: str) -> None:
        """Write why a family has no result, where it had none before."""
        if family.family_id(self._class) in self._without_results:
            self._write(family, CaseResult(status, reason))

    def _write(self, family: Family, result: CaseResult) -> None:
        """Write the cases of a family that no device has measured."""
        nowhere = {"device": "", "device_class": self._class}
        fixed = fixed_columns(family, nowhere, self._seed, self._precision).values()
        self._writer.append("cases", [{**row, **result.columns()} for row in fixed])

    def take(self, family: Family, result: FamilyResult) -> None:
        """Write what a worker measured of a family: what an earlier session has of it does not count any more, unless
        this lacks results.
        """
        if result.lacks and family.family_id(self._class) not in self._without_results:
            return
        old = [one for key in resume.case_ids([family], self._class) for one in self._earlier_ids.get(key, ())]
        self._writer.append_checks(superseding(old, end_sample=self._first_sample))
        here = place(result.device)
        if here not in self._places:
            self._places = self._places | {here}
            self._writer.append("devices", [result.device])
        shift = self._next_sample - result.first_sample
        for table, measured in result.tables:
            self._writer.append(table, [_here(row, here, shift) for row in measured])
        self._next_sample += result.end_sample - result.first_sample


def _here(row: Mapping[str, Any], where: DeviceKey, shift: int) -> dict[str, Any]:
    numbers = {name: row[name] + shift for name in _NUMBERS if name in row}
    keys = {name: measured_at(row[name], where) for name in ("case_id", "family_id") if name in row}
    return {**row, **numbers, **keys}


def calibrated(run: Run | None) -> frozenset[DeviceKey]:
    """The devices in the run's folder."""
    return frozenset() if run is None else frozenset(place(row) for row in rows(run.devices))


def missing_families(
    plan: Sequence[Family], earlier: Run | None, device_class: str
) -> tuple[list[Family], list[Family]]:
    """The families of a plan of which an earlier session has not measured every case, wherever it did; and those that
    it measured, but for which its time was too short.
    """
    if earlier is None:
        return list(plan), []
    cases = earlier.cases.assign(case_id=[problem_id(row) for row in rows(earlier.cases)])
    missing = resume.missing_families(plan, cases, device_class)
    return missing, resume.unfinished_families(plan, cases, device_class)
