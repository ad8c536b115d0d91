"""Writing a run folder, one writer at a time: manifest, journal, and Parquet tables when the run is over.

    manifest.json                 what ran, where, with which versions; running, complete or interrupted;
                                  of a finished run the SHA-256 of every other file
    journal/*.arrows              rows as they were measured, until the tables below are all there
    devices.parquet ... pairs.parquet
    summaries.csv  pairs.csv      the same two tables for a spreadsheet

While the journal is there it is the truth; it goes only after every table is in place, so that a run which is
killed at any moment leaves a folder that `xebench.results.load_run` reads.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal, Self

import pandas as pd

from xebench.errors import BrokenEnvironment, RunFolderError, XebenchError, describe_error
from xebench.results import files, journal, schema
from xebench.results.analysis.compilers import compilers
from xebench.results.analysis.summaries import CheckRow
from xebench.results.files import MANIFEST, open_within
from xebench.results.provenance import now
from xebench.results.run import Run, read_measured, with_derived

NAME: Final = ".lock"


class FolderLock:
    """An exclusive lock on a folder, held until `release` or the end of the process.

    The lock is on an open file (flock), so it also separates two writers of one process. The file is not
    inherited by a worker that is started by exec.
    """

    def __init__(self, folder: Path) -> None:
        """Take the lock of ``folder``, which is made if need be.

        Raises:
            RunFolderError: Another writer holds it, or the folder cannot be written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = open_within(folder.resolve(), NAME)
        except OSError as error:
            raise RunFolderError(
                f"cannot write {folder} ({error.strerror}): name another folder with --output"
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._file, 32, 0).decode(errors="replace") or "unknown"
            self.release()
            raise RunFolderError(
                f"{folder} is being written by another run (process {holder}): "
                "wait for it or name another folder with --output"
            ) from error
        with suppress(OSError):  # the number is for the message only; a full disk is reported by the journal
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        """Release the lock; a second call does nothing."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


#: Free disk space needed to begin a run, in bytes: the tables of the reference run take 18 MB.
LEAST_FREE_BYTES: Final = 20 << 20

CSV_TABLES: Final = ("summaries", "pairs")

#: Files of a finished run beside its manifest.
_FILES: Final = (*(f"{table}.parquet" for table in schema.RUN_TABLES), *(f"{table}.csv" for table in CSV_TABLES))

_DISCARDED: Final = ".journal-discarded"


class RunWriter:
    """The one writer of a run folder. `create` or `resume` makes it, `finish` ends it."""

    def __init__(self, path: Path, manifest: dict[str, Any], lock: FolderLock) -> None:
        """Use `create` or `resume`."""
        self.path = path
        self.manifest = manifest
        self._lock = lock
        self._journal = journal.Journal(path / journal.FOLDER)

    @classmethod
    def create(cls, path: Path | str, manifest: Mapping[str, Any], *, overwrite: bool = False) -> Self:
        """Begin a run in a new or empty folder, or with ``overwrite`` in place of an earlier run.

        Args:
            path: The folder; parents are made.
            manifest: Provenance (`xebench.results.provenance.manifest`).
            overwrite: True to discard the tables of an existing run. Other files stay, and a folder without a run is
                refused.

        Raises:
            RunFolderError: The folder holds something else or an earlier run, another process writes it, or
                it cannot be written.
        """
        folder = Path(path)
        _refuse(folder, overwrite)
        lock = FolderLock(folder)
        try:
            _refuse(folder, overwrite)  # again: another run may have come and gone before the lock was ours
            _try_the_end(folder)
            _discard_run(folder)
            begun = {**manifest, "schema_version": schema.SCHEMA_VERSION, "state": "running"}
            begun.setdefault("created", now())
            files.write_manifest(folder, begun)
            return cls(folder, begun, lock)
        except BaseException:
            lock.release()
            raise

    @staticmethod
    def refuse(path: Path | str, *, overwrite: bool = False) -> None:
        """Refuse what `create` would, before anything is made or measured.

        Raises:
            RunFolderError: The folder holds something else or an earlier run, or cannot be made or written.
        """
        folder = Path(path)
        _refuse(folder, overwrite)
        there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            reason = os.strerror(errno.EACCES if there.is_dir() else errno.ENOTDIR)
            raise RunFolderError(f"cannot write {folder} ({reason}: {there}): name another folder with --output")

    @classmethod
    def resume(cls, path: Path | str, manifest: Mapping[str, Any]) -> Self:
        """Go on with an earlier run; rows measured so far are kept.

        Args:
            path: Folder of the run.
            manifest: Provenance of this session, kept in the list ``resumed`` of the run's manifest.

        Raises:
            RunFolderError: There is no run, it is damaged, or another process writes it.
        """
        folder = Path(path)
        files.read_manifest(folder)
        lock = FolderLock(folder)
        try:
            begun = files.read_manifest(folder)
            _try_the_end(folder)
            _restore_journal(folder)
            begun["resumed"] = [*begun.get("resumed", []), {"created": now(), **manifest}]
            begun["state"] = "running"
            files.write_manifest(folder, begun)
            return cls(folder, begun, lock)
        except BaseException:
            lock.release()
            raise

    def append(self, table: str, rows: Iterable[schema.TableRow]) -> None:
        """Put rows of a measured table (devices, cases, samples, events, ...) on the disk before returning.

        A device or a case may be written again: its last row counts.

        Raises:
            SchemaError: A row does not fit its table.
            RunFolderError: The disk is full or unwritable; earlier rows are untouched.
        """
        self._journal.append(table, rows)

    def append_checks(self, checks: Iterable[CheckRow]) -> None:
        """Put checks on the disk before returning; raises as `append`."""
        self.append("checks", [check._asdict() for check in checks])

    def next_numbers(self) -> tuple[int, int]:
        """The first sample and block numbers that no row of the folder has, for a session to begin with.

        Blocks of two sessions must not be joined, so blocks go on counting as well as samples. A check speaks for
        numbers whose rows a power loss may have taken: they are not given again.
        """
        samples, checks = (journal.read(self._journal.folder, table) for table in ("samples", "checks"))
        return max(_after(samples["sample_id"]), _after(checks["end_sample"] - 1)), _after(samples["block"])

    def require_in_place(self) -> None:
        """Look whether the folder is still there.

        Raises:
            RunFolderError: It was removed.
        """
        if not (self.path / MANIFEST).exists():
            raise RunFolderError(f"{self.path} was removed during the run, and with it what was measured: run it again")

    def note(self, **facts: Any) -> None:
        """Put facts that are found out during the run into its manifest, at once.

        Raises:
            RunFolderError: The disk is full or unwritable, and the manifest is as before.
        """
        self.manifest = {**self.manifest, **facts}
        files.write_manifest(self.path, self.manifest)

    @property
    def journal_bytes(self) -> int:
        """Length of the journal."""
        return self._journal.length

    def write_tables(self, known: dict[str, pd.DataFrame] | None = None) -> dict[str, pd.DataFrame]:
        """Compute summaries and pairs of the rows so far, and write every table; the journal stays the truth.

        Args:
            known: All tables, if they are in memory instead of in the journal.

        Raises:
            RunFolderError: The disk is full or unwritable.
        """
        tables = known or with_derived(read_measured(self.path, self.manifest))
        for name, data in tables.items():
            files.write_parquet(self.path / f"{name}.parquet", data)
        for name in CSV_TABLES:
            files.write_csv(self.path / f"{name}.csv", schema.with_parameters(tables[name]))
        return tables

    def finish(
        self,
        state: Literal["complete", "interrupted"] = "complete",
        known: dict[str, pd.DataFrame] | None = None,
    ) -> Run:
        """Compute summaries and pairs, write every table, then drop the journal and the lock.

        Args:
            state: The run's state from now on.
            known: See `write_tables`.

        Returns:
            The finished run.

        Raises:
            RunFolderError: The disk is full or unwritable; the journal is still there and readable.
        """
        self._journal.sync()
        tables = self.write_tables(known)
        written = {"compilers": compilers(tables["cases"]["kernels"]), files.SHA256: files.sha256(self.path, _FILES)}
        self.manifest = {**self.manifest, "state": state, "finished": now(), **written}
        files.write_manifest(self.path, self.manifest)
        self._journal.close()
        with suppress(OSError):  # a journal that stays says the same as the tables
            _discard_journal(self.path)
        self.close()
        return Run.of_tables(self.path, self.manifest, tables)

    def close(self) -> None:
        """Release the folder without finishing the run; it stays readable and can be resumed."""
        self._journal.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _try_the_end(folder: Path) -> None:
    """Try what the end of a run needs, before anything is measured or thrown away.

    Raises:
        BrokenEnvironment: A package of the analysis or of the tables does not work.
        RunFolderError: The disk is full or unwritable.
    """
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE_BYTES:
        least = f"{LEAST_FREE_BYTES >> 20} MiB at least"
        raise RunFolderError(f"{folder} has {free >> 20} MiB free: make room for {least}, or name another folder")
    try:
        # imported late: these compute summaries and pairs, with packages that nothing else needs
        from xebench.results.analysis import pairs, summaries  # noqa: F401

        files.try_parquet(folder)
    except XebenchError:
        raise
    except Exception as error:
        raise BrokenEnvironment(
            f"tables could not be written at the end ({describe_error(error)}): install pandas, scipy and pyarrow again"
        ) from error


def _restore_journal(folder: Path) -> None:
    """Make the journal of a finished folder again from its tables, complete before it counts."""
    target = folder / journal.FOLDER
    if target.is_dir():
        return
    partial = folder / f".{journal.FOLDER}-restored"
    shutil.rmtree(partial, ignore_errors=True)
    with journal.Journal(partial) as restored:
        for table in schema.MEASURED:
            restored.append_frame(table, files.read_parquet(folder / f"{table}.parquet", table))
        restored.sync()
    try:
        partial.replace(target)
    except OSError as error:  # a file or a link of that name
        raise RunFolderError(f"{target} is no folder ({error.strerror}): remove it") from None


def _discard_journal(folder: Path) -> None:
    # renamed first, so that a half-removed journal is never read
    source, discarded = folder / journal.FOLDER, folder / _DISCARDED
    shutil.rmtree(discarded, ignore_errors=True)
    if source.is_dir():
        source.rename(discarded)
        shutil.rmtree(discarded, ignore_errors=True)


def _discard_run(folder: Path) -> None:
    try:
        _discard_journal(folder)
        for name in [*_FILES, MANIFEST]:  # the manifest last: until then the folder is known as a run
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise RunFolderError(
            f"cannot clear {folder} ({error.strerror}): remove it or name another folder with --output"
        ) from error


def _refuse(folder: Path, overwrite: bool) -> None:
    if (folder / MANIFEST).is_file():
        if not overwrite:
            raise RunFolderError(f"{folder} holds a run already: add --overwrite or --resume, or name another folder")
        return
    try:
        occupied = folder.is_dir() and any(entry.name != NAME for entry in folder.iterdir())
    except OSError as error:
        raise RunFolderError(
            f"{folder} cannot be read ({error.strerror}): name another folder with --output"
        ) from error
    if occupied:
        raise RunFolderError(f"{folder} is not empty and holds no run: name another folder with --output")


def _after(values: pd.Series[Any]) -> int:
    return int(values.max()) + 1 if values.notna().any() else 0
