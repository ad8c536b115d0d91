"""Single files of a run folder, written all or nothing, read with errors that name file and place."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

import msgspec
import pandas as pd

from xebench.errors import RunFolderError, describe_error, escape_controls, suggestion
from xebench.results import schema

MANIFEST: Final = "manifest.json"

#: Manifest entry with the SHA-256 of its other entries and of each file of a finished run.
SHA256: Final = "sha256"

#: First characters that make a spreadsheet read text as a formula.
_FORMULA: Final = re.compile("[=+@\t-]")
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)

RunState = Literal["running", "complete", "interrupted"]


class _Head(msgspec.Struct):
    """The fields that make a JSON object a run's manifest; nothing here depends on the others."""

    schema_version: int
    state: RunState
    sha256: dict[str, str] = {}
    created: datetime | None = None
    finished: datetime | None = None


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write ``content`` as indented JSON in place of ``path``.

    Raises:
        RunFolderError: The disk is full or unwritable; the earlier file is untouched.
    """
    write_text(path, as_json(content))


def as_json(content: Mapping[str, Any]) -> str:
    """``content`` as indented JSON with a newline at its end."""
    return json.dumps(content, indent=2) + "\n"


def write_manifest(folder: Path, content: Mapping[str, Any]) -> None:
    """Write a run's manifest into its folder; raises as `write_json` does."""
    write_text(folder / MANIFEST, as_manifest(content))


def as_manifest(content: Mapping[str, Any]) -> str:
    """A manifest as JSON, with the SHA-256 of its entries."""
    return as_json({**content, SHA256: {**content.get(SHA256, {}), MANIFEST: _sha256_of_manifest(content)}})


def _sha256_of_manifest(content: Mapping[str, Any]) -> str:
    others = {name: value for name, value in content.get(SHA256, {}).items() if name != MANIFEST}
    rest = {name: value for name, value in content.items() if name != SHA256}
    return hashlib.sha256(as_json({**rest, SHA256: others}).encode()).hexdigest()


def write_text(path: Path, text: str) -> None:
    """Write ``text`` in place of ``path``; raises as `write_json` does."""
    replace(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def write_csv(path: Path, data: pd.DataFrame) -> None:
    """Write ``data`` as CSV in place of ``path``; raises as `write_json` does."""
    write_text(path, as_csv(data))


def as_csv(data: pd.DataFrame) -> str:
    """``data`` as CSV. Text that a spreadsheet would compute stands behind an apostrophe, as spreadsheets write it.

    Control characters are shown: a carriage return would begin another cell.
    """
    texts = data.select_dtypes(exclude="number").columns
    return str(data.assign(**{name: data[name].map(_no_formula) for name in texts}).to_csv(index=False))


def _no_formula(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    # a number stored as text (an axis with both words and numbers) is no formula
    value = escape_controls(value)
    return f"'{value}" if _FORMULA.match(value) and not _NUMBER.fullmatch(value) else value


def write_parquet(path: Path, data: pd.DataFrame) -> None:
    """Write ``data`` as Parquet in place of ``path``; raises as `write_json` does."""
    replace(path, lambda temporary: to_parquet(data, temporary))


def to_parquet(data: pd.DataFrame, target: Path | BinaryIO) -> None:
    """Put ``data`` as Parquet into a file.

    Times rise from row to row: encoded by their differences, a long run takes 40 % of what it does by default.
    """
    encodings = {
        name: "DELTA_BINARY_PACKED" if pd.api.types.is_integer_dtype(dtype) else "BYTE_STREAM_SPLIT"
        for name, dtype in data.dtypes.items()
        if pd.api.types.is_any_real_numeric_dtype(dtype)
    }
    words = [name for name in data.columns if name not in encodings]

    data.to_parquet(
        target,
        engine="pyarrow",
        index=False,
        compression="zstd",
        use_dictionary=words,
        column_encoding=encodings,
        write_page_checksum=True,
    )


def try_parquet(folder: Path) -> None:
    """Write a table of one row as `write_parquet` does, read it, and remove it.

    Raises:
        RunFolderError: The disk is full or unwritable.
        Exception: Whatever pyarrow raises where it cannot do that.
    """
    values = {"string": "a", "Int64": 2**60, "Float64": 0.5, "boolean": True}
    data = pd.DataFrame({dtype: pd.Series([value] * 9, dtype=dtype) for dtype, value in values.items()})
    path = folder / ".trial.parquet"
    try:
        write_parquet(path, data)
        if not _frame(path).equals(data):
            raise ValueError("pyarrow reads another table than it wrote")
    finally:
        with suppress(OSError):
            path.unlink()


def sha256(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of some files of a folder, by name.

    Raises:
        OSError: one cannot be read.
    """
    return {name: _sha256(folder / name) for name in names}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of the run in ``folder``.

    Raises:
        RunFolderError: There is no such folder, it holds no run, or the manifest is damaged, too new or too old.
    """
    path = folder / MANIFEST
    try:
        text = read_bytes(path)
    except (FileNotFoundError, NotADirectoryError):
        inside = folder if folder.is_dir() else folder.parent
        known = [str(each.parent) for each in inside.glob(f"*/{MANIFEST}")]
        advice = suggestion(str(folder), known, "check the path")
        if not folder.exists():
            raise RunFolderError(f"there is no run folder {folder}: {advice}") from None
        raise RunFolderError(f"{folder} holds no run (no {MANIFEST} in it): {advice}") from None
    except OSError as error:
        raise RunFolderError(f"{path} cannot be read: {error.strerror}") from error
    return parse_manifest(path, text)


def parse_manifest(path: Path, text: bytes) -> dict[str, Any]:
    """The manifest in a file's bytes; raises as `read_manifest`."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RunFolderError(f"{path} is damaged ({error}): restore it from a copy of the run") from error
    try:
        head = msgspec.convert(content, _Head)
    except msgspec.ValidationError as error:
        raise RunFolderError(f"{path} is not a run's manifest ({error}): check the path") from None
    if head.schema_version > schema.SCHEMA_VERSION:
        raise RunFolderError(
            f"{path} has schema version {head.schema_version} and this xebench reads up to {schema.SCHEMA_VERSION}: "
            "upgrade xebench"
        )
    if head.schema_version < schema.SCHEMA_VERSION:
        raise RunFolderError(
            f"{path} has schema version {head.schema_version} and this xebench reads {schema.SCHEMA_VERSION}: measure "
            "again, or read it with the xebench that wrote it"
        )
    if head.sha256.get(MANIFEST) not in (None, _sha256_of_manifest(content)):
        raise RunFolderError(f"{path} is damaged (its checksum differs): restore it from a copy of the run")
    return dict(content)


def read_bytes(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        OSError: it cannot be read, or is no file: a pipe or a device may never end.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is no file")
    return path.read_bytes()


class TableFiles:
    """The tables of a finished run, each read when it is first used.

    Args:
        folder: The run's.
        manifest: The run's, with the SHA-256 of its files, since that is written.

    Raises:
        RunFolderError: A table has no file, or one that was cut off.
    """

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self._folder = folder
        self._sha256 = manifest.get(SHA256, {})
        self._verified: dict[str, tuple[int, int]] = {}
        for table in schema.RUN_TABLES:
            path = self._path(table)
            if not path.is_file():
                raise RunFolderError(f"{path} is missing: restore it from a copy of the run")
            if not _has_end(path):
                raise RunFolderError(f"{path} is damaged (its end is missing): restore it from a copy of the run")

    def __call__(
        self,
        table: str,
        names: Sequence[str] | None = None,
        samples: Collection[int] | None = None,
        cases: Collection[str] | None = None,
    ) -> pd.DataFrame:
        """The frame of a table, or those columns of it, with the names of today; or rows of some samples or cases.

        Raises:
            RunFolderError: The file is missing or damaged, or a column of it is wrong.
        """
        path = self._path(table)
        data = read_parquet(path, table, names, samples, cases)
        status = path.stat()
        state = status.st_ino, status.st_mtime_ns
        if self._verified.get(path.name) != state and self._sha256.get(path.name) not in (None, _sha256(path)):
            raise RunFolderError(
                f"{path} is damaged, or the run has gone on since it was loaded: load it again, or restore the file "
                "from a copy of the run"
            )
        self._verified[path.name] = state
        return data

    def _path(self, table: str) -> Path:
        return self._folder / f"{table}.parquet"


def _has_end(path: Path) -> bool:
    """True if a file ends as Parquet files do, as one that was cut off does not: no other table is read for that."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - len(_MAGIC)))
        return file.read() == _MAGIC


#: The last bytes of a Parquet file.
_MAGIC: Final = b"PAR1"


def read_parquet(
    path: Path,
    table: str,
    names: Sequence[str] | None = None,
    samples: Collection[int] | None = None,
    cases: Collection[str] | None = None,
    *,
    content: BinaryIO | None = None,
) -> pd.DataFrame:
    """The frame of ``table`` in ``path``, with the columns of today.

    Args:
        path: The file.
        table: Its name in the schema.
        names: Columns to read; all by default. A column newer than the file is null.
        samples: Numbers of the samples whose rows are read; all by default.
        cases: Values of ``case_id`` whose rows are read, for tables with that column; all by default.
        content: Content of the file, if it is a member of a packed run.

    Raises:
        RunFolderError: The file is missing or damaged, or a column of it is wrong.
    """
    try:
        data = schema.of_today(_frame(content or path, None if names is None else [*names], samples, cases))
        if names is not None:
            data = data[[name for name in names if name in data]]
        return schema.typed(table, data, names)
    except FileNotFoundError:
        raise RunFolderError(f"{path} is missing: restore it from a copy of the run") from None
    except PermissionError as error:
        raise RunFolderError(f"{path} cannot be read ({error.strerror}): let this user read it") from None
    except RunFolderError:
        raise
    except schema.SchemaError as error:
        raise RunFolderError(f"{path} is damaged: {error}") from error
    except Exception as error:  # whatever pyarrow and pandas raise of bytes that are no table of theirs
        raise damaged(path, error) from error


def damaged(path: Path, error: Exception) -> RunFolderError:
    """The error for a file that cannot be read."""
    return RunFolderError(f"{path} is damaged ({describe_error(error)}): restore it from a copy of the run")


def _frame(
    path: Path | BinaryIO,
    columns: Sequence[str] | None = None,
    samples: Collection[int] | None = None,
    cases: Collection[str] | None = None,
) -> pd.DataFrame:
    from pyarrow import parquet

    if columns is not None:
        there = set(parquet.read_schema(path).names)
        columns = [name for name in columns if name in there]
        if not isinstance(path, Path):
            path.seek(0)
    wanted = {"sample_id": samples, "case_id": cases}
    filters = [(name, "in", [*values]) for name, values in wanted.items() if values is not None]
    table = parquet.read_table(
        path,
        columns=columns,
        filters=filters or None,
        partitioning=None,  # a folder "a=b" is no column
        use_threads=False,  # a small table costs less so, and no thread's memory stays behind
        page_checksum_verification=True,
    )
    frame: pd.DataFrame = table.to_pandas(use_threads=False)
    return frame


def open_within(folder: Path, name: str, flags: int = 0) -> int:
    """Open a file of a folder to read and write; create it if needed, and never follow a link.

    Args:
        folder: An existing folder, not a link.
        name: Name of the file.
        flags: Additional flags for `os.open`.

    Raises:
        OSError: It cannot be opened, or is a link, a pipe or a device.
    """
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | flags, 0o644, dir_fd=place)
    finally:
        os.close(place)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "it is no file")
    return file


def replace(path: Path, write: Callable[[Path], object]) -> None:
    """Put what ``write`` makes of a file beside ``path`` in its place; raises as `write_json` does."""
    temporary = path.with_name(f".{path.name}.part")
    try:
        temporary.unlink(missing_ok=True)  # left by a run that was killed, or put there by a stranger as a link
        temporary.touch(exist_ok=False)  # so that no link is followed
        write(temporary)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        with suppress(OSError):  # it is there only when something went wrong
            temporary.unlink()


def cannot_write(path: Path, error: OSError) -> RunFolderError:
    """The error for a file or a folder that a full or read-only disk refused."""
    return RunFolderError(
        f"cannot write {path} ({error.strerror or error}): free space or name another folder with --output"
    )
