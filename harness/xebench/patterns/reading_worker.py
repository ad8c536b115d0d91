"""Execute pattern files in a process of its own: ``python -m xebench.patterns.reading_worker LOG LIMIT_S FILE...``.

Prints `Declarations` or a `Refusal` as JSON. What the files print goes to standard error. When this process crashes, or
a file takes longer than LIMIT_S, LOG has the path of the file at work and then the stacks.
"""

from __future__ import annotations

import faulthandler
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from xebench import runtime
from xebench.children.lifetime import run_as_child
from xebench.errors import BrokenEnvironment, PatternError
from xebench.patterns.declaration import PatternInfo, describe
from xebench.patterns.pattern_file import load_file
from xebench.patterns.reading import RUNTIME_LIMIT_S, Declarations, Refusal, contents_hash


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
            patterns += map(describe, load_file(Path(file)))
    except PatternError as error:
        needs_the_stack = broken is not None and isinstance(error.__cause__, ImportError)
        return Refusal(str(broken if needs_the_stack else error), needs_the_stack)
    return Declarations({file: contents_hash(file) for file in _own_modules()} | sources, tuple(patterns))


def _own_modules() -> Iterator[str]:
    """Files of imported modules, but for those of the standard library and of installed packages."""
    harness, library = Path(__file__).parents[1], Path(os.__file__).parent
    for path in [Path(getattr(module, "__file__", None) or "") for module in list(sys.modules.values())]:
        installed = library in path.parents or {"site-packages", "dist-packages"} & set(path.parts)
        if path.is_file() and (harness in path.parents or not installed):
            yield str(path)


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
