"""The source of a variant with what it uses, read and not executed."""

from __future__ import annotations

from pathlib import Path

from xebench.patterns.registry import discover
from xebench.patterns.variant_source import code_of

FILE = """
from xebench import Pattern, kernel
from .shared import helper
from . import places as where

raise SystemExit("nobody executes this")

SIZE = 4
UNUSED = 5
one = Pattern("one", lesson="a")
two = Pattern(name="two")


@kernel
def copy(item, x):
    x[0] = SIZE


@one.naive
@one.claims
def plain(session, p):
    session.launch(copy, helper(p), p.x)


@two.naive
def plain(session, p):
    where.place(p)


for name in ("a", "b"):
    one.optimized(lambda session, p: None)
"""


def write(folder: Path) -> Path:
    (folder / "shared.py").write_text("FACTOR = 3\n\n\ndef helper(p):\n    return p.n * FACTOR\n")
    (folder / "places.py").write_text("def place(p):\n    return 1\n")
    (folder / "mine.py").write_text(FILE)
    return folder / "mine.py"


def test_what_a_variant_uses_follows_it(tmp_path: Path) -> None:
    found = code_of(write(tmp_path), "one", "plain")
    assert [each.name for each in found] == ["plain", "copy", "helper", "SIZE", "FACTOR"]
    assert found[0].text.startswith("def plain(session, p):\n    session.launch(copy"), "its claims are told elsewhere"
    assert found[1].text.startswith("@kernel\ndef copy")
    assert found[2].file == tmp_path / "shared.py"


def test_variants_of_one_name_are_told_apart_by_their_patterns(tmp_path: Path) -> None:
    assert [each.name for each in code_of(write(tmp_path), "two", "plain")] == ["plain", "place"]


def test_a_variant_that_a_loop_declares_has_no_function(tmp_path: Path) -> None:
    assert code_of(write(tmp_path), "one", "a") == []


def test_every_variant_of_the_project_can_be_shown_but_for_twins() -> None:
    made_elsewhere = [
        variant.name
        for info in discover()
        for variant in info.variants
        if not code_of(Path(info.source), info.name, variant.name)
    ]
    assert all(name.endswith("_in_opencl") for name in made_elsewhere), made_elsewhere
