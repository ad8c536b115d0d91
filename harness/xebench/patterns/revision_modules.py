"""Modules that two revisions of a repository both have: each revision's pattern files import their own.

Both revisions are measured in one process, in which a name is one module. So the modules whose files differ are taken
out of ``sys.modules`` once a revision's pattern files are read, and with them the repository's other modules, which may
have imported them; the functions of the pattern files keep them. What cannot be parted in this way is refused, since
one revision's modules would be measured for both.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib.abc import MetaPathFinder
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, PathFinder
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Final

from xebench.errors import PatternError, SharedModule, describe_error
from xebench.patterns.pattern_file import PACKAGES
from xebench.system import PACKAGE

#: Suffixes of what a compiler makes extension modules of.
_COMPILED: Final = frozenset(
    {".c", ".cc", ".cpp", ".cu", ".cxx", ".f", ".f90", ".h", ".hpp", ".pxd", ".pyx", ".rs", ".sycl"}
)

_NEXT: Final = (
    "measure each revision by 'xebench run' in an environment of its own, then compare the runs by 'xebench compare'"
)


class RevisionModules(MetaPathFinder):
    """Finds modules of a repository in the revision whose pattern files are being read.

    Args:
        repository: the working tree: installed packages may be of it.
        folders: the top folders of both revisions.
        changed: files of the repository that differ between them, relative to the top.

    Raises:
        SharedModule: an import or a block needs such a module; see `reading`.
    """

    def __init__(self, repository: Path, folders: Sequence[Path], changed: Collection[str]) -> None:
        self._repository, self._folders = repository, folders
        self._changed = frozenset(changed)
        self._parents = dict(_importable(folders, changed))
        self._parents.pop(PACKAGE.name, None)  # the one that runs measures both
        self._folder: Path | None = None
        self._compiles = any(PurePosixPath(path).suffix in _COMPILED for path in changed)
        self._further = {part for path in changed if path.endswith(".py") for part in PurePosixPath(path).parts[2:-1]}
        # modules that are the same, where the repository is not installed
        sys.path += [str(folder) for folder in _roots(folders[-1]) if str(folder) not in sys.path]

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`: a changed module in this revision's folder; None for any other."""
        if not self._is_changed(name):
            return None
        if self._folder is None:
            if _importer().startswith("numba"):  # it looks for the globals of a function that it was given
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            raise SharedModule(
                f"{name} differs between the revisions and is imported after their pattern files were read: "
                "import it at the top of the pattern file"
            )
        if path is not None:  # its package is of this revision
            return None
        spec = PathFinder.find_spec(name, [str(self._folder / self._parents[name])])
        if spec is None:
            raise ModuleNotFoundError(f"No module named {name!r} in this revision", name=name)
        return spec

    @contextmanager
    def reading(self, folder: Path, prefix: str) -> Iterator[None]:
        """Import the modules of a revision in this block.

        Args:
            folder: the revision's top folder.
            prefix: prefix of the names under which its modules stay in ``sys.modules``, so that imports can be listed.

        Raises:
            SharedModule: the block needs a module that cannot be imported from this revision.
        """
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)
        for name in [*filter(self._is_changed, sys.modules)]:
            del sys.modules[name]
        before = set(sys.modules)
        self._folder = folder
        try:
            yield
            self._refuse_shared({name: sys.modules[name] for name in set(sys.modules) - before}, folder)
        except PatternError as error:
            cause = error.__cause__
            if isinstance(cause, ImportError) and self._is_changed(cause.name or ""):
                raise SharedModule(
                    f"{cause.name} cannot be imported from its sources: {describe_error(cause)}: {_NEXT}"
                ) from cause
            raise
        finally:
            self._folder = None
            for name in set(sys.modules) - before if self._parents else ():
                if self._is_changed(name) or self._may_use_changed(name, _place(sys.modules[name])):
                    sys.modules[prefix + name] = sys.modules.pop(name)

    def _is_changed(self, name: str) -> bool:
        return name.partition(".")[0] in self._parents

    def _may_use_changed(self, name: str, place: Path) -> bool:
        """True for a module of a revision, of the working tree, or of an installed copy of the repository."""
        if name.partition(".")[0] == PACKAGE.name or name.startswith(PACKAGES):
            return False
        if {"site-packages", "dist-packages"} & set(place.parts):
            return self._is_own(name)
        return any(place.is_relative_to(folder) for folder in (self._repository, *self._folders))

    def _refuse_shared(self, imported: dict[str, ModuleType], folder: Path) -> None:
        for name, module in imported.items():
            path = _place(module)
            if name.partition(".")[0] == PACKAGE.name or (path.is_relative_to(folder) and folder != self._repository):
                continue
            if path.is_relative_to(self._repository):
                shared = not self._is_changed(name) and str(path.relative_to(self._repository)) in self._changed
            else:
                shared = "site-packages" in path.parts and name.partition(".")[0] in self._further
            if shared or (self._compiles and path.name.endswith(tuple(EXTENSION_SUFFIXES)) and self._is_own(name)):
                raise SharedModule(f"{name} ({path}) would be the same module for both revisions: {_NEXT}")

    def _is_own(self, name: str) -> bool:
        """True if the repository has a package or module of this name."""
        return name.partition(".")[0] in self._own

    @cached_property
    def _own(self) -> set[str]:
        return {path.stem for folder in _roots(self._repository) for path in folder.iterdir()}


def _place(module: ModuleType) -> Path:
    """The file of a module, or the first folder of a package without one."""
    return Path(getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), "/"))


def _roots(folder: Path) -> list[Path]:
    """The folders from which a repository's modules are imported: its top, and those below that are no packages."""
    below = (each for each in sorted(folder.iterdir()) if each.is_dir() and not each.name.startswith("."))
    return [folder, *(each for each in below if not (each / "__init__.py").exists())]


def _importer() -> str:
    """The name of the module that has an import under way."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("importlib"):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))


def _importable(folders: Sequence[Path], changed: Collection[str]) -> Iterator[tuple[str, str]]:
    """Names under which changed files, or their packages, can be imported, each with the folder that has it.

    That folder is the top of the repository or lies in it, such as ``src``.
    """
    for path in map(PurePosixPath, changed):
        parts = (*path.parent.parts, path.stem) if path.suffix == ".py" else path.parent.parts
        if len(parts) > 1 and not any((folder / parts[0] / "__init__.py").exists() for folder in folders):
            yield parts[1], parts[0]
        if parts:
            yield parts[0], ""
