"""Execute pattern files in a process of its own: ``python -m harness.patterns.reading_worker LOG LIMIT_S FILE...``.

Prints a `Declarations` or a `Refusal` as JSON. What the files print goes to standard error, which nobody reads.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from harness import runtime
from harness.children.ask import leave
from harness.errors import BrokenEnvironment, PatternError
from harness.patterns.declaration import PatternInfo, describe
from harness.patterns.pattern_file import load_file
from harness.patterns.reading import Declarations, Refusal, contents_hash

_HARNESS: Final = Path(__file__).parents[1]
#: Seconds after which the SYCL runtime counts as hung.
_RUNTIME_LIMIT_S: Final = 60.0


def read(files: Sequence[str], begin: Callable[[str], None]) -> Declarations | Refusal:
    """Execute pattern files.

    Args:
        files: paths.
        begin: told each of them before it is executed.
    """
    try:
        runtime.load()
        broken = None
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
        if broken is not None and isinstance(error.__cause__, ImportError):
            return Refusal(str(broken), broken_environment=True)
        return Refusal(str(error), broken_environment=False)
    return Declarations({file: contents_hash(file) for file in _own_modules()} | sources, tuple(patterns))


def _own_modules() -> Iterator[str]:
    """Files of imported modules, but for those of the standard library and of installed packages."""
    library = {Path(sysconfig.get_path(kind)) for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not Path(file).is_file():
            continue
        parents = set(Path(file).parents)
        if _HARNESS in parents or not (parents & library or {"site-packages", "dist-packages"} & set(Path(file).parts)):
            yield file


def main(log_path: str, limit_s: str, *files: str) -> None:
    """Print what the files declare, or why they cannot be read.

    Args:
        log_path: file that gets each path when it is begun, and the stacks at a crash or when time is over.
        limit_s: seconds for each file, after which this process ends.
        files: paths.
    """
    answer = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with Path(log_path).open("w", encoding="utf-8") as log, os.fdopen(answer, "wb") as channel:

        def begin(file: str) -> None:
            print(file, file=log, flush=True)
            faulthandler.dump_traceback_later(float(limit_s), exit=True, file=log)

        faulthandler.enable(log)
        faulthandler.dump_traceback_later(_RUNTIME_LIMIT_S, exit=True, file=log)
        channel.write(msgspec.json.encode(read(files, begin)))


if __name__ == "__main__":
    main(*sys.argv[1:])
    leave(0)
