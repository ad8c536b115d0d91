"""Find pattern files, read their declarations, and choose among them."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from harness.errors import PatternError
from harness.patterns.declaration import PatternInfo, describe
from harness.patterns.pattern import Pattern
from harness.patterns.standin import stand_ins

#: Seconds after which a pattern file that is read with the real packages counts as hung; most are for their import.
READ_TIMEOUT_S: Final = 120.0


def _builtin_root() -> Path:
    spec = importlib.util.find_spec("benchmarks")
    if spec is None or not spec.submodule_search_locations:
        raise PatternError("the package 'benchmarks' is not installed: run 'make install'")
    return Path(next(iter(spec.submodule_search_locations)))


def builtin_files() -> list[Path]:
    """Pattern files of the ``benchmarks`` package, one folder a family, in a stable order."""
    return sorted(path for path in _builtin_root().glob("*/*.py") if not path.name.startswith("_"))


def portable_source(source: str) -> str:
    """A pattern's file for a record: built-in ones as ``benchmarks/slm/...``, whatever machine they lie on."""
    path, root = Path(source), _builtin_root()
    return path.relative_to(root.parent).as_posix() if path.is_relative_to(root) else source


def load_file(path: Path, *, declarations_only: bool = False) -> list[Pattern]:
    """Execute a pattern file and give its patterns.

    Args:
        path: the file.
        declarations_only: heavy packages are stand-ins (see :mod:`harness.patterns.standin`).

    Raises:
        PatternError: the file is missing, fails, or declares no complete pattern.
    """
    path = Path(path).resolve()
    if not path.is_file():
        raise PatternError(f"no pattern file at {path}: give the path of a Python file that declares patterns")
    spec = importlib.util.spec_from_file_location(f"xebench_pattern_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        with stand_ins() if declarations_only else nullcontext():
            spec.loader.exec_module(module)
    except PatternError:
        raise
    except Exception as error:
        line = _line_in(path, error)
        raise PatternError(
            f"{path.name}{line}: {type(error).__name__}: {str(error).partition(chr(10))[0]}: mend the pattern file"
        ) from error
    patterns = [value for value in vars(module).values() if isinstance(value, Pattern)]
    if not patterns:
        raise PatternError(f"{path} declares no pattern: create one with 'pattern = Pattern(...)'")
    for pattern in patterns:
        pattern.complete()
    return patterns


def _line_in(path: Path, error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f":{error.lineno}"
    trace, line = error.__traceback__, ""
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = f":{trace.tb_lineno}"
        trace = trace.tb_next
    return line


def declarations(path: Path) -> list[PatternInfo]:
    """The declarations of a file, read without the SYCL stack.

    A file whose top level computes with a heavy package cannot be read with stand-ins; it is read by a process of
    its own, which has the real packages.

    Raises:
        PatternError: as :func:`load_file`.
    """
    try:
        return [describe(pattern) for pattern in load_file(path, declarations_only=True)]
    except PatternError as error:
        if isinstance(error.__cause__, SyntaxError) or not Path(path).is_file():
            raise
    return _declarations_elsewhere(path)


def _declarations_elsewhere(path: Path) -> list[PatternInfo]:
    from harness.children.ask import ask  # it costs milliseconds that 'xebench list' does not have

    answer = ask("harness.patterns.describe", [str(path)], timeout_s=READ_TIMEOUT_S)
    if answer.failure is not None:
        named = path.name in answer.failure
        raise PatternError(answer.failure if named else f"{path} could not be read: {answer.failure}")
    return [PatternInfo.from_json(item) for item in answer.value]


def discover(paths: Iterable[Path] = ()) -> list[PatternInfo]:
    """The built-in patterns and those of ``paths``.

    Raises:
        PatternError: two patterns have the same name, or a file cannot be read.
    """
    found: dict[str, PatternInfo] = {}
    for path in [*builtin_files(), *paths]:
        for info in declarations(path):
            if info.name in found and found[info.name].source != info.source:
                raise PatternError(
                    f"two patterns are named {info.name!r}: {found[info.name].source} and {info.source}; rename one"
                )
            found[info.name] = info
    return list(found.values())


def select(infos: Sequence[PatternInfo], globs: Sequence[str]) -> list[PatternInfo]:
    """The patterns whose name, family or a catalogue id matches one of ``globs``; all when there is none.

    Raises:
        PatternError: a glob matches nothing.
    """
    if not globs:
        return list(infos)
    chosen: dict[str, PatternInfo] = {}
    for glob in globs:
        hits = [i for i in infos if any(fnmatchcase(word, glob) for word in (i.name, i.family, *i.catalogue))]
        if not hits:
            raise PatternError(f"no pattern matches {glob!r}: 'xebench list' shows their names")
        chosen.update((info.name, info) for info in hits)
    return [info for info in infos if info.name in chosen]
