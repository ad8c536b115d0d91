"""Pattern files of one's own: named on the command line, by ``--path``, or in ``pyproject.toml``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from documented import fences

from xebench.cli.project_settings import read
from xebench.cli.run_command import with_files
from xebench.errors import PatternError, XebenchError
from xebench.measuring.array_check import check_array
from xebench.patterns.pattern_file import load_file
from xebench.runner.run_options import Recipe

FILE = """
import numpy as np
from xebench import Pattern, Problem, output

sizes = {{"smoke": {{"n": 4}}, "default": {{"n": 4}}}}
pattern = Pattern("own_one", lesson="L.", presets=sizes, axes={{"stride": (1, 2)}})

@pattern.problem
def data(rng, n):
    return Problem(x=np.zeros(n), y=output(n, np.float64))

@pattern.reference
def expected(p):
    return {{"y": p.x}}

@pattern.naive
def plain(session, p): ...

@pattern.optimized
def better(session, p{parameter}): ...
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "mine [1].py"
    path.write_text(FILE.format(parameter=", stride"))
    return path


@pytest.mark.parametrize("by_option", [False, True])
def test_a_file_alone_is_what_is_run(file: Path, by_option: bool) -> None:
    names, paths = with_files([], [file]) if by_option else with_files([str(file)], [])
    plan = Recipe(names=names, preset="smoke", paths=tuple(map(str, paths))).plan()
    assert {family.pattern.name for family in plan} == {"own_one"}


def test_names_beside_a_path_choose_among_all(file: Path) -> None:
    names, paths = with_files(["slm_histogram", "own_one"], [file])
    assert (names, paths) == (("slm_histogram", "own_one"), (file,))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    names, paths = with_files(["lacking.py"], [])
    with pytest.raises(PatternError, match=r"no pattern file at .*lacking.py"):
        Recipe(names=names, preset="smoke", paths=tuple(map(str, paths))).plan()


def test_an_axis_that_nothing_takes_is_refused(file: Path) -> None:
    file.write_text(FILE.format(parameter=""))
    with pytest.raises(PatternError, match="nothing takes 'stride': make it a parameter"):
        load_file(file)
    file.write_text(FILE.format(parameter="") + "\n# p.stride\n")
    load_file(file)


def test_a_projects_settings_are_read_from_below_it(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.xebench]\npaths = ["bench/a.py"]\npreset = "smoke"\n')
    (tmp_path / "below").mkdir()
    assert read(tmp_path / "below") == {"paths": [str(tmp_path / "bench/a.py")], "preset": "smoke"}
    (tmp_path / "below/pyproject.toml").write_text("[project]\n")
    assert read(tmp_path / "below") == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tool.xebench]\npath = 'a.py'", "has no key 'path': did you mean paths"),
        ("[tool.xebench]\npaths = 'a.py'", "paths = 'a.py': give a list of files"),
        ("[tool.xebench]\npreset = 3", "preset = 3: give text"),
        ("[tool.xebench]\npreset = {a = '3'}", "give text"),
        ("[tool.xebench]\nthresholds = '3%'", "thresholds = '3%': give a table of text"),
        ("[tool.xebench", "is no TOML"),
    ],
)
def test_a_wrong_setting_is_one_line(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(XebenchError, match=words):
        read(tmp_path)


def test_an_element_that_kept_its_poison_was_not_written() -> None:
    expected, before = np.ones(3), np.array([5.0, np.nan, 7.0])
    assert "first at (1,): it was not written, or added to, instead of 1.0" in str(
        check_array("y", np.array([1.0, np.nan, 1.0]), expected, 0, 0, before).fault
    )
    assert "2.0 instead of 1.0" in str(check_array("y", np.array([2.0, 1, 1]), expected, 0, 0, before).fault)


def test_the_tutorials_steps_make_a_pattern(file: Path) -> None:
    file.write_text("\n".join(each.text for each in fences("docs/first-pattern.md") if each.language == "python"))
    (pattern,) = load_file(file)
    assert [*pattern.variants] == ["rows", "transposed"]
