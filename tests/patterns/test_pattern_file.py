"""Executing a pattern file: what it declares, and the one line about what is wrong with it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from xebench.errors import PatternError
from xebench.patterns.pattern_file import load_file

FILE = """
from xebench import Pattern

pattern = Pattern("mine", guide="G / S", lesson="L.", presets={"smoke": {"n": 1}, "default": {"n": 2}})
pattern.problem(lambda rng, n: None)
pattern.reference(lambda p: {})

@pattern.naive
def plain(session, p):
    pass
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mine.py"


def test_a_second_name_for_a_pattern_is_no_second_pattern(file: Path) -> None:
    file.write_text(FILE + "\nalso = pattern\n")
    assert [pattern.name for pattern in load_file(file)] == ["mine"]


def test_what_the_file_says_now_counts_whatever_its_size_and_time(file: Path) -> None:
    for size in (2, 3):
        file.write_text(FILE.replace('{"n": 2}', f'{{"n": {size}}}'))
        os.utime(file, (1e9, 1e9))
        (pattern,) = load_file(file)
        assert pattern.presets["default"] == {"n": size}


@pytest.mark.parametrize("foreign", [False, True], ids=["gone", "somebody else's"])
@pytest.mark.parametrize("text", ["from harness import Pattern", "import harness.dpex", "from harness.dpex import x"])
def test_the_old_name_of_the_package_is_told_with_the_new_one(
    file: Path, text: str, foreign: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if foreign:
        (file.parent / "harness.py").touch()
        monkeypatch.syspath_prepend(str(file.parent))
    file.write_text(f"import sys\n{text}\n")
    with pytest.raises(PatternError) as caught:
        load_file(file)
    assert str(caught.value) == f"{file}:2: the package is called xebench: write 'from xebench import ...'"
    sys.modules.pop("harness", None)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def (", "{file}:1: SyntaxError: invalid syntax (mine.py, line 1): fix the pattern file"),
        ("x = 1\n1 / 0", "{file}:2: ZeroDivisionError: division by zero: fix the pattern file"),
        (
            "import argparse\nargparse.ArgumentParser().parse_args(['--preset', 'smoke'])",
            "{file}:2: SystemExit: 2: a pattern file is imported, and sys.argv has the arguments of xebench: read "
            "options of its own below if __name__ == '__main__', or sweep them as axes",
        ),
        ("import sys\nsys.exit(3)", "{file}:2: SystemExit: 3: fix the pattern file"),
        (
            "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
            "{file}:3: E: an error that cannot say what it is: fix the pattern file",
        ),
        ("x = 1", "{file} declares no pattern: create one with 'pattern = Pattern(...)'"),
        (FILE.replace("pattern.problem", "print"), "pattern 'mine' (mine.py): problem: declare both"),
        (FILE + FILE.replace("pattern", "other"), "{file}: two patterns are named 'mine': rename one"),
    ],
)
def test_a_broken_file_is_told_in_one_line(file: Path, text: str, line: str) -> None:
    file.write_text(text)
    with pytest.raises(PatternError) as caught:
        load_file(file)
    assert str(caught.value).startswith(line.format(file=file))
    assert "\n" not in str(caught.value)


def test_a_file_for_numba_dpex_alone_is_told_what_to_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba_dpex", None)
    file = tmp_path / "own.py"
    file.write_text("from numba_dpex import kernel_api\n")
    with pytest.raises(PatternError, match=r"own.py:1: .*: import kernel and kernel_api from xebench"):
        load_file(file)


@pytest.mark.parametrize(
    ("statement", "folder"), [("from ..common import words", "common"), ("from . import words", "my.chapter")]
)
def test_what_lies_beside_is_imported_relatively(tmp_path: Path, statement: str, folder: str) -> None:
    for name in ("common", "my.chapter"):
        (tmp_path / name).mkdir()
    (tmp_path / folder / "words.py").write_text("NAME = 'from_beside'\n", encoding="utf-8")
    path = tmp_path / "my.chapter" / "own.v2.py"
    path.write_text(f"{statement}\n" + FILE.replace('"mine"', "words.NAME"), encoding="utf-8")
    assert [pattern.name for pattern in load_file(path)] == ["from_beside"]
