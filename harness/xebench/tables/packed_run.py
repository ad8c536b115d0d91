"""One file that holds a run: the tables and the manifest of its folder, without what says who measured it, and where.

The file is a zip in which nothing is compressed, as Parquet is already: so its own size bounds what is read of it. It
is read in memory, by the names of its entries that are expected; nothing is ever written for it. The same run gives the
same bytes.
"""

from __future__ import annotations

import hashlib
import io
import struct
import zipfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import pandas as pd

from xebench.errors import RunFolderError
from xebench.tables import files, schema
from xebench.tables.anonymous import anonymous

_ENTRIES: Final = (files.MANIFEST, *(f"{table}.parquet" for table in schema.RUN_TABLES))

#: Of a pack, and of a table of it in memory: the largest run that is kept has 5 MB, and 400 MB.
MOST_BYTES: Final = 1 << 30
MOST_TABLE_BYTES: Final = 4 << 30
MOST_ROWS: Final = 50_000_000

#: The end of a zip: signature, two numbers of disks, entries here and in all, bytes and place of the list, comment.
_END: Final = struct.Struct("<4s4H2LH")
_END_OF_64: Final = b"PK\x06\x07"
_MOST_OF_LIST: Final = 4096

#: Of every entry, the first that a zip can have: it must not say when it was packed.
_WHEN: Final = (1980, 1, 1, 0, 0, 0)


def write(
    path: Path, manifest: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], more: Iterable[str] = ()
) -> list[str]:
    """Write a run as one file without paths, users and hosts; the names that had to stay.

    Args:
        path: of the file; one that is there is replaced.
        manifest: of the run.
        tables: all of them, as today's schema has them.
        more: further words to take out.

    Raises:
        RunFolderError: The file cannot be written.
    """
    clean, data, kept = anonymous(manifest, tables, more)
    state = "complete" if manifest["state"] == "complete" else "interrupted"
    contents = {f"{table}.parquet": _parquet(data[table]) for table in schema.RUN_TABLES}
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    clean |= {"schema_version": schema.SCHEMA_VERSION, "state": state, "packed": True, files.SHA256: sums}
    contents = {files.MANIFEST: files.as_json(clean).encode(), **contents}

    def fill(temporary: Path) -> None:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as pack:
            for name, content in contents.items():
                entry = zipfile.ZipInfo(name, _WHEN)
                entry.external_attr = 0o644 << 16
                pack.writestr(entry, content)

    files.replace(path, fill)
    return kept


def _parquet(data: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    files.to_parquet(data, buffer)
    return buffer.getvalue()


class PackedTables:
    """The tables of a pack, each read when it is first used, like those of a folder.

    Args:
        path: The file.

    Raises:
        RunFolderError: It is no pack of a run, or one of a newer xebench.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.manifest = files.parse_manifest(path, self._content(files.MANIFEST))
        self._sha256 = self.manifest.get(files.SHA256, {})

    def __call__(
        self,
        table: str,
        names: Sequence[str] | None = None,
        samples: Collection[int] | None = None,
        cases: Collection[str] | None = None,
    ) -> pd.DataFrame:
        """Read a table; raises the same errors as `xebench.tables.files.TableFiles`."""
        name = f"{table}.parquet"
        content = self._content(name)
        if self._sha256.get(name) != hashlib.sha256(content).hexdigest():
            raise RunFolderError(f"{self._path} is damaged ({name} is another): ask for the file again")
        where = self._path / name
        version = self.manifest["schema_version"]
        return files.read_parquet(where, table, version, names, samples, cases, content=_checked(where, content))

    def _content(self, name: str) -> bytes:
        """An entry.

        Raises:
            RunFolderError: The file is no pack of a run.
        """
        try:
            if not self._path.is_file():
                raise ValueError("it is no file")
            with self._path.open("rb") as file:
                _check_end(file)
                with zipfile.ZipFile(file) as pack:
                    _check_entries(pack.infolist())
                    return pack.read(name)
        except OSError as error:
            raise RunFolderError(f"{self._path} cannot be read: {error.strerror or error}") from error
        except (ValueError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
            raise RunFolderError(
                f"{self._path} is no run that 'xebench pack-run' has packed ({error}): check the path"
            ) from error


def _check_end(file: BinaryIO) -> None:
    """Look how large a zip says that it is, before its list is read.

    Raises:
        ValueError: it is larger than a run can be, or no zip.
    """
    size = file.seek(0, io.SEEK_END)
    if size > MOST_BYTES:
        raise ValueError(f"it has {size >> 20} MiB and may have {MOST_BYTES >> 20}")
    file.seek(max(0, size - _END.size - 20))
    tail = file.read()
    if len(tail) < _END.size or tail[: -_END.size].startswith(_END_OF_64):
        raise ValueError("it is no such zip")
    signature, _, _, _, entries, bytes_of_list, _, comment = _END.unpack(tail[-_END.size :])
    if signature != b"PK\x05\x06" or comment or entries != len(_ENTRIES) or bytes_of_list > _MOST_OF_LIST:
        raise ValueError("it is no such zip")


def _check_entries(entries: Sequence[zipfile.ZipInfo]) -> None:
    """Raises ValueError unless a zip has what a pack has, each once and as it is."""
    if sorted(entry.filename for entry in entries) != sorted(_ENTRIES):
        raise ValueError("it holds other files than a run has")
    if any(entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1 for entry in entries):
        raise ValueError("its files are compressed or encrypted")
    if any(entry.file_size != entry.compress_size for entry in entries):
        raise ValueError("a file in it is not as large as it says")


def _checked(where: Path, content: bytes) -> BinaryIO:
    """A table's bytes, after a look at what they become in memory.

    Raises:
        RunFolderError: more than a run can have.
    """
    try:
        large = _is_large(content)
    except Exception as error:  # whatever pyarrow raises of bytes that are no table
        raise files.damaged(where, error) from error
    if large:
        raise RunFolderError(f"{where} is larger in memory than a run can be: do not trust the file")
    return io.BytesIO(content)


def _is_large(content: bytes) -> bool:
    """True if a table has more rows or bytes than a run can have; short texts may stand for long ones in Parquet."""
    import pyarrow
    from pyarrow import compute, parquet

    found = parquet.ParquetFile(io.BytesIO(content)).metadata
    whole = sum(found.row_group(number).total_byte_size for number in range(found.num_row_groups))
    if found.num_rows > MOST_ROWS or whole > MOST_TABLE_BYTES:
        return True
    if found.num_rows * whole <= MOST_TABLE_BYTES:
        return False
    arrow = parquet.read_schema(io.BytesIO(content))
    texts = [field.name for field in arrow if pyarrow.types.is_string(field.type)]
    in_words = parquet.ParquetFile(io.BytesIO(content), read_dictionary=texts)
    total = 0
    for name in texts:
        for chunk in in_words.read([name], use_threads=False).column(0).chunks:
            words = chunk if pyarrow.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
            lengths = compute.binary_length(words.dictionary)
            total += compute.sum(compute.take(lengths, words.indices)).as_py() or 0
    return total > MOST_TABLE_BYTES
