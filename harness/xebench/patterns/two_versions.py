"""Two versions of pattern files, on disk or at a revision of git, as one set of patterns sampled side by side.

`xebench ab` writes a file that calls `side_by_side`, and has it measured as any pattern file. A family then has the
variants of both versions on one problem, that of the new version, and its reference checks them all.
"""

from __future__ import annotations

import copy
import hashlib
import inspect
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

from xebench.errors import PatternError, Unsupported, XebenchError, escape_controls
from xebench.patterns.pattern import Pattern, Variant
from xebench.patterns.pattern_file import PACKAGES, load_file
from xebench.patterns.problem import InOut, Output, Problem
from xebench.patterns.registry import pattern_file
from xebench.patterns.revision_modules import RevisionModules
from xebench.system import disk_cache
from xebench.vocabulary import NEW_VERSION, OLD_VERSION, Role

#: Stands for the files as they are now, in place of a revision.
WORKING_TREE: Final = "."

#: Marks a file that declares patterns; others in the folder are modules that these import.
_DECLARES: Final = "Pattern("


class Version(NamedTuple):
    """A version of pattern files.

    Attributes:
        name: name of the version.
        files: its pattern files.
        folder: top folder of its revision; None for a version outside of git.
    """

    name: str
    files: tuple[Path, ...]
    folder: Path | None = None


class Changes(NamedTuple):
    """A repository's top folder, and its files, relative to that, that differ between two revisions."""

    repository: Path
    files: tuple[str, ...]


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
    """Two versions that lie beside one another. Both get the same modules by absolute imports.

    Raises:
        PatternError: one of them has no pattern file.
    """
    return Version(str(old), files_of(old)), Version(str(new), files_of(new))


def at_revisions(old: str, new: str, paths: Sequence[Path]) -> tuple[Version, Version, Changes]:
    """Two revisions of files in a git repository, which is not modified.

    Each revision is unpacked whole into the user's cache, since its files may import one another.

    Args:
        old: a branch, tag or commit; `WORKING_TREE`: the files as they are now.
        new: the same for the newer version.
        paths: pattern files, or folders of them, in the repository.

    Raises:
        XebenchError: there is no git, repository or revision, or neither revision has one of the paths.
    """
    root = _root(paths[0])
    folders, names, commits = [root, root], ["the working tree"] * 2, []
    for at, revision in enumerate((old, new)):
        if revision != WORKING_TREE:
            commits.append(_commit(root, revision))
            folders[at], names[at] = _unpacked(root, commits[-1]), f"{revision} ({commits[-1][:12]})"
    files: tuple[list[Path], list[Path]] = [], []
    for path in paths:
        inside = _inside(root, path)
        there = [folder / inside for folder in folders]
        if not any(each.exists() for each in there):
            raise PatternError(f"neither {names[0]} nor {names[1]} has {inside}: give a path of the repository {root}")
        for each, own in zip(there, files, strict=True):
            own.extend(files_of(each) if each.exists() else ())
    before, after = (Version(*each) for each in zip(names, map(tuple, files), folders, strict=True))
    measured = {str(file.relative_to(folder)) for folder, own in zip(folders, files, strict=True) for file in own}
    changed = _changed(root, commits) - measured
    return before, after, Changes(root, tuple(sorted(changed)))


def _changed(root: Path, commits: Sequence[str]) -> set[str]:
    """Files that differ between two commits, or between one and the working tree."""
    if not commits:
        return set()
    listed = [_git(root, "diff", "--name-only", "--no-renames", "-z", *commits)]
    if len(commits) == 1:
        listed.append(_git(root, "ls-files", "--others", "--exclude-standard", "-z"))
    return {os.fsdecode(path) for each in listed for path in each.stdout.split(b"\0") if path}


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
            if _git(root, "ls-tree", commit).stdout:  # tarfile reads no archive without a member
                with tarfile.open(fileobj=packed) as archive:
                    if hasattr(tarfile, "data_filter"):  # not in Python 3.11.0 to 3.11.3, such as Debian 12's
                        archive.extraction_filter = tarfile.data_filter
                    archive.extractall(part)
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


#: Fields that must be equal, beside sizes and data, for times to be compared.
_SETTINGS: Final = ("metric", "state", "environment", "ranks", "axes")

_TEXT: Final = '''"""Written by 'xebench ab': the variants of two versions of pattern files, side by side."""

from pathlib import Path

from xebench.patterns.two_versions import side_by_side

#: The pattern files of each version, and the top folder of its revision.
OLD = {old!r}
NEW = {new!r}
#: The repository's folder, and the files in it that differ.
CHANGES = {changes!r}

globals().update(side_by_side(Path(__file__), {preset!r}, OLD, NEW, CHANGES))
'''


def write(old: Version, new: Version, preset: str, changes: Changes | None = None) -> Path:
    """Write a pattern file with both versions into the user's cache, where a resumed run finds it again.

    Args:
        old: the old version.
        new: the new one.
        preset: preset to measure; its sizes must be the same in both.
        changes: differences between two revisions of a repository; None for files outside of git.

    Raises:
        XebenchError: the cache cannot be written.
    """
    sides = [([*map(str, each.files)], each.folder and str(each.folder)) for each in (old, new)]
    differing = changes and (str(changes.repository), changes.files)
    text = _TEXT.format(old=sides[0], new=sides[1], preset=preset, changes=differing)
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    path = disk_cache.default_folder("versions") / "pairs" / name / "versions" / "ab.py"
    disk_cache.keep(path, text.encode())
    if not path.is_file():
        raise XebenchError(f"{path} cannot be written: set XDG_CACHE_HOME to a writable folder")
    return path


#: What `write` writes of a version: its pattern files, and the top folder of its revision.
_Side = tuple[Sequence[str], str | None]


def side_by_side(
    source: Path, preset: str, old: _Side, new: _Side, changes: tuple[str, Sequence[str]] | None
) -> dict[str, Pattern]:
    """The patterns of both versions by name: one for each name.

    Args:
        source: the file that declares them.
        preset: preset to measure.
        old: pattern files of the old version, and the top folder of its revision.
        new: those of the new one.
        changes: the repository's folder, and the files in it that differ between the revisions.

    Raises:
        PatternError: a file cannot be read, or a version has two patterns of one name.
        SharedModule: the revisions differ in a module that both would share.
    """
    if changes is None:
        before, after = (_patterns(files) for files, _ in (old, new))
    else:
        folders = [Path(str(folder)) for _, folder in (old, new)]
        modules = RevisionModules(Path(changes[0]), folders, changes[1])
        sides = []
        for (files, _), folder, prefix in zip((old, new), folders, (OLD_VERSION, NEW_VERSION), strict=True):
            with modules.reading(folder, f"{PACKAGES}version_{prefix}"):
                sides.append(_patterns(files))
        before, after = sides
    return {name: _merged(source.resolve(), preset, before.get(name), after.get(name)) for name in {**after, **before}}


def _patterns(files: Sequence[str]) -> dict[str, Pattern]:
    patterns = [pattern for file in files for pattern in _load(Path(file))]
    name, count = Counter(pattern.name for pattern in patterns).most_common(1)[0] if patterns else ("", 0)
    if count > 1:
        sources = " and ".join(str(pattern.source) for pattern in patterns if pattern.name == name)
        raise PatternError(f"two patterns are named {name!r}: {sources}; rename one")
    return {pattern.name: pattern for pattern in patterns}


def _load(path: Path) -> list[Pattern]:
    patterns = load_file(path)
    # imports are searched here, to notice when they change (`xebench.patterns.pattern_file`)
    module = ModuleType(f"{PACKAGES}version_{hashlib.sha256(bytes(path)).hexdigest()[:16]}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    return patterns


def _merged(source: Path, preset: str, old: Pattern | None, new: Pattern | None) -> Pattern:
    either = new or old
    assert either is not None  # a name is of one of them
    merged = copy.copy(either)
    merged.source, merged.claims = source, ()
    if old is None or new is None:
        prefix = OLD_VERSION if new is None else NEW_VERSION
        merged.variants = {prefix + name: _renamed(each, prefix) for name, each in either.variants.items()}
        return merged
    merged.requires = tuple(dict.fromkeys((*old.requires, *new.requires)))
    if preset in merged.presets:  # other presets may differ: nothing is measured at them
        merged.presets = dict.fromkeys(merged.presets, merged.presets[preset])
    variants = list(_both(old, new))
    why = _other_problem(old, new, preset)
    if why:
        merged.make_problem = _refusing(why)
        variants = [replace(variant, function=_nothing) for variant in variants]
    else:
        merged.make_problem = _of_both(old, new)
    merged.variants = {variant.name: variant for variant in variants}
    return merged


def _renamed(variant: Variant, prefix: str) -> Variant:
    against = prefix + variant.against if variant.against else ""
    return replace(variant, name=prefix + variant.name, claims=(), against=against)


def _both(old: Pattern, new: Pattern) -> Iterator[Variant]:
    """The variants of both, each beside itself; what a new one is compared with is the old one."""
    for name in {**old.variants, **new.variants}:
        if name in old.variants:
            variant = old.variants[name]
            yield replace(variant, name=OLD_VERSION + name, role=Role.BASELINE, claims=(), against="")
        if name in new.variants:
            against = OLD_VERSION + name if name in old.variants else ""
            variant = new.variants[name]
            yield replace(variant, name=NEW_VERSION + name, role=Role.OPTIMIZED, claims=(), against=against)


def _other_problem(old: Pattern, new: Pattern, preset: str) -> str:
    """The differences between the declarations of two problems, in words; "" if there are none."""
    for what in _SETTINGS:
        if getattr(old, what) != getattr(new, what):
            return f"its {what} changed from {_words(getattr(old, what))} to {_words(getattr(new, what))}"
    sizes = [[side.presets.get(preset), side.further_sizes.get(preset)] for side in (old, new)]
    if sizes[0] != sizes[1]:
        was, now = (_words([each for each in own if each is not None]) for own in sizes)
        return f"the sizes of preset {preset} changed from {was} to {now}"
    return ""


def _words(value: Any) -> str:
    return escape_controls(str(value).strip("[]")) or "none"


def _nothing(session: Any, problem: Any) -> None:
    """Stands in for a variant whose problem is not made."""


def _refusing(why: str) -> Callable[..., Any]:
    def refuse(rng: Any) -> Any:
        raise Unsupported(f"not compared: {why}")

    return refuse


def _of_both(old: Pattern, new: Pattern) -> Callable[..., Any]:
    """A function that makes the new version's problem, and the old one's to see that they are the same."""
    functions = [pattern.make_problem for pattern in (old, new)]
    parameters = [list(inspect.signature(each).parameters.values())[1:] for each in functions if each is not None]
    names = [{one.name for one in each if one.kind is not one.VAR_KEYWORD} for each in parameters]

    def make(rng: Any, **sizes: Any) -> Any:
        begin, problems = rng.bit_generator.state, []
        for function, own in zip(functions, names, strict=True):
            assert function is not None  # `Pattern.complete` refuses one without
            rng.bit_generator.state = begin
            problems.append(function(rng, **{name: value for name, value in sizes.items() if name in own}))
        before, after = problems
        if isinstance(before, Problem) and isinstance(after, Problem):
            field = _other_field(before.fields, after.fields)
            if field:
                raise Unsupported(f"not compared: p.{field} differs between the old and the new version")
        return after

    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    given = [inspect.Parameter(name, kinds[1], default=None) for name in sorted(set().union(*names))]
    vars(make)["__signature__"] = inspect.Signature([inspect.Parameter("rng", kinds[0]), *given])
    return make


def _other_field(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The first field of two problems that is not the same; "" for none."""
    lacking = sorted(before.keys() ^ after.keys())
    return next((name for name in (*lacking, *after) if name in lacking or not _same(before[name], after[name])), "")


def _same(one: Any, other: Any) -> bool:
    """True if two fields are equal; objects of a user's classes are if these have one name."""
    if isinstance(one, InOut) and isinstance(other, InOut):
        return _same(one.initial, other.initial)
    if hasattr(one, "tobytes") and hasattr(other, "tobytes"):
        same_form = (one.dtype, one.shape) == (other.dtype, other.shape)
        return bool(same_form and one.tobytes() == other.tobytes())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, Output | bool | int | str | type(None)):
        return bool(one == other)
    if isinstance(one, float):
        return repr(one) == repr(other)
    return type(one).__name__ == type(other).__name__
