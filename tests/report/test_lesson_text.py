"""`xebench show`: the lesson, and two variants side by side."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import stored
from changed_run import changed
from click.testing import CliRunner

from xebench.cli.report_commands import show_pattern
from xebench.errors import PatternError
from xebench.patterns.declaration import PatternInfo, VariantInfo, shown_pair
from xebench.records.claim import Claim
from xebench.report.lesson_text import as_json, as_text, is_of_older_program
from xebench.results import Run
from xebench.results.run import newest_of_each_device

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


def sides(info: PatternInfo) -> tuple[VariantInfo, VariantInfo]:
    one, other = info.variants
    return one, other


def test_two_columns_mark_what_differs(info: PatternInfo) -> None:
    lines = as_text(info, *sides(info), width=80).splitlines()
    assert "slow (naive)         fast (optimized)" in lines
    assert "def slow(session): | def fast(session):" in lines
    assert "    both()               both()" in lines and "    wait()         <" in lines
    both = lines.index("def both():")
    assert lines[both + 1] == "    return 1" and lines[both - 2].startswith("both use, from p.py")


IMPLIED = Claim("faster", against="slow", source="G 1", strength="implied")
STATED = Claim("faster", against="fast", source="G 2")
ONES_OWN, RACE = Claim("faster", against="fast"), Claim("may be wrong", against="slow", source="G 3")


@pytest.mark.parametrize(
    ("claims", "pair"),
    [
        ([], ["slow", "fast"]),
        ([ONES_OWN, RACE], ["slow", "fast"]),
        ([ONES_OWN, IMPLIED], ["slow", "other"]),
        ([IMPLIED, STATED], ["fast", "other"]),
        ([IMPLIED, msgspec.structs.replace(STATED, requires=("stacks=2",))], ["slow", "other"]),
    ],
)
def test_the_pair_of_the_guides_firmest_claim_is_shown(info: PatternInfo, claims: list[Claim], pair: list[str]) -> None:
    other = VariantInfo("other", "intermediate", tuple(claims), "")
    shown = shown_pair(msgspec.structs.replace(info, variants=(*info.variants, other)))
    assert shown and [each.name for each in shown] == pair


def test_the_guides_claim_on_the_pair_stands_above_its_code(info: PatternInfo) -> None:
    slow, fast = sides(info)
    lines = as_text(info, slow, msgspec.structs.replace(fast, claims=(IMPLIED, ONES_OWN)), width=80).splitlines()
    (said,) = (line for line in lines if line.startswith("of the guide: "))
    assert said == "of the guide: fast: faster than slow [G 1 (implied)]"
    assert lines.index(said) == lines.index("slow (naive)         fast (optimized)") - 1


def test_where_there_is_no_room_one_follows_the_other(info: PatternInfo) -> None:
    lines = as_text(info, *sides(info), width=30).splitlines()
    assert [line for line in lines if "def " in line][:2] == ["- def slow(session):", "+ def fast(session):"]
    assert "      both()" in lines and "-     wait()" in lines


def test_long_lines_of_code_are_broken_between_words(info: PatternInfo) -> None:
    called = "call(" + ", ".join(f"argument_{number}" for number in range(20)) + ")"
    Path(info.source).write_text(SOURCE.replace("wait()", called))
    for width, mark in ((80, "-     call("), (120, "|")):
        text = as_text(info, *sides(info), width=width)
        assert max(map(len, text.splitlines())) <= width and mark in text
        assert [word for word in called.split() if word not in text] == []
    side_by_side = as_text(info, *sides(info), width=120).splitlines()
    assert any(line.startswith("    call(argument_0,") and line.endswith(" <") for line in side_by_side)
    assert any(line.startswith("        argument_") for line in side_by_side), "further in than its beginning"


def test_a_variant_that_other_code_makes_is_named(info: PatternInfo) -> None:
    elsewhere = VariantInfo("looped", "optimized", (), "")
    assert f"looped is made by other code of {info.source}: read it there" in as_text(
        info, info.variants[0], elsewhere, width=80
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
    error = CliRunner().invoke(show_pattern, arguments, standalone_mode=False).exception
    assert isinstance(error, PatternError) and told in str(error)


@stored.needed
def test_a_run_adds_what_was_measured(tmp_path: Path) -> None:
    results = Path(__file__).parents[2] / "results/h200-default"
    command = [sys.executable, "-m", "xebench", "show", "tiled_matmul", "--run", str(results)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert text.startswith("tiled_matmul (slm") and "✓ slm_tiles" in text


def test_the_answers_are_those_of_the_newest_run_of_each_device(
    info: PatternInfo, run_of: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, created in (("runs/old", "2024"), ("runs/new", "2026"), ("results/kept", "2025")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        made = run_of(name, 40_000, 20_000, 5_000)
        manifest = {**made.manifest, "created": f"{created}-01-01T00:00:00+00:00"}
        (made.path / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "results" / "damaged").mkdir()
    (tmp_path / "results" / "damaged" / "manifest.json").write_text("{")
    monkeypatch.chdir(tmp_path)
    (newest,) = newest_of_each_device("convolution")
    assert newest.path == Path("runs/new")
    assert newest_of_each_device("no_such") == []
    convolution = msgspec.structs.replace(info, name="convolution")
    text = as_text(convolution, *sides(info), [newest], 80)
    assert "answers of runs/new:" in text and "✓ cached" in text and "histogram" not in text
    told = json.loads(as_json(convolution, *sides(info), [newest]))
    assert [(row["variant"], row["answer"], row["older_program"]) for row in told["answers"]] == [
        ("cached", "holds", False)
    ]


def test_a_run_of_another_text_of_the_pattern_is_told(info: PatternInfo, all_answers: Run) -> None:
    changed_since = msgspec.structs.replace(info, name="ends", source_sha256="other")
    of_today = all_answers.cases.assign(source_sha256="other")
    assert is_of_older_program(changed(all_answers, cases=all_answers.cases.assign(source_sha256="was")), changed_since)
    assert not is_of_older_program(changed(all_answers, cases=of_today), changed_since)


def test_what_nobody_measured_is_told_with_the_next_step(info: PatternInfo) -> None:
    assert "no run in runs or results has measured it: xebench run p, or --run FOLDER" in as_text(info, *sides(info))
