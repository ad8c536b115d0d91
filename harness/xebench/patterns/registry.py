"""Find pattern files, read what they declare, and choose among it.

A pattern file is a program that needs the SYCL stack, and may print, hang or crash. So it is executed in a process of
its own (`xebench.patterns.pattern_file`), and only when its contents or those of a module that it imports are new: what
it declares is kept on disk. What else it may depend on, such as the environment or installed packages, is not looked
at.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from importlib.util import source_hash
from itertools import chain
from pathlib import Path
from typing import Final

import msgspec

from xebench.errors import BrokenEnvironment, PatternError, SharedModule, XebenchError, suggestion
from xebench.patterns.declaration import PatternInfo
from xebench.patterns.installed import installed_files
from xebench.system import PACKAGE, disk_cache, is_own

#: Seconds that a file may take: the first may import a large stack from a slow disk.
FILE_LIMIT_S: Final = 60.0
#: Seconds until the SYCL runtime is loaded.
RUNTIME_LIMIT_S: Final = 60.0


class Declarations(msgspec.Struct, frozen=True, tag=True):
    """The declarations of some pattern files.

    Attributes:
        sources: hash of each source file: the pattern files, and the modules of the user and of this project that they
            import; installed packages are excluded.
        patterns: patterns in the order of the files.
    """

    sources: Mapping[str, bytes]
    patterns: tuple[PatternInfo, ...]


class Refusal(msgspec.Struct, frozen=True, tag=True):
    """The reason why pattern files cannot be read: a line for the user, and the exit status of its error."""

    line: str
    exit_code: int


def contents_hash(path: str) -> bytes:
    """The hash of a source file by which Python itself checks whether bytecode belongs to it."""
    with Path(path).open("rb", 0) as file:  # a buffer would cost more than the bytes of these small files
        return source_hash(file.read())


def read(files: Sequence[Path], *, limit_s: float = FILE_LIMIT_S) -> tuple[PatternInfo, ...]:
    """Read what pattern files declare.

    Args:
        files: resolved paths.
        limit_s: seconds that each may take.

    Raises:
        PatternError: a file fails, crashes, takes too long or declares no complete pattern.
        BrokenEnvironment: a file needs the SYCL stack, which cannot be loaded.
    """
    declarations = _kept(files)
    if declarations is None or not _is_current(declarations.sources):
        declarations = _execute(files, limit_s)
        disk_cache.keep(_kept_file(files), msgspec.json.encode(declarations))
    return declarations.patterns


def read_each(files: Sequence[Path]) -> Iterator[PatternInfo]:
    """Read each of the user's files in a process of its own, so that no file can affect another.

    Raises:
        PatternError, BrokenEnvironment: see `read`.
    """
    if files:
        from xebench.system.children.process import (
            in_threads,  # it costs what a list of the project's patterns need not pay
        )

        yield from chain.from_iterable(in_threads(lambda file: read([file]), files, os.cpu_count() or 1))


def last_read(files: Sequence[Path]) -> tuple[PatternInfo, ...]:
    """The declarations of pattern files at their last reading, even if the files have changed since."""
    declarations = _kept(files)
    return declarations.patterns if declarations else ()


def is_as_declared(info: PatternInfo) -> bool:
    """True if a pattern file of the user's, and all that it imports, is unchanged since it declared a pattern.

    It compares hashes with those that were stored when the file was last read alone. Files of xebench itself are left
    out, as they are loaded. No run reads one of the project's files alone, so what is stored of one may be older than
    the run.
    """
    declarations = _kept([Path(info.source)])
    if declarations is None:
        return True
    own = {path: known for path, known in declarations.sources.items() if not is_own(Path(path))}
    digests = {each.source_sha256 for each in declarations.patterns}
    return info.source_sha256 in digests and _is_current(own)


def sources(files: Sequence[Path]) -> Mapping[str, bytes]:
    """A hash of each file that the declarations of the user's pattern files depended on when they were last read.

    Where nothing can be kept on disk, of the files themselves.
    """
    found: dict[str, bytes] = {}
    for file in files:
        declarations = _kept([file])
        found |= declarations.sources if declarations else {str(file): contents_hash(str(file))}
    return found


def _kept_file(files: Sequence[Path]) -> Path:
    names = "\n".join(map(str, (Path(__file__).parent, *files)))
    return disk_cache.default_folder("patterns") / f"{source_hash(names.encode()).hex()}.json"


def _kept(files: Sequence[Path]) -> Declarations | None:
    try:
        return msgspec.json.decode(_kept_file(files).read_bytes(), type=Declarations)
    except (OSError, ValueError, RecursionError):
        return None


def _is_current(sources: Mapping[str, bytes]) -> bool:
    try:
        return all(contents_hash(path) == known for path, known in sources.items())
    except OSError:
        return False


def _execute(files: Sequence[Path], limit_s: float) -> Declarations:
    import tempfile  # these cost milliseconds that a list of known patterns does not have

    from xebench.system.children import Program
    from xebench.system.children.process import ask

    with tempfile.NamedTemporaryFile("r", prefix="xebench-", errors="replace") as log:
        answer = ask(
            Program.READ_PATTERNS,
            [log.name, str(limit_s), *map(str, files)],
            timeout_s=RUNTIME_LIMIT_S + limit_s * (1 + len(files)),
        )
        if answer.failure is not None:
            raise _how_it_ended(log.read(), answer.failure, limit_s)
    try:
        result = msgspec.convert(answer.value, Declarations | Refusal)
    except msgspec.ValidationError as error:
        names = ", ".join(file.name for file in files)
        raise PatternError(f"{names}: a declared value has the wrong type: {error}: correct the pattern file") from None
    if isinstance(result, Declarations):
        return result
    raise _ERRORS[result.exit_code](result.line)


_ERRORS: Final = {error.exit_code: error for error in (PatternError, BrokenEnvironment, SharedModule)}


def _how_it_ended(log: str, failure: str, limit_s: float) -> XebenchError:
    """Describe how a child ended that did not answer but logged the file at work and its stacks."""
    file, _, stacks = log.partition("\n")
    if not file:
        return BrokenEnvironment(f"the SYCL runtime cannot be loaded ({failure}): see 'xebench doctor'")
    if stacks.startswith("Timeout"):
        failure = f"still running after {limit_s:g} s"
    line = re.search(rf'File "{re.escape(file)}", line (\d+)', stacks)
    where = file + (f":{line[1]}" if line else "")
    return PatternError(f"{where}: {failure}, while its declarations were read: fix the pattern file")


_INSTALLED: Final = PACKAGE.resolve() / "benchmarks"
#: In this package for a wheel, next to it in a source tree; never searched on the path, where another
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


def discover(paths: Iterable[Path] = (), *, builtin: bool = True, installed: bool = False) -> list[PatternInfo]:
    """The built-in patterns and those of ``paths``.

    Args:
        paths: pattern files of the user.
        builtin: True to include the built-in patterns.
        installed: True to include the patterns of installed packages.

    Raises:
        PatternError: two patterns have the same name, or a file cannot be read.
        BrokenEnvironment: a file needs the SYCL stack, which cannot be loaded.
    """
    own_files = [pattern_file(path) for path in (*(installed_files() if installed else ()), *paths)]
    by_name: dict[str, PatternInfo] = {}
    for info in (*(read(builtin_files()) if builtin else ()), *read_each(own_files)):
        other = by_name.setdefault(info.name, info)
        if other.source != info.source:
            raise PatternError(f"two patterns are named {info.name!r}: {other.source} and {info.source}; rename one")
    return list(by_name.values())


def remembered() -> tuple[PatternInfo, ...]:
    """The built-in patterns as they were last read; none if they never were. Nothing is executed."""
    return last_read(builtin_files())


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
    words = {info.name: (info.name, info.chapter, info.source, *ids[info.name]) for info in infos}
    chosen: set[str] = set()
    for glob in globs:
        matching = {name for name in words if any(fnmatchcase(word, glob) for word in words[name])}
        if not matching:
            otherwise = "'xebench list' shows the built-in ones, 'xebench run FILE.py' runs your own"
            advice = suggestion(glob, {word for each in ids for word in (each, *ids[each])}, otherwise)
            if Path(glob).exists():
                advice = f"--path {glob} reads a file's patterns"
            elif own:
                advice = f"your own patterns are {', '.join(own)}"
            raise PatternError(f"no pattern matches {glob!r}: {advice}")
        chosen |= matching
    return [info for info in infos if info.name in chosen]


def select_by_guide(infos: Sequence[PatternInfo], text: str) -> list[PatternInfo]:
    """The patterns about a chapter or section of the guide.

    Args:
        infos: patterns to choose from.
        text: a part of the place's name, in upper or lower case.

    Raises:
        PatternError: no pattern is about such a place; the message names the nearest place with patterns.
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
