"""Execute a pattern file and take the patterns that it declares.

As a program, ``... LOG LIMIT_S FILE...``, it prints `Declarations` or a `Refusal` as JSON. What the files print goes to
standard error. When this process crashes, or a file takes longer than LIMIT_S, LOG has the path of the file at work and
then the stacks.
"""

from __future__ import annotations

import ast
import faulthandler
import hashlib
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import msgspec

from xebench.errors import BrokenEnvironment, PatternError, describe_error
from xebench.patterns.declaration import PatternInfo, describe
from xebench.patterns.pattern import Pattern
from xebench.patterns.registry import RUNTIME_LIMIT_S, Declarations, Refusal, contents_hash
from xebench.patterns.variant_source import relative_imports
from xebench.system import is_own, runtime
from xebench.system.children.process import run_as_child

#: The package's former name; an unrelated package of that name may be installed.
_OLD_NAME: Final = "harness"

#: Prefix of the package names that folders of pattern files get.
PACKAGES: Final = "xebench_patterns_"


def load_file(path: Path) -> list[Pattern]:
    """Execute a pattern file and give its patterns.

    The file's folder and the one above are packages to it, whatever their names: ``from ..common import histograms``
    is the module that lies beside the chapters.

    Raises:
        PatternError: the file fails, declares no complete pattern, or two of one name.
    """
    path = path.resolve()
    spec = importlib.util.spec_from_file_location(_module_name(path), path)
    assert spec is not None  # the name ends in .py: see `xebench.patterns.registry`
    module = importlib.util.module_from_spec(spec)
    try:
        # compiled from text: Python reuses cached bytecode if size and modification second are equal
        with _registered(module):
            exec(compile(path.read_bytes(), path, "exec", dont_inherit=True), vars(module))
    except PatternError:
        raise
    except (Exception, SystemExit) as error:
        where = f"{path}{_line_in(path, error)}"
        if _imports_from(error, _OLD_NAME):
            raise PatternError(f"{where}: the package is called xebench: write 'from xebench import ...'") from error
        raise PatternError(f"{where}: {describe_error(error)}: {_advice(error)}") from error
    # an alias of a pattern is not a second pattern
    patterns = list(dict.fromkeys(value for value in vars(module).values() if isinstance(value, Pattern)))
    if not patterns:
        raise PatternError(f"{path} declares no pattern: create one with 'pattern = Pattern(...)'")
    names = [pattern.name for pattern in patterns]
    for pattern in patterns:
        if names.count(pattern.name) > 1:
            raise PatternError(f"{path}: two patterns are named {pattern.name!r}: rename one")
        pattern.complete()
    return patterns


@contextmanager
def _registered(module: ModuleType) -> Iterator[None]:
    """Have a module found by its name in this block: a dataclass looks there for what its annotations name."""
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module
    try:
        yield
    finally:
        del sys.modules[module.__name__]
        if before is not None:
            sys.modules[module.__name__] = before


def _module_name(path: Path) -> str:
    """A file's name within the package that its folder is, which lies in that of the folder above.

    Both packages are made here rather than found on the path, where another ``benchmarks`` may come first.
    """
    above = f"{PACKAGES}{hashlib.sha256(bytes(path.parent.parent)).hexdigest()[:16]}"
    chapter = f"{above}.{_word(path.parent.name)}"
    for name, folder in ((above, path.parent.parent), (chapter, path.parent)):
        if name not in sys.modules:
            spec = ModuleSpec(name, loader=None, is_package=True)
            spec.submodule_search_locations = [str(folder)]
            sys.modules[name] = importlib.util.module_from_spec(spec)
    return f"{chapter}.{_word(path.stem)}"


def _word(name: str) -> str:
    return name.replace(".", "_")  # a dot would be a package


def _imports_from(error: BaseException, package: str) -> bool:
    return isinstance(error, ImportError) and (error.name or "").partition(".")[0] == package


def _advice(error: BaseException) -> str:
    if _imports_from(error, "numba_dpex"):
        return "import kernel and kernel_api from xebench, which have them on every stack"
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, SystemExit) and any(Path(frame.filename).name == "argparse.py" for frame in frames):
        return (
            "a pattern file is imported, and sys.argv has the arguments of xebench: read options of its own below "
            "if __name__ == '__main__', or sweep them as axes"
        )
    return "fix the pattern file"


def _line_in(path: Path, error: BaseException) -> str:
    """The innermost line of the file that led to an error, as ``:LINE``."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f":{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    return next((f":{frame.lineno}" for frame in reversed(frames) if frame.filename == str(path)), "")


def read(files: Sequence[str], begin: Callable[[str], None]) -> Declarations | Refusal:
    """Execute pattern files.

    Args:
        files: paths.
        begin: called with each of them before it is executed.
    """
    broken: BrokenEnvironment | None = None
    _note_opened()
    try:
        runtime.load()
    except BrokenEnvironment as error:
        broken = error  # a matter only for files that import what cannot be imported
    # hashed before execution, so that a file that changes meanwhile is read again next time
    sources = {file: contents_hash(file) for file in files if os.access(file, os.R_OK)}
    patterns: list[PatternInfo] = []
    try:
        for file in files:
            begin(file)
            before = set(sys.modules)
            _opened.clear()
            declared = load_file(Path(file))
            used = _with_those_named(file, _forget_imports(before) | _opened_beside(Path(file)))
            sources |= {path: contents_hash(path) for path in used}
            digest = _digest([file, *sorted(used)])
            patterns += (describe(pattern, digest) for pattern in declared)
    except PatternError as error:
        refused = (
            broken if broken is not None and isinstance(error.__cause__, ImportError | BrokenEnvironment) else error
        )
        return Refusal(str(refused), refused.exit_code)
    return Declarations({file: contents_hash(file) for file in _harness_modules()} | sources, tuple(patterns))


def _forget_imports(before: Container[str]) -> set[str]:
    """List the user's files that a pattern file imported, and unload them, so that the next file imports its own."""
    imported = {name: _file_of(module) for name, module in list(sys.modules.items()) if name not in before}
    own = {name for name, path in imported.items() if _is_users(path) or name.startswith(PACKAGES)}
    for name in own:
        del sys.modules[name]
    return {str(imported[name]) for name in own if imported[name].is_file()}


#: Files that were opened since a pattern file began, such as the text of a kernel.
_opened: set[Path] = set()


@cache
def _note_opened() -> None:
    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes) and not arguments[2] & (os.O_WRONLY | os.O_RDWR):
            _opened.add(Path(os.fsdecode(arguments[0])).absolute())  # now: the file may change the working directory

    sys.addaudithook(note)


def _opened_beside(file: Path) -> set[str]:
    """The files in a pattern file's folder, but for bytecode, that were opened since it began."""
    paths = {path.resolve() for path in _opened if path.suffix != ".pyc"}
    return {str(path) for path in paths if file.resolve().parent in path.parents and path.is_file()}


def _with_those_named(file: str, used: set[str]) -> set[str]:
    """These files, and those that they or the pattern file name, which may be read in functions not called yet."""
    found: set[str] = set()
    left = [file, *used]
    while left:
        path = Path(left.pop())
        found.add(str(path))
        try:
            nodes = list(ast.walk(ast.parse(path.read_bytes() if path.suffix == ".py" else "")))
        except SyntaxError:  # it is no program
            nodes = []
        left += {str(module) for _, (module, _) in relative_imports(path, nodes)} - found
        left += {str(other) for other in _named_beside(path.parent, nodes)} - found
    return found - {file, str(Path(file).resolve())}


#: Texts that may name a file of code. A file of another kind may be one that a variant writes.
_NAMES_CODE: Final = re.compile(r"[\w .+-]{1,100}(/[\w .+-]{1,100}){0,3}\.(py|cl|clh|h|c|cpp|hpp|spv|ll)")


def _named_beside(folder: Path, nodes: Iterable[ast.AST]) -> Iterator[Path]:
    """Files of code below a folder that a program imports by their bare names, or whose names stand in it as texts."""
    names: list[str] = []
    for node in nodes:
        match node:
            case ast.Import():
                names += [f"{alias.name.replace('.', '/')}.py" for alias in node.names]
            case ast.ImportFrom(module=str(module), level=0):
                names.append(f"{module.replace('.', '/')}.py")
            case ast.Constant(value=str(text)) if _NAMES_CODE.fullmatch(text) and ".." not in text:
                names.append(text)
    return (path.resolve() for name in names if (path := folder / name).is_file())


def _harness_modules() -> Iterator[str]:
    files = map(_file_of, list(sys.modules.values()))
    return (str(path) for path in files if path.is_file() and is_own(path))


def _file_of(module: ModuleType) -> Path:
    return Path(getattr(module, "__file__", None) or "")


def _is_users(path: Path) -> bool:
    """True if a module's file belongs to neither xebench, the standard library nor an installed package."""
    installed = Path(os.__file__).parent in path.parents or {"site-packages", "dist-packages"} & set(path.parts)
    return path.is_file() and not is_own(path) and not installed


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
