"""Reading a run folder, finished or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pandas as pd

from xebench.analysis import points
from xebench.analysis.claim import from_json, is_expected
from xebench.tables import checks, files, journal, schema, upgrade
from xebench.vocabulary import FAILED

#: Tables that get a column for each size and each axis when a user reads them.
_WITH_POINTS: Final = ("cases", "summaries", "pairs")


@dataclass(frozen=True)
class Run:
    """A run read from its folder; the frames have the columns of `xebench.tables.TABLES`.

    Cases, samples, summaries and pairs have a column for each size and each axis of the run's patterns besides, such as
    ``size_n`` and ``axis_work_group_size``; null where the pattern has none of that name.

    Attributes:
        path: The folder.
        manifest: Provenance and state, as in manifest.json.
        devices, cases, samples, events: What was measured.
        summaries, pairs: What analysis makes of it.
        machine: The machine's state over ranges of samples.
        checks: Which samples a check of the results speaks for; what it says is in ``samples.checked`` too.
    """

    path: Path
    manifest: Mapping[str, Any]
    devices: pd.DataFrame
    cases: pd.DataFrame
    samples: pd.DataFrame
    events: pd.DataFrame
    summaries: pd.DataFrame
    pairs: pd.DataFrame
    machine: pd.DataFrame = field(default_factory=lambda: schema.frame("machine", []))
    checks: pd.DataFrame = field(default_factory=lambda: schema.frame("checks", []))

    @classmethod
    def of_tables(cls, path: Path, manifest: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> Run:
        """A run of tables as the schema has them."""
        named = {name: points.with_columns(tables[name]) for name in _WITH_POINTS}
        named["samples"] = points.with_columns_of(tables["samples"], named["cases"])
        return cls(path=path, manifest=manifest, **{**tables, **named})

    @property
    def complete(self) -> bool:
        """Whether the run came to its end; False for one that was interrupted, killed, or still goes on."""
        return bool(self.manifest["state"] == "complete")

    @property
    def stack(self) -> str:
        """Which set of packages measured it (`xebench.runtime.stack`): earlier runs knew of the pinned one only."""
        return str(self.manifest.get("stack", "pinned"))

    @property
    def failed_cases(self) -> pd.DataFrame:
        """The cases that failed, without those of which a claim says that they must."""
        failed = self.cases[self.cases["status"].isin(FAILED)]
        expected = [
            is_expected(status, reason, from_json(claims))
            for status, reason, claims in zip(
                *(_texts(failed[name]) for name in ("status", "reason", "claims")), strict=True
            )
        ]
        return failed[[not each for each in expected]]


def load_run(path: Path | str) -> Run:
    """Read a run folder, finished or not; of an unfinished one, everything that was measured so far.

    Raises:
        RunFolderError: The folder is missing, holds no run, was written by a newer xebench, or a file in it
            is damaged; the message names the file and the place.
    """
    folder = Path(path)
    manifest = files.read_manifest(folder)
    if _unfinished(folder, manifest):
        tables = measured(folder, manifest)
        manifest = files.read_manifest(folder)
        if _unfinished(folder, manifest):  # else it was finished, and its journal dropped, while we read
            return Run.of_tables(folder, manifest, with_derived(tables))
    version = manifest["schema_version"]
    tables = {name: files.read_parquet(folder / f"{name}.parquet", name, version) for name in schema.RUN_TABLES}
    if version < upgrade.CHECKS_SINCE:
        tables["samples"] = upgrade.with_marks(tables["samples"], manifest)
    return Run.of_tables(folder, manifest, tables)


def measured(folder: Path, manifest: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """The measured tables of a folder that has a journal."""
    version = manifest["schema_version"]
    tables = {table: journal.read(folder / journal.FOLDER, table, version) for table in schema.MEASURED}
    if version < upgrade.CHECKS_SINCE:
        tables["samples"] = upgrade.with_marks(tables["samples"], manifest)
    else:
        tables["samples"] = checks.with_checked(tables["samples"], tables["checks"])
    return tables


def with_derived(measured: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """``measured`` with the summaries and pairs that analysis makes of it."""
    # imported here because scipy is slow to import, and a finished run is read without it
    from xebench.analysis.pairs import pairs
    from xebench.analysis.summaries import summaries

    devices, cases, samples = measured["devices"], measured["cases"], measured["samples"]
    summary = summaries(cases, samples, devices, measured["events"])
    pair = pairs(cases, samples, devices, summary)
    return {**measured, "summaries": schema.frame("summaries", summary), "pairs": schema.frame("pairs", pair)}


def compare_runs(before: Run, after: Run, threshold: float | None = None) -> pd.DataFrame:
    """The table `comparisons` of two runs; see `xebench.analysis.compare.compare`. Reasons name two stacks.

    Args:
        before: The first run.
        after: The second run.
        threshold: Relative change that matters; `xebench.analysis.compare.THRESHOLD` by default.
    """
    from xebench.analysis import compare

    rows = compare.compare(before, after, compare.THRESHOLD if threshold is None else threshold)
    if before.stack != after.stack:
        told = f"different stacks ({before.stack} before, {after.stack} after): "
        rows = [{**row, "reason": told + row["reason"]} for row in rows]
    return points.with_columns(schema.frame("comparisons", rows))


def _texts(column: pd.Series[Any]) -> list[Any]:
    return column.astype(object).where(column.notna(), None).tolist()


def _unfinished(folder: Path, manifest: Mapping[str, Any]) -> bool:
    return (folder / journal.FOLDER).is_dir() or bool(manifest["state"] == "running")
