"""Execute pattern files in a process of its own: ``python -m xebench.patterns.reading_worker LOG LIMIT_S FILE...``.

Prints `Declarations` or a `Refusal` as JSON. What the files print goes to standard error. When this process crashes, or
a file takes longer than LIMIT_S, LOG has the path of the file at work and then the stacks.
"""

from __future__ import annotations

import faulthandler
import hashlib
import os
import sys
from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path
from types import ModuleType

import msgspec

from xebench.errors import BrokenEnvironment, PatternError
from xebench.patterns.declaration import PatternInfo, describe
from xebench.patterns.pattern_file import PACKAGES, load_file
from xebench.patterns.reading import RUNTIME_LIMIT_S, Declarations, Refusal, contents_hash
from xebench.system import PACKAGE, runtime
from xebench.system.children.lifetime import run_as_child


def read(files: Sequence[str], begin: Callable[[str], None]) -> Declarations | Refusal:
    """Execute pattern files.

    Args:
        files: paths.
        begin: told each of them before it is executed.
    """
    broken: BrokenEnvironment | None = None
    try:
        runtime.load()
    except BrokenEnvironment as error:
        broken = error  # a matter only for files that import what cannot be imported
    # before they are executed: a file that changes meanwhile is read again the next time
    sources = {file: contents_hash(file) for file in files if os.access(file, os.R_OK)}
    patterns: list[PatternInfo] = []
    try:
        for file in files:
            begin(file)
            before = set(sys.modules)
            declared = load_file(Path(file))
            imported = _forget_imports(before)
            sources |= {path: contents_hash(path) for path in imported}
            digest = _digest([file, *sorted(imported)])
            patterns += (describe(pattern, digest) for pattern in declared)
    except PatternError as error:
        needs_the_stack = broken is not None and isinstance(error.__cause__, ImportError)
        return Refusal(str(broken if needs_the_stack else error), needs_the_stack)
    return Declarations({file: contents_hash(file) for file in _harness_modules()} | sources, tuple(patterns))


def _forget_imports(before: Container[str]) -> set[str]:
    """List the user's files that a pattern file imported, and unload them, so that the next file imports its own."""
    imported = {name: _file_of(module) for name, module in list(sys.modules.items()) if name not in before}
    own = {name for name, path in imported.items() if _is_users(path) or name.startswith(PACKAGES)}
    for name in own:
        del sys.modules[name]
    return {str(imported[name]) for name in own if imported[name].is_file()}


def _harness_modules() -> Iterator[str]:
    files = map(_file_of, list(sys.modules.values()))
    return (str(path) for path in files if path.is_file() and PACKAGE in path.parents)


def _file_of(module: ModuleType) -> Path:
    return Path(getattr(module, "__file__", None) or "")


def _is_users(path: Path) -> bool:
    """True if a module's file belongs to neither xebench, the standard library nor an installed package."""
    installed = Path(os.__file__).parent in path.parents or {"site-packages", "dist-packages"} & set(path.parts)
    return path.is_file() and PACKAGE not in path.parents and not installed


def _digest(files: Sequence[str]) -> str:
    """A hash of the contents of files; where they lie does not matter."""
    each = (hashlib.sha256(Path(file).read_bytes()).digest() for file in files)
    return hashlib.sha256(b"".join(each)).hexdigest()


def main(arguments: list[str]) -> int:
    """Print what the files declare, or why they cannot be read."""
    log_path, limit_s, *files = arguments
    answer = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with Path(log_path).open("w", encoding="utf-8") as log, os.fdopen(answer, "wb") as channel:

        def begin(file: str, seconds: float = float(limit_s)) -> None:
            log.seek(log.truncate(0))
            print(file, file=log, flush=True)
            faulthandler.dump_traceback_later(seconds, exit=True, file=log)

        faulthandler.enable(log)
        begin("", RUNTIME_LIMIT_S)
        channel.write(msgspec.json.encode(read(files, begin)))
    return 0


if __name__ == "__main__":
    run_as_child(main)
