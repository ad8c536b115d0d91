"""Execute a pattern file and take the patterns that it declares."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Final

from xebench.errors import PatternError, describe_error
from xebench.patterns.pattern import Pattern

#: What the package was called; somebody else's may be there.
_OLD_NAME: Final = "harness"

#: How the names of the packages begin that the folders of pattern files are.
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
        # from its text: Python takes a file's kept bytecode for its own when size and second of change are the same
        exec(compile(path.read_bytes(), path, "exec"), vars(module))
    except PatternError:
        raise
    except (Exception, SystemExit) as error:
        where = f"{path.name}{_line_in(path, error)}"
        if _imports_from(error, _OLD_NAME):
            raise PatternError(f"{where}: the package is called xebench: write 'from xebench import ...'") from error
        raise PatternError(f"{where}: {describe_error(error)}: {_advice(error)}") from error
    # a second name for a pattern is no second pattern
    patterns = list(dict.fromkeys(value for value in vars(module).values() if isinstance(value, Pattern)))
    if not patterns:
        raise PatternError(f"{path} declares no pattern: create one with 'pattern = Pattern(...)'")
    names = [pattern.name for pattern in patterns]
    for pattern in patterns:
        if names.count(pattern.name) > 1:
            raise PatternError(f"{path.name}: two patterns are named {pattern.name!r}: rename one")
        pattern.complete()
    return patterns


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
    return "mend the pattern file"


def _line_in(path: Path, error: BaseException) -> str:
    """The innermost line of the file that led to an error, as ``:LINE``."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f":{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    return next((f":{frame.lineno}" for frame in reversed(frames) if frame.filename == str(path)), "")
