"""Declarations of pattern files, read by a child process and kept on disk until a file changes.

A pattern file is a program that needs the SYCL stack, and may print, hang or crash. So it is executed in a process of
its own (`harness.patterns.reading_worker`), and only when its contents or those of a module that it imports are new.
What else it may depend on, such as the environment or installed packages, is not looked at.
"""

from __future__ import annotations

import importlib.util
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from harness import disk_cache
from harness.errors import BrokenEnvironment, PatternError, XebenchError
from harness.patterns.declaration import PatternInfo

#: Seconds that a file may take: the first may import a large stack from a slow disk.
FILE_LIMIT_S: Final = 60.0
#: Seconds for the whole process beside its files. It ends itself when time is over, unless not even that is possible.
_REST_LIMIT_S: Final = 120.0


class Declarations(msgspec.Struct, frozen=True, tag=True):
    """What executing some pattern files gave.

    Attributes:
        sources: a hash of the contents of every file that it depends on: the pattern files, and the modules of the
            project or the user that were imported for them, the harness's own among them. Not those of the standard
            library or of installed packages.
        patterns: what the files declare.
    """

    sources: Mapping[str, bytes]
    patterns: tuple[PatternInfo, ...]

    @property
    def is_current(self) -> bool:
        """Whether none of the files has changed."""
        try:
            return all(contents_hash(path) == known for path, known in self.sources.items())
        except OSError:
            return False


class Refusal(msgspec.Struct, frozen=True, tag=True):
    """Why pattern files cannot be read: a line for the user, and whether it is the environment that is broken."""

    line: str
    broken_environment: bool


def contents_hash(path: str) -> bytes:
    """By what Python itself knows whether bytecode is of a source file."""
    return importlib.util.source_hash(Path(path).read_bytes())


def read(files: Sequence[Path], *, limit_s: float = FILE_LIMIT_S) -> tuple[PatternInfo, ...]:
    """What pattern files declare.

    Args:
        files: resolved paths.
        limit_s: seconds that each may take.

    Raises:
        PatternError: a file fails, crashes, takes too long or declares no complete pattern.
        BrokenEnvironment: a file needs the SYCL stack, which cannot be loaded.
    """
    kept = _kept_file(files)
    declarations = _load(kept)
    if declarations is None:
        declarations = _execute(files, limit_s)
        disk_cache.keep(kept, msgspec.json.encode(declarations))
    return declarations.patterns


def _kept_file(files: Sequence[Path]) -> Path:
    names = "\n".join(map(str, (Path(__file__).parent, *files)))
    return disk_cache.default_folder("patterns") / f"{importlib.util.source_hash(names.encode()).hex()}.json"


def _load(kept: Path) -> Declarations | None:
    try:
        declarations = msgspec.json.decode(kept.read_bytes(), type=Declarations)
    except (OSError, msgspec.MsgspecError):
        return None
    return declarations if declarations.is_current else None


def _execute(files: Sequence[Path], limit_s: float) -> Declarations:
    from harness.children.ask import ask  # it costs milliseconds that a list of known patterns does not have

    with tempfile.NamedTemporaryFile("r", prefix="xebench-", errors="replace") as log:
        arguments = [log.name, str(limit_s), *map(str, files)]
        answer = ask("harness.patterns.reading_worker", arguments, timeout_s=_REST_LIMIT_S + limit_s * len(files))
        if answer.failure is not None:
            raise _how_it_ended(log.read(), answer.failure, limit_s)
    result = msgspec.convert(answer.value, Declarations | Refusal)
    if isinstance(result, Declarations):
        return result
    raise (BrokenEnvironment if result.broken_environment else PatternError)(result.line)


def _how_it_ended(log: str, failure: str, limit_s: float) -> XebenchError:
    """What to tell the user of a child process that ended without an answer.

    Args:
        log: each file's path on a line when it is begun, then the stacks at a crash or when time is over.
        failure: how the process ended.
        limit_s: seconds that each file had.
    """
    before, *of_files = re.split(r"^(?=/)", log, flags=re.MULTILINE)
    stacks = of_files[-1] if of_files else before
    hung = re.search("^Timeout", stacks, re.MULTILINE)
    if not of_files:
        how = "it hangs" if hung else failure
        return BrokenEnvironment(f"the SYCL runtime cannot be loaded ({how}): see 'xebench doctor'")
    how = f"still running after {limit_s:g} s" if hung else failure
    path = stacks.partition("\n")[0]
    line = re.search(rf'File "{re.escape(path)}", line (\d+)', stacks)
    where = Path(path).name + (f":{line[1]}" if line else "")
    return PatternError(f"{where}: {how}, while its declarations were read: mend the pattern file")
