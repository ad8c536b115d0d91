"""Takes out of a run what says who measured it, and where: paths, users, hosts and addresses.

A path becomes its last part. A user becomes ``user``, a host ``host1``, ``host2``, wherever it stands, so that keys
stay equal in all tables. Whose names these are is found in the run (``/home/NAME``, the hosts that it names) and on the
machine that packs it. A name that is a word of the tables themselves, such as the user ``gpu``, cannot be replaced.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import pwd
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pandas as pd

from xebench import vocabulary
from xebench.tables import schema

#: What neither a folder nor a file of a path may have here: it ends there.
_PART: Final = r"[^\s/'\"`:;,|<>()\[\]{}=\\]+"
_FOLDERS: Final = rf"(?:/|{_PART}(?: {_PART})*/)*"
#: A path from the root or from a home folder, after what is no part of a key such as ``pattern/variant/smoke/-/cpu``.
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
#: Entries of the manifest that are what a user wrote: any slash there is of a path.
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
            manifest: of the run.
            tables: of the run.
            more: words of the user's own that must not be named either.
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
        # a name stands between what is no letter and no digit: in run_alice too
        self._any = re.compile(rf"(?<![^\W_])(?:{'|'.join(longest_first) or '(?!)'})(?![^\W_])", re.IGNORECASE)

    def without(self, text: str) -> str:
        """A text without these names."""
        return self._any.sub(lambda found: self._stand_ins[found[0].lower()], text)


def anonymous(
    manifest: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], more: Iterable[str] = ()
) -> tuple[dict[str, Any], dict[str, pd.DataFrame], list[str]]:
    """A run's manifest and tables without paths, users, hosts and addresses, and the names that had to stay.

    Args:
        manifest: of the run; it is not changed.
        tables: as the schema has them; they are not changed.
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
        text: what a table or the manifest says.
        names: of users and hosts.
        keys: where it stands: a column or an entry of the manifest, and keys of JSON in it.
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
    """Names of the user who packs: the login, the home folder's name, the full name."""
    with contextlib.suppress(OSError, KeyError, ImportError):  # as of a user that the machine has no entry for
        yield getpass.getuser()
    with contextlib.suppress(RuntimeError):
        yield Path.home().name
    with contextlib.suppress(KeyError):
        yield pwd.getpwuid(os.getuid()).pw_gecos.partition(",")[0]


def _hosts() -> Iterator[str]:
    """Where it is packed."""
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
