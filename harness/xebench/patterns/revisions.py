"""The pattern files of a version: files and folders as they are, or as they were at a revision of git."""

from __future__ import annotations

import os
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from xebench.errors import PatternError, XebenchError
from xebench.patterns.registry import pattern_file
from xebench.system import disk_cache

#: In place of a revision: the files as they are now.
WORKING_TREE: Final = "."

#: What a file of a folder has that declares patterns; the others are modules that these import.
_DECLARES: Final = "Pattern("


class Version(NamedTuple):
    """A version of pattern files: what it is called, and where the files lie."""

    name: str
    files: tuple[Path, ...]


def files_of(path: Path) -> tuple[Path, ...]:
    """A pattern file, or those of a folder and of all in it.

    Raises:
        PatternError: there is none.
    """
    if not path.is_dir():
        return (pattern_file(path),)
    found = [file for file in path.resolve().rglob("*.py") if not _is_hidden(file.relative_to(path.resolve()))]
    files = tuple(sorted(file for file in found if _DECLARES in file.read_text(encoding="utf-8", errors="replace")))
    if not files:
        raise PatternError(f"no file in the folder {path} declares a pattern: give one whose files do")
    return files


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def at_paths(old: Path, new: Path) -> tuple[Version, Version]:
    """Two versions that lie beside one another.

    Raises:
        PatternError: one of them has no pattern file.
    """
    return Version(str(old), files_of(old)), Version(str(new), files_of(new))


def at_revisions(old: str, new: str, paths: Sequence[Path]) -> tuple[Version, Version]:
    """Two revisions of files in a repository of git, which stays as it is.

    A whole revision is unpacked in the user's cache, since its files may import others of it.

    Args:
        old: a branch, tag or commit; `WORKING_TREE`: the files as they are now.
        new: the same for the newer version.
        paths: of pattern files and folders of them in the repository.

    Raises:
        XebenchError: there is no git, repository or revision, or neither revision has one of the paths.
    """
    root = _root(paths[0])
    folders = [root if each == WORKING_TREE else None for each in (old, new)]
    names = ["the working tree" if each == WORKING_TREE else each for each in (old, new)]
    for at, revision in enumerate((old, new)):
        if revision != WORKING_TREE:
            commit = _commit(root, revision)
            folders[at], names[at] = _unpacked(root, commit), f"{revision} ({commit[:12]})"
    files: tuple[list[Path], list[Path]] = [], []
    for path in paths:
        inside = _inside(root, path)
        there = [folder / inside for folder in folders if folder is not None]
        if not any(each.exists() for each in there):
            raise PatternError(f"neither {names[0]} nor {names[1]} has {inside}: give a path of the repository {root}")
        for each, own in zip(there, files, strict=True):
            own.extend(files_of(each) if each.exists() else ())
    before, after = (Version(name, tuple(own)) for name, own in zip(names, files, strict=True))
    return before, after


def _root(path: Path) -> Path:
    """The top of the repository that a path lies in, whether it is there now or not."""
    folder = next(each for each in (path.absolute(), *path.absolute().parents) if each.is_dir())
    done = _git(folder, "rev-parse", "--show-toplevel")
    if done.returncode:
        raise XebenchError(f"{folder} is in no repository of git: leave out --path to give two files or folders")
    return Path(os.fsdecode(done.stdout).rstrip("\n")).resolve()


def _inside(root: Path, path: Path) -> Path:
    whole = path.resolve()
    if not whole.is_relative_to(root):
        raise PatternError(f"{path} is outside of the repository {root}: give a path in it")
    return whole.relative_to(root)


def _commit(root: Path, revision: str) -> str:
    done = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if done.returncode:
        raise XebenchError(
            f"{root} has no revision {revision!r}: give a branch, tag or commit that 'git log' shows; a shallow clone "
            "lacks the older ones ('git fetch --unshallow')"
        )
    return done.stdout.decode().strip()


def _unpacked(root: Path, commit: str) -> Path:
    folder = disk_cache.default_folder("versions") / commit
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as part, tempfile.TemporaryFile() as packed:
            done = _git(root, "archive", "--format=tar", commit, to=packed.fileno())
            if done.returncode:
                raise XebenchError(f"git cannot unpack {commit[:12]}: {done.stderr.decode(errors='replace').strip()}")
            packed.seek(0)
            with tarfile.open(fileobj=packed) as archive:
                archive.extractall(part, filter="data")
            with suppress(OSError):  # another process may have been first
                Path(part).rename(folder)
            Path(part).mkdir(exist_ok=True)  # its context expects it
    except (OSError, tarfile.TarError) as error:
        raise XebenchError(
            f"{commit[:12]} cannot be unpacked ({error}): set XDG_CACHE_HOME to another folder"
        ) from None
    return folder


def _git(folder: Path, *arguments: str, to: int = subprocess.PIPE) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", "-C", str(folder), *arguments], stdout=to, stderr=subprocess.PIPE, check=False)
    except FileNotFoundError:
        raise XebenchError("there is no git here: install it, or give two files or folders without --path") from None
