"""Reading run folders, finished or not, and the runs that are at hand."""

from __future__ import annotations

import fnmatch
import html
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, Protocol

import pandas as pd

from xebench.errors import RunFolderError, XebenchError, suggestion
from xebench.records.claim import from_json, is_expected, to_json
from xebench.records.points import plain
from xebench.results import files, journal, packed_run, run_plot, schema
from xebench.results.analysis.compilers import compilers
from xebench.results.analysis.summaries import with_checked
from xebench.results.pairs_table import Pairs
from xebench.vocabulary import BASELINE_ROLES, FAILED, Role

if TYPE_CHECKING:
    from xebench.results.analysis.compare import Thresholds


class Reader(Protocol):
    """A table by its name, or those of its columns, and the rows of those samples or cases, that are given."""

    def __call__(
        self,
        table: str,
        names: Sequence[str] | None = None,
        samples: Collection[int] | None = None,
        cases: Collection[str] | None = None,
    ) -> pd.DataFrame: ...


@dataclass(frozen=True)
class _InMemory:
    """Tables that are there; one that is not is empty. It goes with its run through a pipe."""

    tables: Mapping[str, pd.DataFrame]

    def __call__(
        self,
        table: str,
        names: Sequence[str] | None = None,
        samples: Collection[int] | None = None,
        cases: Collection[str] | None = None,
    ) -> pd.DataFrame:
        whole = self.tables[table] if table in self.tables else schema.frame(table, [])
        return _part(whole, names, samples, cases)


def _part(
    whole: pd.DataFrame,
    names: Sequence[str] | None = None,
    samples: Collection[int] | None = None,
    cases: Collection[str] | None = None,
) -> pd.DataFrame:
    wanted = whole if samples is None else whole[whole["sample_id"].isin(list(samples))]
    wanted = wanted if cases is None else wanted[wanted["case_id"].isin(list(cases))].reset_index(drop=True)
    return wanted if names is None else wanted[[*names]]


@dataclass(frozen=True)
class _OfCases:
    """The rows of some cases, of tables that have such; the others as they are."""

    read: Reader
    cases: frozenset[str]

    def __call__(
        self,
        table: str,
        names: Sequence[str] | None = None,
        samples: Collection[int] | None = None,
        cases: Collection[str] | None = None,
    ) -> pd.DataFrame:
        own = self.cases if "case_id" in schema.columns(table) else None
        return self.read(table, names, samples, own if cases is None else self.cases & {*cases})


class Run:
    """A run read from its folder; the frames have the columns of `xebench.results.TABLES`.

    Cases have a column for each parameter of the run's patterns besides, such as ``param_n`` and
    ``param_work_group_size``; null where the pattern has none of that name. Other tables join them by case:
    ``run.pairs.merge(run.cases.filter(regex="^case_id$|^param_"))``.

    A table is read at its first use, and kept: of a finished run nothing else is read. So a damaged file raises
    `RunFolderError`, one line that names it, at the first use of its table.

    Attributes:
        path: The folder.
        manifest: Provenance and state, as in manifest.json.
    """

    def __init__(self, path: Path, manifest: Mapping[str, Any], read: Reader) -> None:
        """Use `load_run` or `of_tables`."""
        self.path = path
        self.manifest = manifest
        self._read = read

    @classmethod
    def of_tables(cls, path: Path, manifest: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> Run:
        """A run of tables as the schema has them; one that is not given is empty."""
        return cls(path, manifest, _InMemory(tables))

    def part(self, table: str, names: Sequence[str], samples: Collection[int] | None = None) -> pd.DataFrame:
        """Some columns of a table, without the parameter columns; a finished run reads only these from disk.

        Args:
            table: Its name.
            names: Names of the columns.
            samples: Numbers of the samples whose rows are wanted, of a table that has them; all by default.

        Raises:
            RunFolderError: The file is missing or damaged.
        """
        whole = self.__dict__.get(table)
        return self._read(table, names, samples) if whole is None else _part(whole, names, samples)

    def patterns_like(self, name: str) -> list[str]:
        """The patterns of the run that a name or a glob such as ``slm*`` means.

        Raises:
            RunFolderError: The run has no such pattern; names those that look like it.
        """
        known = set(self.part("cases", ["case_id", "pattern"])["pattern"])
        return sorted(fnmatch.filter(known, name)) or self._refuse(name, known)

    def of(self, *patterns: str) -> Run:
        """The part of the run that belongs to some patterns: the same tables with their rows and their parameters'
        columns alone.

        Raises:
            RunFolderError: The run has no such pattern; names those that look like it.
        """
        cases = self.part("cases", ["case_id", "pattern"])
        known = set(cases["pattern"])
        for pattern in patterns:
            if pattern not in known:
                self._refuse(pattern, known)
        own = frozenset(cases.loc[cases["pattern"].isin(patterns), "case_id"])
        return Run(self.path, self.manifest, _OfCases(self._read, own))

    def against(self, reference: str) -> Run:
        """The run with another variant as the baseline of each family that has it.

        A claim without the name of a baseline is about the declared one, and is left out there.

        Raises:
            RunFolderError: No pattern has such a variant; names those that look like it.
        """
        measured = {table: self._read(table) for table in schema.MEASURED}
        cases = measured["cases"]
        families = cases.loc[cases["variant"] == reference, "family_id"]
        if families.empty:
            advice = suggestion(reference, {*cases["variant"]}, "run.cases has their names")
            raise RunFolderError(f"the run in {self.path} has no variant {reference!r}: {advice}")
        theirs = cases["family_id"].isin(families)
        named = [to_json([claim for claim in from_json(text) if claim.against]) for text in plain(cases["claims"])]
        roles = cases["role"].mask(theirs & cases["role"].isin(BASELINE_ROLES), Role.INTERMEDIATE.value)
        measured["cases"] = cases.assign(
            claims=cases["claims"].mask(theirs, pd.Series(named, cases.index, dtype="string")),
            role=roles.mask(theirs & (cases["variant"] == reference), Role.NAIVE.value),
        )
        return Run.of_tables(self.path, self.manifest, with_derived(measured))

    def _refuse(self, pattern: str, known: set[str]) -> NoReturn:
        advice = suggestion(pattern, known, "run.cases has their names" if len(known) > 8 else "")
        raise RunFolderError(f"the run in {self.path} has no pattern {pattern!r}: {advice}")

    @cached_property
    def devices(self) -> pd.DataFrame:
        """The devices, with what they can do and their measured roofs."""
        return self._read("devices")

    @cached_property
    def cases(self) -> pd.DataFrame:
        """The cases to measure, and how each ended."""
        return schema.with_parameters(self._read("cases"))

    @cached_property
    def samples(self) -> pd.DataFrame:
        """Every sample."""
        return self._read("samples")

    @cached_property
    def events(self) -> pd.DataFrame:
        """The device's events of each sample: by far the largest table."""
        return self._read("events")

    @cached_property
    def machine(self) -> pd.DataFrame:
        """The machine's state over ranges of samples."""
        return self._read("machine")

    @cached_property
    def checks(self) -> pd.DataFrame:
        """The checks of results, and the samples that each covers; ``samples.checked`` has the result too."""
        return self._read("checks")

    @cached_property
    def summaries(self) -> pd.DataFrame:
        """The analysis of each case and state."""
        return self._read("summaries")

    @cached_property
    def pairs(self) -> Pairs:
        """The analysis of each variant and what it is compared with; printed as its ``brief``, of twelve columns."""
        return Pairs.of(self, self._read("pairs"))

    def compare(
        self, other: Run, threshold: Thresholds | None = None, *, on: Literal["time", "speedup"] = "time"
    ) -> pd.DataFrame:
        """The comparison of this run with a later one: see `compare_runs`."""
        return compare_runs(self, other, threshold, on=on)

    def plot(self, pattern: str, along: str | None = None) -> run_plot.Plot:
        """The speed-ups of a pattern with their intervals: see `xebench.results.run_plot`.

        Args:
            pattern: Its name.
            along: Parameter on the x axis; by default the one that is swept, if it is one.

        Raises:
            XebenchError: There is no such pattern, parameter or speed-up.
        """
        return run_plot.draw(schema.with_parameters(self.of(pattern).pairs), pattern, along)

    def __repr__(self) -> str:
        cases = self.part("cases", ["pattern"])["pattern"]
        return f"<Run {self.path}: {cases.nunique()} patterns, {len(cases)} cases, {self.manifest['state']}>"

    def _repr_html_(self) -> str:
        """HTML for notebooks: place and time of the run, the answers by chapter, and its pairs in brief."""
        pairs = self.part("pairs", ["chapter", "answer"]).fillna("")
        counts = pd.crosstab(pairs["chapter"], pairs["answer"], margins=len(pairs) > 0, margins_name="all")
        devices = ", ".join(self.part("devices", ["name"])["name"].fillna(""))
        head = f"{self!r}"[1:-1], devices, str(self.manifest.get("created", ""))[:16]
        title = f"<p>{html.escape(' · '.join(filter(None, head)))}</p>"
        return f"{title}{counts.to_html()}{self.pairs._repr_html_()}"

    @property
    def complete(self) -> bool:
        """True if the run came to its end; False if it was interrupted, killed, or still goes on."""
        return bool(self.manifest["state"] == "complete")

    @property
    def stack(self) -> str:
        """The set of packages that measured it (`system.runtime.stack`); earlier runs had only the pinned one."""
        return str(self.manifest.get("stack", "pinned"))

    @cached_property
    def compilers(self) -> dict[str, int]:
        """The number of Python kernels of each compiler and version; empty where an earlier run does not record it."""
        return compilers(self.part("cases", ["kernels"])["kernels"])

    @property
    def generator(self) -> str | None:
        """The generator of the problems' random numbers, with its version; None where an earlier run does not record
        it.
        """
        return self.manifest.get("generator")

    @property
    def versions(self) -> tuple[str, ...]:
        """The names of the two versions that `xebench ab` measured side by side, the old one first; else empty."""
        return tuple((self.manifest.get("request") or {}).get("versions") or ())

    @cached_property
    def failed_cases(self) -> pd.DataFrame:
        """The cases that failed, without those of which a claim says that they must."""
        failed = self.cases[self.cases["status"].isin(FAILED)]
        expected = [
            is_expected(status, reason, from_json(claims))
            for status, reason, claims in zip(
                *(plain(failed[name]) for name in ("status", "reason", "claims")), strict=True
            )
        ]
        return failed.loc[[not each for each in expected]]


def load_run(path: Path | str) -> Run:
    """Read a run folder, finished or not, or a file of `xebench pack-run`; of an unfinished one, all so far.

    Raises:
        RunFolderError: The folder is missing, holds no run, lacks a file, was written by a newer xebench or one before
            the last version; or a journal in it is damaged. The message names the file and the place.
    """
    folder = Path(path)
    if folder.is_file():
        packed = packed_run.PackedTables(folder)
        return Run(folder, packed.manifest, packed)
    manifest = files.read_manifest(folder)
    if _unfinished(folder, manifest):
        tables = read_measured(folder, manifest)
        manifest = files.read_manifest(folder)
        if _unfinished(folder, manifest):  # else it was finished, and its journal dropped, while we read
            return Run.of_tables(folder, manifest, with_derived(tables))
    return Run(folder, manifest, files.TableFiles(folder, manifest))


def read_measured(folder: Path, manifest: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """The measured tables of a folder that has a journal.

    Raises:
        RunFolderError: A journal is damaged.
    """
    tables = {table: journal.read(folder / journal.FOLDER, table) for table in schema.MEASURED}
    tables["samples"] = with_checked(tables["samples"], tables["checks"])
    return tables


def with_derived(measured: dict[str, pd.DataFrame], *, alone_decides: bool = False) -> dict[str, pd.DataFrame]:
    """``measured`` with the summaries and pairs that analysis makes of it, where one instance may decide or not."""
    # imported here because scipy is slow to import, and a finished run is read without it
    from xebench.results.analysis.pairs import pairs
    from xebench.results.analysis.summaries import summaries

    devices, cases, samples = measured["devices"], measured["cases"], measured["samples"]
    summary = summaries(cases, samples, devices, measured["events"])
    pair = pairs(cases, samples, devices, summary, alone_decides=alone_decides)
    return {**measured, "summaries": schema.frame("summaries", summary), "pairs": schema.frame("pairs", pair)}


def compare_runs(
    before: Run, after: Run, threshold: Thresholds | None = None, *, on: Literal["time", "speedup"] = "time"
) -> pd.DataFrame:
    """Two runs side by side.

    Reasons name two stacks, and two generators of the problems' data.

    Args:
        before: The first run.
        after: The second run.
        threshold: Relative change that matters, or those of patterns by name or glob such as ``{"fft*": 0.1, "*":
            0.03}``; `xebench.results.analysis.compare.THRESHOLD` by default.
        on: Subject of the comparison: the times of each case (`xebench.results.analysis.compare.compare`), or the
            speed-up and answer of each pair (`xebench.results.analysis.compare.compare_pairs`).

    Returns:
        The table `comparisons`, or `pair_comparisons`.

    Raises:
        XebenchError: the threshold is no finite number, or ``on`` is neither of these words.
    """
    from xebench.results.analysis import compare

    values = threshold.values() if isinstance(threshold, Mapping) else [threshold or 0]
    if on not in ("time", "speedup") or not all(map(math.isfinite, values)):
        raise XebenchError(f"threshold={threshold!r}, on={on!r}: give a finite number, and 'time' or 'speedup'")
    of, table = (compare.compare, "comparisons") if on == "time" else (compare.compare_pairs, "pair_comparisons")
    rows = of(before, after, compare.THRESHOLD if threshold is None else threshold)
    for what in ("stack", "generator"):
        then, now = getattr(before, what), getattr(after, what)
        if then != now and None not in (then, now):
            told = f"different {what}s ({then} before, {now} after): "
            rows = [{**row, "reason": told + row["reason"]} for row in rows]
    return schema.with_parameters(schema.frame(table, rows))


def compare_versions(run: Run, threshold: Thresholds | None = None) -> pd.DataFrame:
    """The two versions in a run of `xebench ab`.

    Args:
        run: A run of `xebench ab`.
        threshold: Relative change that matters; `xebench.results.analysis.compare.THRESHOLD` by default.

    Returns:
        The table `comparisons`; before is the old version. Its intervals hold together, all in 95 % of runs.
    """
    from xebench.results.analysis import compare, versions

    found = versions.compare_versions(run, compare.THRESHOLD if threshold is None else threshold)
    return schema.with_parameters(schema.frame("comparisons", found))


def _unfinished(folder: Path, manifest: Mapping[str, Any]) -> bool:
    return bool(manifest["state"] == "running") or any((folder / journal.FOLDER).glob("*"))


#: The folder of `xebench run`'s runs, and a checkout's folder of reference runs.
FOLDERS: Final = (Path("runs"), Path("results"))


def newest_of_each_device(pattern: str) -> list[Run]:
    """The newest run of each device that measured a pattern, newest first; damaged runs are left out.

    Args:
        pattern: name of the pattern.
    """
    newest: dict[tuple[str, ...], Run] = {}
    for run in runs_in(FOLDERS, lambda run: bool((run.part("pairs", ["pattern"])["pattern"] == pattern).any())):
        newest.setdefault(tuple(run.devices["name"]), run)
    return list(newest.values())


def runs_in(folders: Iterable[Path], wanted: Callable[[Run], bool]) -> list[Run]:
    """The runs in folders, newest first; damaged runs are left out.

    Args:
        folders: folders of run folders.
        wanted: function that tells which runs to take, and that reads what must not be damaged.
    """
    found: list[Run] = []
    for folder in folders:
        for manifest in folder.glob("*/manifest.json"):
            try:
                run = load_run(manifest.parent)
                if wanted(run):
                    found.append(run)
            except (RunFolderError, OSError):
                continue
    return sorted(found, key=lambda run: str(run.manifest.get("created", "")), reverse=True)
