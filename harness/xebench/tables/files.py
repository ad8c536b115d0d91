"""Single files of a run folder, written all or nothing, read with errors that name file and place."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import pandas as pd

from xebench.errors import RunFolderError
from xebench.tables import schema, upgrade

MANIFEST: Final = "manifest.json"

RunState = Literal["running", "complete", "interrupted"]


class _Head(msgspec.Struct):
    """What makes a JSON object a run's manifest; the rest is provenance that nothing here rests on."""

    schema_version: int
    state: RunState


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write ``content`` as indented JSON in place of ``path``.

    Raises:
        RunFolderError: The disk is full or unwritable; the earlier file is untouched.
    """
    write_text(path, json.dumps(content, indent=2) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write ``text`` in place of ``path``; raises as `write_json` does."""
    _replace(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def write_csv(path: Path, data: pd.DataFrame) -> None:
    """Write ``data`` as CSV in place of ``path``; raises as `write_json` does."""
    _replace(path, lambda temporary: data.to_csv(temporary, index=False))


def write_parquet(path: Path, data: pd.DataFrame) -> None:
    """Write ``data`` as Parquet in place of ``path``; raises as `write_json` does.

    Times rise from row to row: encoded by their differences, a long run takes 40 % of what it does by default.
    """
    encodings = {
        name: "DELTA_BINARY_PACKED" if pd.api.types.is_integer_dtype(dtype) else "BYTE_STREAM_SPLIT"
        for name, dtype in data.dtypes.items()
        if pd.api.types.is_any_real_numeric_dtype(dtype)
    }
    words = [name for name in data.columns if name not in encodings]

    def write(temporary: Path) -> None:
        data.to_parquet(
            temporary,
            engine="pyarrow",
            index=False,
            compression="zstd",
            use_dictionary=words,
            column_encoding=encodings,
        )

    _replace(path, write)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of the run in ``folder``.

    Raises:
        RunFolderError: There is no such folder, it holds no run, or the manifest is damaged, too new or too old.
    """
    path = folder / MANIFEST
    try:
        content = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        if not folder.exists():
            raise RunFolderError(f"there is no run folder {folder}: check the path") from None
        raise RunFolderError(f"{folder} holds no run (no {MANIFEST} in it): check the path") from None
    except OSError as error:
        raise RunFolderError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
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
    if head.schema_version < upgrade.BEFORE:
        raise RunFolderError(
            f"{path} has schema version {head.schema_version} and this xebench reads {upgrade.BEFORE} and "
            f"{schema.SCHEMA_VERSION}: measure again, or read it with the xebench that wrote it"
        )
    return dict(content)


class TableFiles:
    """The tables of a finished run, read one by one when they are asked for.

    Args:
        folder: The run's.
        version: Schema version of the run.

    Raises:
        RunFolderError: A table has no file.
    """

    def __init__(self, folder: Path, version: int) -> None:
        self._folder, self._version = folder, version
        for table in schema.RUN_TABLES:
            path = self._path(table)
            if not path.is_file():
                raise RunFolderError(f"{path} is missing: restore it from a copy of the run")

    def __call__(self, table: str, names: Sequence[str] | None = None) -> pd.DataFrame:
        """The frame of a table, or those columns of it, with the names of today.

        Raises:
            RunFolderError: The file is missing or damaged, or a column of it is wrong.
        """
        return read_parquet(self._path(table), table, self._version, names)

    def _path(self, table: str) -> Path:
        return self._folder / f"{table}.parquet"


def read_parquet(
    path: Path, table: str, version: int = schema.SCHEMA_VERSION, names: Sequence[str] | None = None
) -> pd.DataFrame:
    """The frame of ``table`` in ``path``, with the columns of today.

    Args:
        path: The file.
        table: Its name in the schema.
        version: Schema version of the run.
        names: Columns that are wanted; all by default. Of a run of the version before all are read.

    Raises:
        RunFolderError: The file is missing or damaged, or a column of it is wrong.
    """
    # pyarrow is imported by pandas as well, but only here is its own error needed
    from pyarrow import ArrowException, parquet

    try:
        old = version < schema.SCHEMA_VERSION
        # in this thread alone: a small table costs less so, and no thread's memory stays behind
        wanted = None if old or names is None else [*names]
        data = parquet.read_table(path, columns=wanted, use_threads=False).to_pandas(use_threads=False)
        if old:
            data = upgrade.frame(table, data)
        if names is not None:
            data = data[[name for name in names if name in data]]
        return schema.typed(table, data, names)
    except FileNotFoundError:
        raise RunFolderError(f"{path} is missing: restore it from a copy of the run") from None
    except schema.SchemaError as error:
        raise RunFolderError(f"{path} is damaged: {error}") from error
    except (OSError, ArrowException, ValueError) as error:
        first_line = str(error).partition("\n")[0]
        raise RunFolderError(f"{path} is damaged ({first_line}): restore it from a copy of the run") from error


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    temporary = path.with_name(f".{path.name}.part")
    try:
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
    """What to tell of a file or a folder that a full or unwritable disk has refused."""
    return RunFolderError(
        f"cannot write {path} ({error.strerror or error}): free space or name another folder with --output"
    )
