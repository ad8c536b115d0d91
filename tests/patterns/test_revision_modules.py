"""Modules of a repository at two revisions: each revision measures its own, or the comparison is refused."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from xebench.errors import SharedModule
from xebench.measuring.prepare import make_problem
from xebench.patterns import two_versions
from xebench.patterns.pattern import Pattern
from xebench.patterns.pattern_file import load_file
from xebench.patterns.registry import is_as_declared, read

FILE = """
import numpy as np
from xebench import Pattern, Problem, output
from mylib.parts import NUMBER, number

pattern = Pattern("own", guide="G / S", lesson="L.", presets={"smoke": {"n": 4}, "default": {"n": 4}})

@pattern.problem
def data(rng, n):
    return Problem(x=np.zeros(n), y=output(n, np.float64))

@pattern.reference
def expected(p):
    return {"y": p.x}

@pattern.naive
def plain(session, p):
    return number()
"""

PARTS = """
import mylib

NUMBER = {}

def number():
    return mylib.parts.NUMBER
"""


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's cache folder with nothing in it, and the imports of this process as they were."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in [name for name in sys.modules if name.partition(".")[0] in ("mylib", "between")]:
        del sys.modules[name]


def commit(root: Path, tag: str, **texts: str) -> None:
    for name, text in texts.items():
        path = root / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    named = ("-c", "user.name=me", "-c", "user.email=me@example.org", "-c", "init.defaultBranch=main")
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-qm", tag), ("tag", tag)):
        subprocess.run(["git", "-C", str(root), *named, *arguments], check=True, capture_output=True)


def library(root: Path, folder: str, *further: str) -> None:
    """Two revisions, `old` and `new`, whose module `mylib.parts` has another number, and further text in new."""
    root.mkdir()
    (root / folder / "mylib").mkdir(parents=True)
    (root / folder / "mylib/__init__.py").write_text("")
    where = "__".join(filter(None, (folder.replace("/", "__"), "mylib__parts")))
    commit(root, "old", bench__kernels=FILE, **{where: PARTS.format(1)})
    commit(root, "new", **{where: "\n".join((PARTS.format(2), *further))})


def written(root: Path, old: str = "old", new: str = "new") -> Path:
    before, after, changes = two_versions.at_revisions(old, new, [root / "bench/kernels.py"])
    return two_versions.write(before, after, "smoke", changes)


def numbers(pattern: Pattern) -> list[int]:
    make_problem(pattern, {"n": 4}, seed=1)
    return [variant.function(None, None) for variant in pattern.variants.values()]


@pytest.mark.parametrize("folder", ["", "src", "python"])
@pytest.mark.parametrize("installed", [False, True])
def test_each_revision_has_its_own_library(folder: str, installed: bool, tmp_path: Path) -> None:
    root = tmp_path / "repository"
    library(root, folder)
    if installed:
        sys.path.insert(0, str(root / folder))
    (pattern,) = load_file(written(root))
    assert [*pattern.variants] == ["old:plain", "new:plain"] and numbers(pattern) == [1, 2]
    assert "mylib" not in sys.modules and "mylib.parts" not in sys.modules


def test_the_working_tree_is_a_revision_too(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    library(root, "src")
    (root / "src/mylib/parts.py").write_text(PARTS.format(3))
    (pattern,) = load_file(written(root, "old", "."))
    assert numbers(pattern) == [1, 3]


def test_a_library_that_is_the_same_is_imported_as_ever(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    library(root, "lib/python")
    commit(root, "newer", bench__kernels=FILE + "\n# a note\n")
    sys.path.insert(0, str(root / "lib/python"))
    (pattern,) = load_file(written(root, "new", "newer"))
    assert numbers(pattern) == [2, 2]


@pytest.mark.parametrize("folder", ["", "src"])
def test_a_library_that_is_the_same_need_not_be_installed(folder: str, tmp_path: Path) -> None:
    root = tmp_path / "repository"
    library(root, folder)
    commit(root, "newer", docs__conf="# a note\n")
    (pattern,) = load_file(written(root, "new", "newer"))
    assert numbers(pattern) == [2, 2]


@pytest.mark.parametrize("place", ["beside it", "working tree", "site-packages"])
def test_a_module_that_is_the_same_takes_each_revisions_library(place: str, tmp_path: Path) -> None:
    """It imports what differs: the one of the old revision must not serve the new one, too."""
    root = tmp_path / "repository"
    library(root, "src")
    (root / "src/between").mkdir()
    (root / "src/between/__init__.py").write_text("")
    (root / "src/between/part.py").write_text("from mylib.parts import number\n")
    commit(
        root, "older", bench__kernels=FILE.replace("mylib.parts import NUMBER, number", "between.part import number")
    )
    commit(root, "newer", src__mylib__parts=PARTS.format(3))
    if place == "working tree":
        sys.path.insert(0, str(root / "src"))
    if place == "site-packages":
        shutil.copytree(root / "src/between", tmp_path / "site-packages/between")
        sys.path.insert(0, str(tmp_path / "site-packages"))
    (pattern,) = load_file(written(root, "older", "newer"))
    assert numbers(pattern) == [2, 3]


def test_xebench_itself_is_the_one_that_runs(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    library(root, "src")
    (root / "harness/xebench").mkdir(parents=True)
    commit(root, "changed", harness__xebench__errors="raise SystemExit\n")
    before = sys.modules["xebench"]
    (pattern,) = load_file(written(root, "old", "changed"))
    assert numbers(pattern) == [1, 2] and sys.modules["xebench"] is before


def test_a_module_that_would_be_one_for_both_is_refused_by_its_name(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    library(root, "lib/python")
    sys.path.insert(0, str(root / "lib/python"))
    with pytest.raises(SharedModule, match=r"^mylib.parts \(.*\) would be the same module for both revisions: measure"):
        load_file(written(root))


def test_an_installed_copy_is_refused_too(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    library(root, "lib/python")
    installed = tmp_path / "site-packages/mylib"
    installed.mkdir(parents=True)
    for name in ("__init__.py", "parts.py"):
        (installed / name).write_text((root / "lib/python/mylib" / name).read_text())
    sys.path.insert(0, str(installed.parent))
    with pytest.raises(SharedModule, match=r"mylib.* would be the same module"):
        load_file(written(root))


def test_a_library_whose_compiled_part_the_sources_lack_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    library(root, "src", "from mylib import _compiled")
    with pytest.raises(SharedModule, match="mylib cannot be imported from its sources: .*'xebench compare'"):
        load_file(written(root))


def test_an_import_in_a_function_is_an_error_of_that_variant(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    library(root, "src", "def number():", "    from mylib import later")
    (pattern,) = load_file(written(root))
    assert pattern.variants["old:plain"].function(None, None) == 1
    with pytest.raises(SharedModule, match="imported after their pattern files were read: import it at the top"):
        pattern.variants["new:plain"].function(None, None)


def test_a_library_that_changes_is_noticed(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    library(root, "src")
    (info,) = read([written(root, "old", ".")])
    assert is_as_declared(info)
    (root / "src/mylib/parts.py").write_text(PARTS.format(3))
    assert not is_as_declared(info)


def test_reading_ends_with_the_status_of_its_own(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    library(root, "src", "from mylib import _compiled")
    with pytest.raises(SharedModule) as refused:
        read([written(root)])
    assert refused.value.exit_code == 6
