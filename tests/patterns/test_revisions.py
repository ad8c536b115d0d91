"""The pattern files of a version: files, folders, and revisions of a repository made here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from xebench.errors import PatternError, XebenchError
from xebench.patterns import two_versions

FILE = "from xebench import Pattern\nNUMBER = {}\npattern = Pattern('p')\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's cache folder with nothing in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def git(folder: Path, *arguments: str) -> None:
    named = ("-c", "user.name=me", "-c", "user.email=me@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", "-C", str(folder), *named, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """With two revisions: ``one`` has bench/a.py, ``two`` another a.py and b.py beside it, the working tree a third."""
    root = tmp_path / "repository"
    (root / "bench").mkdir(parents=True)
    git(tmp_path, "init", "-q", str(root))
    for number, tag in enumerate(("one", "two")):
        (root / "bench/a.py").write_text(FILE.format(number))
        (root / "bench/helper.py").write_text("HELP = 1\n")
        if number:
            (root / "bench/b.py").write_text(FILE.format("'b'"))
        git(root, "add", ".")
        git(root, "commit", "-qm", tag)
        git(root, "tag", tag)
    (root / "bench/a.py").write_text(FILE.format(2))
    return root


def texts(version: two_versions.Version) -> list[str]:
    return [path.read_text().splitlines()[1] for path in version.files]


def test_a_file_at_two_revisions(repository: Path) -> None:
    before, after, _ = two_versions.at_revisions("one", "two", [repository / "bench/a.py"])
    assert (texts(before), texts(after)) == (["NUMBER = 0"], ["NUMBER = 1"])
    assert before.name.startswith("one (") and len(before.name) == len("one ()") + 12
    assert before.files[0].with_name("helper.py").is_file(), "what a file imports is of the same revision"
    assert (repository / "bench/a.py").read_text() == FILE.format(2), "the working tree stays as it is"


def test_a_revision_against_the_working_tree(repository: Path) -> None:
    before, after, _ = two_versions.at_revisions("two", ".", [repository / "bench/a.py"])
    assert (texts(before), texts(after), after.name) == (["NUMBER = 1"], ["NUMBER = 2"], "the working tree")


def test_a_folder_has_the_files_that_declare_patterns(repository: Path) -> None:
    before, after, _ = two_versions.at_revisions("one", "two", [repository / "bench"])
    assert [len(version.files) for version in (before, after)] == [1, 2]


def test_a_path_that_one_revision_lacks_is_of_the_other(repository: Path) -> None:
    before, after, _ = two_versions.at_revisions("one", "two", [repository / "bench/b.py"])
    assert (before.files, texts(after)) == ((), ["NUMBER = 'b'"])


def test_a_revision_without_files_lacks_every_path(repository: Path) -> None:
    git(repository, "checkout", "-q", "--orphan", "empty")
    git(repository, "rm", "-rqf", "--cached", ".")
    git(repository, "commit", "-q", "--allow-empty", "-m", "empty")
    before, after, _ = two_versions.at_revisions("empty", "one", [repository / "bench/a.py"])
    assert (before.files, texts(after)) == ((), ["NUMBER = 0"])


def test_a_path_from_within_the_repository(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository / "bench")
    before, _, _ = two_versions.at_revisions("one", "two", [Path("a.py")])
    assert texts(before) == ["NUMBER = 0"]
    monkeypatch.chdir(repository)
    before, _, _ = two_versions.at_revisions("one", "two", [Path()])
    assert texts(before) == ["NUMBER = 0"]


@pytest.mark.parametrize(
    ("old", "path", "words"),
    [
        ("three", "repository/bench/a.py", "has no revision 'three': give a branch, tag or commit"),
        ("--output=x", "repository/bench/a.py", "has no revision '--output=x'"),
        ("one", "repository/bench/c.py", "has bench/c.py: give a path of the repository"),
        ("one", "elsewhere.py", "is in no repository of git: leave out --path"),
    ],
)
def test_what_cannot_be_is_one_line(old: str, path: str, words: str, repository: Path) -> None:
    with pytest.raises(XebenchError, match=words.replace("(", r"\(")) as error:
        two_versions.at_revisions(old, "two", [repository.parent / path])
    assert "\n" not in str(error.value)


def test_a_path_outside_is_refused(repository: Path) -> None:
    paths = [repository / "bench/a.py", repository.parent / "elsewhere.py"]
    with pytest.raises(PatternError, match="elsewhere.py is outside of the repository"):
        two_versions.at_revisions("one", "two", paths)


def test_without_git_it_says_so(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(XebenchError, match="there is no git here: install it, or give two files or folders"):
        two_versions.at_revisions("one", "two", [repository / "bench/a.py"])


def test_two_folders(repository: Path) -> None:
    before, after = two_versions.at_paths(repository / "bench/a.py", repository / "bench")
    assert [path.name for path in before.files] == ["a.py"] and before.name.endswith("bench/a.py")
    assert [path.name for path in after.files] == ["a.py", "b.py"]


def test_a_folder_without_patterns_and_a_path_that_is_not_there(repository: Path) -> None:
    (repository / "empty").mkdir()
    with pytest.raises(PatternError, match="no file in the folder .*empty declares a pattern"):
        two_versions.at_paths(repository / "empty", repository / "bench")
    with pytest.raises(PatternError, match="no pattern file at .*lacking.py"):
        two_versions.at_paths(repository / "lacking.py", repository / "bench")
