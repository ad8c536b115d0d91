"""Two versions of pattern files as one set of patterns: what is compared, and what is said not to be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from xebench.errors import PatternError, Unsupported
from xebench.measuring.prepare import make_problem
from xebench.patterns.pattern import Pattern
from xebench.patterns.pattern_file import load_file
from xebench.patterns.registry import is_as_declared, read
from xebench.patterns.two_versions import Version, write

FILE = """
import numpy as np
from xebench import Pattern, Problem, inout, output

for name in ("first", "second"):
    pattern = Pattern(name, guide="G / S", lesson="L.", claim="faster", metric="device",
                      presets={"smoke": {"n": 4}, "default": {"n": 8}}, axes={"stride": (1, 2)})

    @pattern.problem
    def data(rng, n):
        return Problem(x=rng.random(n), state=inout(np.zeros(2)), factor=2.0, y=output(n, np.float64))

    @pattern.reference
    def expected(p):
        return {"y": p.x * 2, "state": np.zeros(2)}

    @pattern.naive
    def plain(session, p): ...

    @pattern.optimized
    def clever(session, p, stride): ...

    globals()[name] = pattern
"""

SIZES = {"n": 4, "stride": 1}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's cache folder with nothing in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def written(tmp_path: Path, *changes: tuple[str, str]) -> tuple[Path, Path]:
    """The file, and another version of it."""
    new = FILE
    for what, instead in changes:
        assert what in new
        new = new.replace(what, instead)
    paths = tmp_path / "old.py", tmp_path / "new.py"
    for path, text in zip(paths, (FILE, new), strict=True):
        path.write_text(text)
    return paths


def ab_file(old: Path, new: Path, *further: Path, preset: str = "smoke") -> Path:
    return write(Version("", (old,)), Version("", (new, *further)), preset)


def merged(tmp_path: Path, *changes: tuple[str, str]) -> dict[str, Pattern]:
    return {pattern.name: pattern for pattern in load_file(ab_file(*written(tmp_path, *changes)))}


def test_each_variant_is_there_twice_and_compared_with_itself(tmp_path: Path) -> None:
    patterns = merged(tmp_path)
    assert sorted(patterns) == ["first", "second"]
    variants = patterns["first"].variants
    assert [*variants] == ["old:plain", "new:plain", "old:clever", "new:clever"]
    assert [variant.against for variant in variants.values()] == ["", "old:plain", "", "old:clever"]
    assert not any(variant.claims for variant in variants.values())
    assert variants["old:plain"].function is not variants["new:plain"].function
    problem = make_problem(patterns["first"], SIZES, seed=1)
    assert problem.fields["x"].shape == (4,)


def test_what_one_version_lacks_stands_alone(tmp_path: Path) -> None:
    patterns = merged(tmp_path, ("def clever", "def cleverer"), ('"second"', '"third"'))
    assert [*patterns["first"].variants] == ["old:plain", "new:plain", "old:clever", "new:cleverer"]
    assert patterns["first"].variants["new:cleverer"].against == ""
    assert [*patterns["second"].variants] == ["old:plain", "old:clever"]
    assert [*patterns["third"].variants] == ["new:plain", "new:cleverer"]
    assert patterns["third"].baseline_variant.name == "new:plain"


@pytest.mark.parametrize(
    ("what", "instead", "why"),
    [
        ('"smoke": {"n": 4}', '"smoke": {"n": 5}', "the sizes of preset smoke changed from {'n': 4} to {'n': 5}"),
        ('"smoke": {"n": 4}', '"smoke": {"n": (4, 6)}', "changed from {'n': 4} to {'n': 4}, ({'n': 6},)"),
        ("(1, 2)", "(1, 4)", "its axes changed from {'stride': (1, 2)} to {'stride': (1, 4)}"),
        ('metric="device"', 'metric="wall"', "its metric changed from device to wall"),
        ("rng.random(n)", "rng.random(n) + 1", "p.x differs"),
        ("rng.random(n)", "rng.random(n, dtype=np.float32)", "p.x differs"),
        ("np.zeros(2)),", "np.ones(2)),", "p.state differs"),
        ("factor=2.0", "factor=3.0", "p.factor differs"),
        ("factor=2.0", "scale=2.0", "p.factor differs"),
        ("output(n, np.float64)", "output(n, np.float32)", "p.y differs"),
    ],
)
def test_another_problem_is_said_and_not_compared(what: str, instead: str, why: str, tmp_path: Path) -> None:
    pattern = merged(tmp_path, (what, instead))["first"]
    with pytest.raises(Unsupported) as refused:
        make_problem(pattern, SIZES, seed=1)
    assert str(refused.value).startswith("not compared: ") and why in str(refused.value)


@pytest.mark.parametrize(
    ("what", "instead"),
    [
        ('"default": {"n": 8}', '"default": {"n": 16}'),  # another preset than that which is measured
        ("rng.random(n)", "rng.random(size=n)"),
        ('lesson="L."', 'lesson="M."'),
    ],
)
def test_what_does_not_change_the_problem_does_not_matter(what: str, instead: str, tmp_path: Path) -> None:
    pattern = merged(tmp_path, (what, instead))["first"]
    before = make_problem(next(each for each in load_file(tmp_path / "old.py") if each.name == "first"), SIZES, 1)
    assert np.array_equal(make_problem(pattern, SIZES, seed=1).fields["x"], before.fields["x"])


def test_two_patterns_of_one_name_in_a_version_are_refused(tmp_path: Path) -> None:
    old, new = written(tmp_path)
    with pytest.raises(
        PatternError, match=r"two patterns are named '(first|second)': .*new.py and .*old.py; rename one"
    ):
        load_file(ab_file(old, new, old))


def test_a_version_that_changes_is_noticed(tmp_path: Path) -> None:
    old, new = written(tmp_path)
    file = ab_file(old, new)
    (info, *_) = read([file])
    assert is_as_declared(info) and info.source == str(file)
    new.write_text(FILE + "\nLATER = 1\n")
    assert not is_as_declared(info)


def test_equal_calls_write_one_file(tmp_path: Path) -> None:
    old, new = written(tmp_path)
    assert ab_file(old, new) == ab_file(old, new) != ab_file(old, new, preset="default")
