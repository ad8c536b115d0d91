"""`xebench show`: the lesson, and two variants side by side."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import stored
from click.testing import CliRunner

from xebench.cli.show_command import show
from xebench.errors import PatternError
from xebench.patterns.declaration import PatternInfo, VariantInfo
from xebench.report.pattern_text import as_text

SOURCE = """
pattern = Pattern("p")

def both():
    return 1

@pattern.naive
def slow(session):
    both()
    wait()

@pattern.optimized
def fast(session):
    both()
"""


@pytest.fixture
def info(tmp_path: Path) -> PatternInfo:
    source = tmp_path / "p.py"
    source.write_text(SOURCE)
    variants = tuple(VariantInfo(name, role, (), "") for name, role in (("slow", "naive"), ("fast", "optimized")))
    return PatternInfo("p", "slm", "SLM", "Do not wait.", (), "device", {}, {}, variants, str(source))


def test_two_columns_mark_what_differs(info: PatternInfo) -> None:
    lines = as_text(info, *info.variants, width=80).splitlines()
    assert "slow (naive)         fast (optimized)" in lines
    assert "def slow(session): | def fast(session):" in lines
    assert "    both()               both()" in lines and "    wait()         <" in lines
    assert lines[-2:] == ["def both():", "    return 1"]


def test_where_there_is_no_room_one_follows_the_other(info: PatternInfo) -> None:
    lines = as_text(info, *info.variants, width=30).splitlines()
    assert [line for line in lines if "def " in line][:2] == ["- def slow(session):", "+ def fast(session):"]
    assert "      both()" in lines and "-     wait()" in lines


def test_a_variant_that_other_code_makes_is_named(info: PatternInfo) -> None:
    elsewhere = VariantInfo("looped", "optimized", (), "")
    assert f"looped is made by other code of {info.source}: read it there" in as_text(
        info, info.variants[0], elsewhere, 80
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["slm*"], "name one"),
        (["tiled_matmul", "slm_tile"], "did you mean slm_tiles"),
        (["tiled_matmul", "accumulate_in_memory"], "no variant 'accumulate_in_memory' beside its baseline"),
    ],
)
def test_a_wrong_name_ends_in_a_line(arguments: list[str], told: str) -> None:
    error = CliRunner().invoke(show, arguments, standalone_mode=False).exception
    assert isinstance(error, PatternError) and told in str(error)


@stored.needed
def test_a_run_adds_what_was_measured(tmp_path: Path) -> None:
    results = Path(__file__).parents[2] / "results/h200-default"
    command = [sys.executable, "-m", "xebench", "show", "reduction_sum", "--run", str(results)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert text.startswith("reduction_sum (reductions") and "✓ group_function" in text
