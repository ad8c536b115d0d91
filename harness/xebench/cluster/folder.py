"""What workers measured, as rows of the one run folder: numbered anew, with host and device in every key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from xebench.analysis.rows import Place, measured_at, place, problem_id, rows
from xebench.cluster.order import FamilyResult
from xebench.measuring.case_rows import CaseResult, fixed_columns
from xebench.patterns.plan import Family
from xebench.runner import resume
from xebench.tables import Run, RunWriter
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
        self._next_sample = writer.next_numbers()[0] if earlier is not None else 0
        self._places = calibrated(earlier)

    def check_in_place(self) -> None:
        """See `xebench.tables.RunWriter.check_in_place`."""
        self._writer.check_in_place()

    def announce(self, families: Sequence[Family], earlier: Run | None) -> None:
        """Write the cases of families that are to be measured; what an earlier session has of them does not count."""
        if earlier is not None:
            ids = {problem_id(row) for row in rows(earlier.cases)} & set(resume.case_ids(families, self._class))
            old = [row["case_id"] for row in rows(earlier.cases) if problem_id(row) in ids]
            self._writer.append_checks(superseding(old, end_sample=self._next_sample))
        for family in families:
            self._write(family, CaseResult())

    def give_up(self, family: Family, status: Status, reason: str) -> None:
        """Write why a family has no result."""
        self._write(family, CaseResult(status, reason))

    def _write(self, family: Family, result: CaseResult) -> None:
        """Write the cases of a family that no device has measured."""
        nowhere = {"device": "", "device_class": self._class}
        fixed = fixed_columns(family, nowhere, self._seed, self._precision).values()
        self._writer.append("cases", [{**row, **result.columns()} for row in fixed])

    def take(self, result: FamilyResult) -> None:
        """Write what a worker measured of a family."""
        here = place(result.device)
        if here not in self._places:
            self._places = self._places | {here}
            self._writer.append("devices", [result.device])
        shift = self._next_sample - result.first_sample
        for table, measured in result.tables:
            self._writer.append(table, [_here(row, here, shift) for row in measured])
        self._next_sample += result.end_sample - result.first_sample


def _here(row: Mapping[str, Any], where: Place, shift: int) -> dict[str, Any]:
    numbers = {name: row[name] + shift for name in _NUMBERS if name in row}
    keys = {name: measured_at(row[name], where) for name in ("case_id", "family_id") if name in row}
    return {**row, **numbers, **keys}


def calibrated(run: Run | None) -> frozenset[Place]:
    """The devices that a run knows."""
    return frozenset() if run is None else frozenset(place(row) for row in rows(run.devices))


def missing_families(plan: Sequence[Family], earlier: Run | None, device_class: str) -> list[Family]:
    """The families of a plan of which an earlier session has not measured every case, wherever it did."""
    if earlier is None:
        return list(plan)
    cases = earlier.cases.assign(case_id=[problem_id(row) for row in rows(earlier.cases)])
    return resume.missing_families(plan, cases, device_class)
