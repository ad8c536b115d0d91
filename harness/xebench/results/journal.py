"""Rows reach the disk as they are measured: Arrow IPC streams, one for each measured table and session of a run.

Each append is one `write` of a whole record batch: when the process is killed, the rows of every `append` that came
back are there. A session, which begins or resumes a run, has files of its own, so that what an earlier one left is
never written again. Each batch has a CRC-32 of itself and the schema in its metadata. The last batch of a stream counts
as torn if it cannot be read or its checksum differs, and readers ignore it; elsewhere that is damage.
"""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

import pandas as pd
import pyarrow
from pyarrow import ipc

from xebench.errors import RunFolderError
from xebench.records.points import rows
from xebench.results import files, schema
from xebench.results.files import cannot_write

FOLDER: Final = "journal"

_CRC: Final = b"xebench.crc32"

#: Rows in a batch of a whole table.
_BATCH_ROWS: Final = 10_000

_TYPES: Final = {
    "string": pyarrow.string(),
    "Int64": pyarrow.int64(),
    "Float64": pyarrow.float64(),
    "boolean": pyarrow.bool_(),
}
_DTYPES: Final = {arrow: pd.api.types.pandas_dtype(name) for name, arrow in _TYPES.items()}


class Journal:
    """The writing side of a journal folder; only one may be open for a folder (`RunWriter` sees to that)."""

    def __init__(self, folder: Path) -> None:
        """Open the journal in ``folder``, which is made if need be, and begin a stream for each table.

        Raises:
            RunFolderError: The folder cannot be written.
        """
        self.folder = folder
        self._files: dict[str, int] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            earlier = [path.name for table in schema.MEASURED for path in _paths(folder, table)]
            session = 1 + max((int(name.split(".")[1]) for name in earlier), default=0)
            self._names = {table: f"{table}.{session:04}.arrows" for table in schema.MEASURED}
            for name in (*earlier, *self._names.values()):
                self._files[name] = files.open_within(folder, name, os.O_APPEND)
        except OSError as error:
            self.close()
            raise cannot_write(folder, error) from error

    def append(self, table: str, content: Iterable[schema.TableRow]) -> None:
        """Write the rows ``content`` of ``table`` to the disk; all of them or, when that fails, none.

        Raises:
            SchemaError: A row does not fit the table; nothing is written.
            RunFolderError: The disk is full or unwritable; what was there before is untouched.
        """
        if table not in schema.MEASURED:
            raise schema.SchemaError(f"{table} is not measured: it is computed when the run ends")
        plain = [schema.measured_row(table, row, number) for number, row in enumerate(content)]
        if plain:
            self._write(table, pyarrow.RecordBatch.from_pylist(plain, _schema(table)))

    def append_frame(self, table: str, data: pd.DataFrame) -> None:
        """Write the measured columns of a whole table; raises as `append`."""
        whole = pyarrow.Table.from_pandas(data, _schema(table), preserve_index=False)
        for batch in whole.to_batches(_BATCH_ROWS):
            self._write(table, batch)

    @property
    def length(self) -> int:
        """Bytes of all tables together."""
        return sum(os.fstat(file).st_size for file in self._files.values())

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

    def _write(self, table: str, batch: pyarrow.RecordBatch) -> None:
        file = self._files[self._names[table]]
        length = os.fstat(file).st_size
        stream = io.BytesIO()
        ipc.new_stream(stream, batch.schema).write_batch(batch, custom_metadata={_CRC: _checksum(batch)})
        data = stream.getvalue()[len(batch.schema.serialize()) if length else 0 :]
        try:
            written = 0
            while written < len(data):
                written += os.write(file, data[written:])
        except OSError as error:
            with suppress(OSError):  # a device file cannot be cut; the reader ignores the torn tail
                os.ftruncate(file, length)
            raise cannot_write(self.folder / self._names[table], error) from error


def read(folder: Path, table: str) -> pd.DataFrame:
    """The frame of a measured table in the journal ``folder``, without derived columns; a torn end is ignored.

    Of several rows for one device or one case the last one counts, at the place of the first.

    Args:
        folder: The journal's.
        table: Its name.

    Raises:
        RunFolderError: A file holds something else, or an earlier version's rows; the message names it.
    """
    if (older := folder / f"{table}.jsonl").exists():
        raise RunFolderError(f"{older} is a journal of an earlier xebench: resume the run with that version")
    frames = [_read(path, table) for path in _paths(folder, table)]
    frame = pd.concat([schema.measured_frame(table, []), *frames], ignore_index=True)
    if key := schema.REWRITABLE.get(table):
        last = {key(row): place for place, row in enumerate(rows(frame))}
        frame = frame.iloc[[*last.values()]].reset_index(drop=True)
    return frame


def _read(path: Path, table: str) -> pd.DataFrame:
    try:
        data = files.read_bytes(path)
    except OSError as error:
        raise RunFolderError(f"{path} cannot be read: {error.strerror}") from error
    measured = schema.columns(table, measured=True)
    if not (batches := [*_batches(path, data)]):
        return schema.measured_frame(table, [])
    try:
        frame = pyarrow.Table.from_batches(batches).to_pandas(types_mapper=_DTYPES.get)
        return schema.typed(table, schema.of_today(frame), [*measured])
    except (pyarrow.ArrowException, schema.SchemaError) as error:
        raise files.damaged(path, error) from error


def _batches(path: Path, data: bytes) -> Iterator[pyarrow.RecordBatch]:
    """The batches before the end of a stream, or before a torn last one."""
    left = data.count(_CRC)
    try:
        stream = ipc.open_stream(data)
        while True:
            batch, metadata = stream.read_next_batch_with_custom_metadata()
            batch.validate(full=True)
            if metadata is None or metadata.get(_CRC) != _checksum(batch):
                raise pyarrow.ArrowInvalid("its checksum differs")
            left -= 1
            yield batch
    except (StopIteration, pyarrow.ArrowException, OSError) as error:
        if left > 1:
            raise files.damaged(path, error) from error


def _paths(folder: Path, table: str) -> list[Path]:
    return sorted(folder.glob(f"{table}.[0-9]*.arrows"))


def _schema(table: str) -> pyarrow.Schema:
    return pyarrow.schema(
        [(name, _TYPES[column.dtype]) for name, column in schema.columns(table, measured=True).items()]
    )


def _checksum(batch: pyarrow.RecordBatch) -> bytes:
    return b"%d" % zlib.crc32(batch.serialize(), zlib.crc32(batch.schema.serialize()))
