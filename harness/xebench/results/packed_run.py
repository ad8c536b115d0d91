"""One file that holds a run: its tables and manifest, without the names of its user, host and folders.

A path becomes its last part. A user becomes ``user``, a host ``host1``, ``host2``, wherever it stands, so that keys
stay equal in all tables. Whose names these are is found in the run (``/home/NAME``, the hosts that it names) and on the
machine that packs it. A name that is a word of the tables themselves, such as the user ``gpu``, cannot be replaced.

The file is a zip in which nothing is compressed, as Parquet is already: so its own size bounds what is read of it. It
is read in memory, by the names of its entries that are expected; nothing is ever written for it. The same run gives the
same bytes.
"""

from __future__ import annotations

import contextlib
import getpass
import hashlib
import io
import json
import os
import pwd
import re
import socket
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd

from xebench import vocabulary
from xebench.errors import RunFolderError
from xebench.results import files, schema

#: One component of a path; a path ends at these characters.
_PART: Final = r"[^\s/'\"`:;,|<>()\[\]{}=\\]+"

_FOLDERS: Final = rf"(?:/|{_PART}(?: {_PART})*/)*"
#: An absolute path or one from a home folder, but no part of a key such as ``pattern/variant/smoke/-/cpu``.
_PATH: Final = re.compile(
    rf"(?:(?<=-[A-Za-z])|(?<![\w./)\]}}~-]))(?:~[\w.-]*|\.{{1,2}})?/(?={_PART}){_FOLDERS}(?P<last>{_PART})?"
)

_HOME: Final = re.compile(rf"/(?:home|Users)/({_PART})")

_URL: Final = re.compile(r"\b[A-Za-z][\w+.-]*://[^\s'\"<>]+")

_MAIL: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")

_NUMBER: Final = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"

_IP: Final = re.compile(rf"(?<![\w.])(?:{_NUMBER}\.){{3}}{_NUMBER}(?::\d+)?(?![\w.])")

_RELATIVE: Final = re.compile(r"[^=\s]*/")

#: Versions that may look like an address.
_VERSIONS: Final = ("driver_version", "drivers", "packages")
#: Manifest entries written by the user: any slash in them belongs to a path.
_WRITTEN: Final = ("command", "paths")

_EVERYBODYS: Final = ("localhost", "root", "localdomain")


class Names:
    """The users and hosts that a run must not name, and what stands for each.

    Attributes:
        kept: names that stay, as they are words of the tables too.
    """

    def __init__(self, manifest: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], more: Iterable[str]) -> None:
        """Find them.

        Args:
            manifest: manifest of the run.
            tables: tables of the run by name.
            more: further words to take out, given by the user.
        """
        texts = [json.dumps(manifest, ensure_ascii=False), *(text for _, column in _texts(tables) for text in column)]
        users = {name for text in texts for name in _HOME.findall(text)} | set(_users())
        hosts = dict.fromkeys([*tables["devices"]["host"].dropna(), *manifest.get("hosts", {}), *_hosts()])
        stand_ins = dict.fromkeys(users, "user") | dict.fromkeys(more, "removed")
        for number, name in enumerate(hosts, start=1):
            for own in {name, name.partition(".")[0]}:
                stand_ins.setdefault(own, f"host{number}")
        words = _words(tables["cases"])
        asked = {name.lower(): stand_in for name, stand_in in stand_ins.items() if len(name) > 1}
        self.kept = sorted(name for name in asked if name in words and name not in _EVERYBODYS)
        self._stand_ins = {name: stand_in for name, stand_in in asked.items() if name not in {*words, *_EVERYBODYS}}
        longest_first = sorted(map(re.escape, self._stand_ins), key=len, reverse=True)
        # a name ends at anything but letters and digits, as in run_alice
        self._any = re.compile(rf"(?<![^\W_])(?:{'|'.join(longest_first) or '(?!)'})(?![^\W_])", re.IGNORECASE)

    def without(self, text: str) -> str:
        """A text without these names."""
        return self._any.sub(lambda found: self._stand_ins[found[0].lower()], text)


def anonymous(
    manifest: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], more: Iterable[str] = ()
) -> tuple[dict[str, Any], dict[str, pd.DataFrame], list[str]]:
    """A run's manifest and tables without paths, users, hosts and addresses, and the names that had to stay.

    Args:
        manifest: manifest of the run; not modified.
        tables: tables of the run by name, as the schema declares them; not modified.
        more: further words to take out, such as a project's name.
    """
    names = Names(manifest, tables, more)
    columns = {table: dict(_cleaned(data, names)) for table, data in tables.items()}
    clean = {table: data.assign(**columns[table]) for table, data in tables.items()}
    return _in_json(manifest, lambda text, keys: _clean(text, names, keys)), clean, names.kept


def _cleaned(data: pd.DataFrame, names: Names) -> Iterator[tuple[str, Any]]:
    for name in data.select_dtypes(include=["string", "object"]).columns:
        codes, texts = pd.factorize(data[name])
        plain = [_clean_cell(str(text), names, name) for text in texts]
        yield name, pd.array([plain[code] if code >= 0 else None for code in codes], dtype="string")


def _clean_cell(text: str, names: Names, column: str) -> str:
    if text[:1] in "[{":
        with contextlib.suppress(ValueError):
            parsed = json.loads(text)
            clean = _in_json(parsed, lambda leaf, keys: _clean(leaf, names, (column, *keys)))
            return text if clean == parsed else json.dumps(clean)
    return _clean(text, names, (column,))


def _in_json(value: Any, change: Callable[[str, tuple[str, ...]], str], keys: tuple[str, ...] = ()) -> Any:
    """A value of JSON with every text of it changed, the keys of objects too."""
    if isinstance(value, str):
        return change(value, keys)
    if isinstance(value, Mapping):
        return {change(key, ()): _in_json(each, change, (*keys, key)) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_in_json(each, change, keys) for each in value]
    return value


def _clean(text: str, names: Names, keys: tuple[str, ...]) -> str:
    """A text without paths, addresses and names.

    Args:
        text: a text of a table or the manifest.
        names: names of users and hosts.
        keys: path to the text: the column or manifest entry, then keys of JSON inside it.
    """
    text = _URL.sub("address", text)
    if text.startswith(("/", "~/")) and "\n" not in text and ": " not in text:  # a path as a whole, with its spaces
        text = text.rstrip("/").rpartition("/")[2]
    text = _PATH.sub(lambda found: found["last"] or "", text)
    if any(key in _WRITTEN for key in keys):
        text = _RELATIVE.sub("", text)
    text = names.without(_MAIL.sub("address", names.without(text)))
    return text if any(key in _VERSIONS for key in keys) else _IP.sub("address", text)


def _texts(tables: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, Iterable[str]]]:
    for data in tables.values():
        for name in data.select_dtypes(include=["string", "object"]).columns:
            yield name, map(str, data[name].dropna().unique())


def _users() -> Iterator[str]:
    """Names of the packing user: the login, the home folder's name, the full name."""
    with contextlib.suppress(OSError, KeyError, ImportError):  # as of a user that the machine has no entry for
        yield getpass.getuser()
    with contextlib.suppress(RuntimeError):
        yield Path.home().name
    with contextlib.suppress(KeyError):
        yield pwd.getpwuid(os.getuid()).pw_gecos.partition(",")[0]


def _hosts() -> Iterator[str]:
    """Names of the host that packs."""
    yield socket.gethostname()


def _words(cases: pd.DataFrame) -> set[str]:
    """Words that tables consist of: words of the schema, and names of built-in patterns and their parameters."""
    own = cases[cases["source"].fillna("").str.startswith("benchmarks/")]
    texts = {text for name in ("pattern", "variant", "chapter", "preset") for text in own[name].dropna().unique()}
    texts |= {key for text in own["parameters"].dropna().unique() for key in json.loads(text)}
    texts |= {name for table in schema.TABLES for name in (table, *schema.columns(table))}
    texts |= {str(each) for kind in vars(vocabulary).values() if isinstance(kind, type) for each in _members(kind)}
    return {word for text in texts for word in re.split(r"[\W_]+", text.lower()) if word}


def _members(kind: type) -> Iterable[Any]:
    return getattr(kind, "__members__", {}).values()


#: Date of every entry, the earliest that a zip allows: packing leaves no time stamps.
_WHEN: Final = (1980, 1, 1, 0, 0, 0)


def write(
    path: Path, manifest: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], more: Iterable[str] = ()
) -> list[str]:
    """Write a run as one file without paths, users and hosts, and return the names that had to stay.

    Args:
        path: destination; an existing file is replaced.
        manifest: manifest of the run.
        tables: all tables of the run, in the current schema.
        more: further words to take out.

    Raises:
        RunFolderError: The file cannot be written.
    """
    clean, data, kept = anonymous(manifest, tables, more)
    state = "complete" if manifest["state"] == "complete" else "interrupted"
    contents = {f"{table}.parquet": _parquet(data[table]) for table in schema.RUN_TABLES}
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    clean |= {"schema_version": schema.SCHEMA_VERSION, "state": state, "packed": True, files.SHA256: sums}
    contents = {files.MANIFEST: files.as_manifest(clean).encode(), **contents}

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
        """Read a table; raises the same errors as `xebench.results.files.TableFiles`."""
        name = f"{table}.parquet"
        content = self._content(name)
        if self._sha256.get(name) != hashlib.sha256(content).hexdigest():
            raise RunFolderError(f"{self._path} is damaged: the checksum of {name} differs: ask for the file again")
        where = self._path / name
        return files.read_parquet(where, table, names, samples, cases, content=io.BytesIO(content))

    def _content(self, name: str) -> bytes:
        """An entry.

        Raises:
            RunFolderError: The file is no pack of a run.
        """
        try:
            if not self._path.is_file():
                raise ValueError("it is no file")
            with zipfile.ZipFile(self._path) as pack:
                return pack.read(name)
        except OSError as error:
            raise RunFolderError(f"{self._path} cannot be read: {error.strerror or error}") from error
        except (ValueError, KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
            raise RunFolderError(
                f"{self._path} is no run that 'xebench pack-run' has packed ({error}): check the path"
            ) from error
