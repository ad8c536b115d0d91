"""Finding patterns and choosing among them, without loading the stack they need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from xebench.errors import PatternError
from xebench.patterns import registry
from xebench.patterns.registry import builtin_files, discover, portable_source, portable_text, select, select_by_guide

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs/examples/own_saxpy.py"


def test_two_patterns_of_one_name_are_refused_unless_they_are_one(tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text(EXAMPLE.read_text())
    with pytest.raises(PatternError, match=f"two patterns are named 'own_saxpy': {EXAMPLE} and {other}; rename one"):
        discover([EXAMPLE, other])
    assert "own_saxpy" in {info.name for info in discover([EXAMPLE, EXAMPLE])}


@pytest.mark.parametrize(
    ("name", "said"), [("nothing.py", "no pattern file at {path}: give"), ("x.txt", "{path} is no Python file: give")]
)
def test_a_path_that_is_no_pattern_file_is_named(name: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / name
    (tmp_path / "x.txt").write_text("")
    with pytest.raises(PatternError) as caught:
        discover([path])
    assert str(caught.value).startswith(said.format(path=path))


def test_no_built_in_pattern_at_all_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "BENCHMARKS", tmp_path)
    with pytest.raises(PatternError, match=f"no pattern files in {tmp_path}: install xebench again"):
        discover()


def test_another_package_of_the_name_hides_no_pattern(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks/__init__.py").write_text("")
    listed = subprocess.run(
        [sys.executable, "-m", "xebench", "list", "--json"],
        capture_output=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert [info["name"] for info in msgspec.json.decode(listed.stdout)] == [info.name for info in discover()]


def test_selection_by_name_family_and_catalogue_id() -> None:
    infos = discover()
    assert [i.name for i in select(infos, ["slm_convolution_cache"])] == ["slm_convolution_cache"]
    assert {i.chapter for i in select(infos, ["slm"])} == {"slm"}
    assert "slm_convolution_cache" in {i.name for i in select(infos, ["E34"])}
    (lesson,) = (info for info in infos if info.name == "usm_kinds")
    named_once = msgspec.structs.replace(lesson, catalogue=("E62",))
    assert select([named_once], ["memory_kinds_nstream"]) == [named_once], "the same lesson in another chapter"
    assert select(infos, []) == infos
    assert select(infos, ["E34", "slm"]) == select(infos, ["slm", "E34"])


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("nonsense", "'xebench list' shows the built-in ones, 'xebench run FILE.py' runs your own"),
        ("slm_bank_conflictss", "did you mean slm_bank_conflicts?"),
    ],
)
def test_a_word_that_matches_nothing_is_an_error_with_advice(word: str, advice: str) -> None:
    with pytest.raises(PatternError) as caught:
        select(discover(), ["slm", word])
    assert str(caught.value) == f"no pattern matches {word!r}: {advice}"


def test_built_in_sources_are_recorded_without_the_machines_paths(tmp_path: Path) -> None:
    path = next(path for path in builtin_files() if path.stem == "tiled_matmul")
    assert portable_source(str(path)) == "benchmarks/slm/tiled_matmul.py"
    assert portable_source(str(tmp_path / "mine.py")) == str(tmp_path / "mine.py")
    assert portable_text(f"kernel k ({path}:7): no") == "kernel k (benchmarks/slm/tiled_matmul.py:7): no"
    assert portable_text(f"kernel k ({tmp_path}/mine.py:7): no") == f"kernel k ({tmp_path}/mine.py:7): no"


def test_listing_loads_no_part_of_the_stack() -> None:
    discover()
    code = (
        "import sys; from xebench.patterns.registry import discover; discover();"
        "print([m for m in ('numpy', 'dpctl', 'numba', 'numba_dpex', 'dpnp', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_patterns_are_found_by_their_section_of_the_guide_and_by_those_of_their_entries() -> None:
    infos = discover()
    slm = {info.name for info in select_by_guide(infos, "shared LOCAL memory")}
    assert "slm_histogram" in slm
    # its own place is another: the section is that of an entry that it names
    assert [info.name for info in select_by_guide(infos, "VTune and Advisor")] == ["tiled_matmul"]


def test_a_section_without_patterns_is_one_line_with_the_nearest() -> None:
    with pytest.raises(PatternError, match=r"'Shared Locel Memory' of the guide: .* 'Shared Local Memory'$"):
        select_by_guide(discover(), "Shared Locel Memory")
