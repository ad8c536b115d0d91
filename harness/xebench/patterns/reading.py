"""Declarations of pattern files, read by a child process and kept on disk until a file changes.

A pattern file is a program that needs the SYCL stack, and may print, hang or crash. So it is executed in a process of
its own (`xebench.patterns.pattern_file`), and only when its contents or those of a module that it imports are new.
What else it may depend on, such as the environment or installed packages, is not looked at.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import source_hash
from itertools import chain
from pathlib import Path
from typing import Final

import msgspec

from xebench.errors import BrokenEnvironment, PatternError, XebenchError
from xebench.patterns.declaration import PatternInfo
from xebench.system import PACKAGE, disk_cache

#: Seconds that a file may take: the first may import a large stack from a slow disk.
FILE_LIMIT_S: Final = 60.0
#: Seconds until the SYCL runtime is loaded.
RUNTIME_LIMIT_S: Final = 60.0


class Declarations(msgspec.Struct, frozen=True, tag=True):
    """The declarations of some pattern files.

    Attributes:
        sources: a hash of each file that this depends on: the pattern files, and the modules of the user and the
            project, the harness's own among them, that were imported meanwhile; none that is installed.
        patterns: in the files' order.
    """

    sources: Mapping[str, bytes]
    patterns: tuple[PatternInfo, ...]


class Refusal(msgspec.Struct, frozen=True, tag=True):
    """Why pattern files cannot be read: a line for the user, and whether it is the environment that is broken."""

    line: str
    broken_environment: bool


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


def remembered(files: Sequence[Path]) -> tuple[PatternInfo, ...]:
    """The declarations of pattern files at their last reading, even if the files have changed since."""
    declarations = _kept(files)
    return declarations.patterns if declarations else ()


def is_as_declared(info: PatternInfo) -> bool:
    """True if a pattern file of the user's, and all that it imports, is unchanged since it declared a pattern.

    It is judged by what reading that file alone left on disk, but for this package: it is loaded. No run reads one of
    the project's files alone, so what is left of one may be older than the run.
    """
    declarations = _kept([Path(info.source)])
    if declarations is None:
        return True
    own = {path: known for path, known in declarations.sources.items() if PACKAGE not in Path(path).parents}
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
        raise PatternError(f"{names}: what it declares is of the wrong type: {error}: mend the pattern file") from None
    if isinstance(result, Declarations):
        return result
    raise (BrokenEnvironment if result.broken_environment else PatternError)(result.line)


def _how_it_ended(log: str, failure: str, limit_s: float) -> XebenchError:
    """Describe how a child ended that did not answer but logged the file at work and its stacks."""
    file, _, stacks = log.partition("\n")
    if not file:
        return BrokenEnvironment(f"the SYCL runtime cannot be loaded ({failure}): see 'xebench doctor'")
    if stacks.startswith("Timeout"):
        failure = f"still running after {limit_s:g} s"
    line = re.search(rf'File "{re.escape(file)}", line (\d+)', stacks)
    where = Path(file).name + (f":{line[1]}" if line else "")
    return PatternError(f"{where}: {failure}, while its declarations were read: mend the pattern file")
