"""Find pattern files and choose among what they declare."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from xebench.errors import PatternError, suggestion
from xebench.patterns import reading
from xebench.patterns.declaration import PatternInfo
from xebench.patterns.reading import read
from xebench.system import PACKAGE

_INSTALLED: Final = PACKAGE.resolve() / "benchmarks"
#: In this package where a wheel brought it, beside it in a source tree; never looked for on the path, where another
#: package may have the name.
BENCHMARKS: Final = _INSTALLED if _INSTALLED.is_dir() else _INSTALLED.parents[2] / "benchmarks"


def builtin_files() -> list[Path]:
    """Pattern files of the project, one folder a chapter, in a stable order.

    ``common`` is no chapter: it has what several pattern files need.

    Raises:
        PatternError: there are none.
    """
    files = sorted(path for path in BENCHMARKS.glob("*/*.py") if path.parent.name != "common")
    if not files:
        raise PatternError(f"no pattern files in {BENCHMARKS}: install xebench again")
    return files


def is_builtin(source: str) -> bool:
    """True for a pattern file of the project."""
    return Path(source).is_relative_to(BENCHMARKS)


def portable_source(source: str) -> str:
    """A pattern's file for a record: built-in ones as ``benchmarks/slm/...``, whatever machine they lie on."""
    return Path(source).relative_to(BENCHMARKS.parent).as_posix() if is_builtin(source) else source


def portable_text(text: str) -> str:
    """A line for a record, in which built-in pattern files are named as `portable_source` does."""
    return text.replace(f"{BENCHMARKS}/", f"{BENCHMARKS.name}/")


def local_source(portable: str) -> str:
    """The file on this machine that `portable_source` names."""
    path = Path(portable)
    return portable if path.is_absolute() else str(BENCHMARKS.parent / path)


def discover(paths: Iterable[Path] = (), *, builtin: bool = True) -> list[PatternInfo]:
    """The built-in patterns and those of ``paths``.

    Args:
        paths: pattern files of the user's.
        builtin: whether the built-in ones are among them.

    Raises:
        PatternError: two patterns have the same name, or a file cannot be read.
        BrokenEnvironment: a file needs the SYCL stack, which cannot be loaded.
    """
    own_files = [pattern_file(path) for path in paths]
    by_name: dict[str, PatternInfo] = {}
    for info in (*(read(builtin_files()) if builtin else ()), *reading.read_each(own_files)):
        other = by_name.setdefault(info.name, info)
        if other.source != info.source:
            raise PatternError(f"two patterns are named {info.name!r}: {other.source} and {info.source}; rename one")
    return list(by_name.values())


def remembered() -> tuple[PatternInfo, ...]:
    """The built-in patterns as they were last read; none if they never were. Nothing is executed."""
    return reading.remembered(builtin_files())


def pattern_file(path: Path) -> Path:
    """The whole path of a user's pattern file.

    Raises:
        PatternError: it is no file of Python.
    """
    if not path.is_file():
        raise PatternError(f"no pattern file at {path}: give the path of a Python file that declares patterns")
    if path.suffix != ".py":
        raise PatternError(f"{path} is no Python file: give one that declares patterns, with a name that ends in .py")
    return path.resolve()


def select(infos: Sequence[PatternInfo], globs: Sequence[str]) -> list[PatternInfo]:
    """The patterns whose name, chapter or a catalogue id matches one of ``globs``; all when there is none.

    Raises:
        PatternError: a glob matches nothing.
    """
    if not globs:
        return list(infos)
    from xebench.patterns.declaration import covered_entries  # a list of all patterns needs no catalogue

    ids = {info.name: (*info.catalogue, *(entry.id for entry in covered_entries(info.catalogue))) for info in infos}
    own = [info.name for info in infos if not is_builtin(info.source)]
    words = {info.name: (info.name, info.chapter, *ids[info.name]) for info in infos}
    chosen: set[str] = set()
    for glob in globs:
        matching = {name for name in words if any(fnmatchcase(word, glob) for word in words[name])}
        if not matching:
            advice = suggestion(glob, set().union(*words.values()), "'xebench list' shows their names")
            if Path(glob).exists():
                advice = f"--path {glob} reads a file's patterns"
            elif own:
                advice = f"the files of --path declare {', '.join(own)}"
            raise PatternError(f"no pattern matches {glob!r}: {advice}")
        chosen |= matching
    return [info for info in infos if info.name in chosen]


def select_by_guide(infos: Sequence[PatternInfo], text: str) -> list[PatternInfo]:
    """The patterns about a chapter or section of the guide.

    Args:
        infos: to choose from.
        text: a part of the place's name, in upper or lower case.

    Raises:
        PatternError: no pattern is about such a place; names the nearest one that has patterns.
    """
    from xebench.patterns.declaration import sections

    places = {info.name: sections(info) for info in infos}
    chosen = [info for info in infos if any(text.lower() in place.lower() for place in places[info.name])]
    if chosen:
        return chosen
    from difflib import get_close_matches  # costs a millisecond that only a mistake needs

    known = {part.lower(): part for own in places.values() for place in own for part in place.split(" / ")}
    nearest = get_close_matches(text.lower(), sorted(known), n=1, cutoff=0)
    advice = f"the nearest section is {known[nearest[0]]!r}" if nearest else "'xebench list' shows all"
    raise PatternError(f"no pattern is about {text!r} of the guide: {advice}")
