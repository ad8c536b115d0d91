"""Rows reach the disk as they are measured: one append-only file of JSON lines for each measured table.

Each append is one `write` of whole lines: when the process is killed, the rows of every `append` that came
back are there, and at most the last line is torn. A line counts when it ends in a newline: readers ignore a
torn tail, and a writer that goes on cuts it off first. Each object ends in ``crc32``, that of the line before it, so
that a damaged digit is no other measurement.
"""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

import pandas as pd

from xebench.errors import RunFolderError
from xebench.results import files, schema
from xebench.results.files import cannot_write

FOLDER: Final = "journal"

_CRC: Final = b', "crc32": '

#: Bytes read at once, and the longest row.
_BLOCK_BYTES: Final = 1 << 24


class Journal:
    """The writing side of a journal folder; only one may be open for a folder (`RunWriter` sees to that)."""

    def __init__(self, folder: Path) -> None:
        """Open the journal in ``folder``, which is made if need be; a torn last line is cut off.

        Raises:
            RunFolderError: The folder cannot be written.
        """
        self.folder = folder
        self._files: dict[str, int] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for table in schema.MEASURED:
                self._files[table] = files.open_within(folder, _file(folder, table).name, os.O_APPEND)
                _cut_torn_tail(self._files[table])
        except OSError as error:
            self.close()
            raise cannot_write(folder, error) from error

    def append(self, table: str, rows: Iterable[schema.TableRow]) -> None:
        """Write ``rows`` of ``table`` to the disk; all of them or, when that fails, none.

        Raises:
            SchemaError: A row does not fit the table; nothing is written.
            RunFolderError: The disk is full or unwritable; what was there before is untouched.
        """
        if table not in schema.MEASURED:
            raise schema.SchemaError(f"{table} is not measured: it is computed when the run ends")
        plain = [schema.measured_row(table, row, number) for number, row in enumerate(rows)]
        if plain:
            self._write(table, b"".join(map(_line, plain)))

    @property
    def length(self) -> int:
        """Bytes of all tables together."""
        return sum(os.fstat(file).st_size for file in self._files.values())

    def is_in_place(self) -> bool:
        """True if the open files are still those in the folder, and were not removed."""
        try:
            stats = [(os.fstat(file), _file(self.folder, table).stat()) for table, file in self._files.items()]
        except OSError:
            return False
        return all(os.path.samestat(*pair) for pair in stats)

    def copy_to(self, folder: Path) -> None:
        """Write what was appended so far into a new folder, also when the files were removed.

        Raises:
            RunFolderError: The folder cannot be written.
        """
        try:
            folder.mkdir(parents=True)
            for table, file in self._files.items():
                shutil.copyfile(f"/proc/self/fd/{file}", _file(folder, table))
        except OSError as error:
            raise cannot_write(folder, error) from error

    def sync(self) -> None:
        """Make the operating system write everything to the disk now, against a power loss."""
        for file in self._files.values():
            os.fsync(file)

    def close(self) -> None:
        """Close the files; closing twice is fine."""
        while self._files:
            os.close(self._files.popitem()[1])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _write(self, table: str, data: bytes) -> None:
        file = self._files[table]
        length = os.fstat(file).st_size
        try:
            written = 0
            while written < len(data):
                written += os.write(file, data[written:])
        except OSError as error:
            with suppress(OSError):  # a device file cannot be cut; the reader ignores the torn tail
                os.ftruncate(file, length)
            raise cannot_write(_file(self.folder, table), error) from error


def read(folder: Path, table: str) -> pd.DataFrame:
    """The frame of a measured table in the journal ``folder``, without derived columns; a torn last line is ignored.

    Of several rows for one device or one case the last one counts, at the place of the first.

    Args:
        folder: The journal's.
        table: Its name.

    Raises:
        RunFolderError: A line is no row of the table; the message names file, line and column.
    """
    path = _file(folder, table)
    try:
        data = files.read_bytes(path)
    except FileNotFoundError:
        data = b""
    except OSError as error:
        raise RunFolderError(f"{path} cannot be read: {error.strerror}") from error
    lines = data.split(b"\n")[:-1]
    key = schema.REWRITABLE.get(table)
    if not key and (frame := _read_as_a_whole(table, lines)) is not None:
        return frame
    rows = [_parse(path, table, number, line) for number, line in enumerate(lines, start=1)]
    if key:
        rows = list({key(row): row for row in rows}.values())
    return schema.measured_frame(table, rows)


def _read_as_a_whole(table: str, lines: Sequence[bytes]) -> pd.DataFrame | None:
    """The frame of all lines; None when something is wrong with one of them, which a reader of lines can name.

    A long run has millions of events. This takes a small part of the time that parsing each line takes.
    """
    if not lines:
        return None
    try:
        data = b"\n".join(map(_proved, lines))
    except ValueError:
        return None
    import pyarrow
    from pyarrow import json as arrow_json

    types = {
        "string": pyarrow.string(),
        "Int64": pyarrow.int64(),
        "Float64": pyarrow.float64(),
        "boolean": pyarrow.bool_(),
    }
    declared = schema.columns(table, measured=True)
    arrow_schema = pyarrow.schema([(name, types[column.dtype]) for name, column in declared.items()])
    try:
        whole = arrow_json.read_json(
            pyarrow.BufferReader(data),
            arrow_json.ReadOptions(block_size=_BLOCK_BYTES),
            arrow_json.ParseOptions(explicit_schema=arrow_schema, unexpected_field_behavior="error"),
        )
    except pyarrow.ArrowException:
        return None
    if whole.num_rows != len(lines):
        return None
    if any(column.required and whole[name].null_count for name, column in declared.items()):
        return None
    dtypes = {arrow: pd.api.types.pandas_dtype(name) for name, arrow in types.items()}
    frame: pd.DataFrame = whole.to_pandas(types_mapper=dtypes.get)
    return frame


def _parse(path: Path, table: str, number: int, line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(_proved(line))
        if not isinstance(row, Mapping):
            raise ValueError("not a JSON object")
        return schema.measured_row(table, row, number)
    except (ValueError, RecursionError, schema.SchemaError) as error:
        raise RunFolderError(
            f"{path} is damaged at line {number} ({error}): delete that line to read the rest"
        ) from error


def _line(row: Mapping[str, Any]) -> bytes:
    body = json.dumps(row).encode()[:-1]
    return body + _CRC + b"%d}\n" % zlib.crc32(body)


def _proved(line: bytes) -> bytes:
    """The line without its checksum; earlier runs have none.

    Raises:
        ValueError: the checksum is of another line.
    """
    body, mark, crc = line.rpartition(_CRC)
    if not mark:
        return line
    if crc != b"%d}" % zlib.crc32(body):
        raise ValueError("its checksum differs")
    return body + b"}"


def _file(folder: Path, table: str) -> Path:
    return folder / f"{table}.jsonl"


def _cut_torn_tail(file: int) -> None:
    length = os.fstat(file).st_size
    whole, chunk = length, 1 << 16
    while whole:
        start = max(0, whole - chunk)
        newline = os.pread(file, whole - start, start).rfind(b"\n")
        if newline >= 0:
            whole = start + newline + 1
            break
        whole = start
    if whole < length:
        os.ftruncate(file, whole)
