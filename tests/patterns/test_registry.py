"""Finding patterns without loading the stack they need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import PatternError
from harness.patterns.declaration import PatternInfo
from harness.patterns.registry import builtin_files, declarations, discover, load_file, portable_source, select

FILE = """
import numba_dpex as dpex
import numpy as np
from numba_dpex import kernel_api as kapi
from harness import Pattern, Problem, output

SCALE = np.float32(2) * np.pi / 3
pattern = Pattern("mine", guide="G / S", lesson="L.", catalogue=("E99",),
                  presets={"smoke": {"n": 4}, "default": {"n": 8}})

@dpex.kernel(error_model="numpy")
def fill(item: kapi.Item, y):
    y[item.get_id(0)] = 1

@pattern.problem
def problem(rng, n):
    return Problem(y=output(n, np.int32))

@pattern.reference
def reference(p):
    return {"y": np.ones(p.n)}

@pattern.naive
def plain(session, p):
    session.launch(fill, kapi.Range(p.n), p.y)
"""


@pytest.fixture
def own_file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return path


def test_declarations_are_read_with_stand_ins(own_file: Path) -> None:
    (info,) = declarations(own_file)
    assert (info.name, info.catalogue, info.presets["default"]) == ("mine", ("E99",), {"n": 8})
    assert [(v.name, v.role) for v in info.variants] == [("plain", "naive")]


def test_stand_ins_leave_real_packages_as_they_were(own_file: Path) -> None:
    import numpy as before

    declarations(own_file)
    import numpy as after

    assert after is before
    assert after.float32(1) + 1 == 2


def test_a_file_that_computes_at_its_top_is_read_by_a_process_of_its_own(own_file: Path) -> None:
    own_file.write_text(FILE + "\nassert float(np.finfo(np.float32).eps) < 1e-6\n")
    assert [info.name for info in declarations(own_file)] == ["mine"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def (", r"mine\.py:1: SyntaxError"),
        ("1 / 0", r"mine\.py:1: ZeroDivisionError"),
        ("x = 1", "declares no pattern"),
    ],
)
def test_a_broken_file_ends_in_one_line(own_file: Path, text: str, message: str) -> None:
    own_file.write_text(text)
    with pytest.raises(PatternError, match=message) as caught:
        declarations(own_file)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PatternError, match=r"no pattern file at .*nothing\.py"):
        load_file(tmp_path / "nothing.py")


def test_two_patterns_of_one_name_are_refused(own_file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text(FILE)
    with pytest.raises(PatternError, match="two patterns are named 'mine'"):
        discover([own_file, other])


def test_selection_by_name_family_and_catalogue_id() -> None:
    infos = discover()
    assert [i.name for i in select(infos, ["slm_convolution_cache"])] == ["slm_convolution_cache"]
    assert {i.chapter for i in select(infos, ["slm"])} == {"slm"}
    assert "slm_convolution_cache" in {i.name for i in select(infos, ["E34"])}
    assert select(infos, []) == infos
    with pytest.raises(PatternError, match="no pattern matches 'nonsense'"):
        select(infos, ["nonsense"])


def test_declarations_survive_json() -> None:
    for info in discover():
        assert PatternInfo.from_json(json.loads(json.dumps(info.to_json()))) == info


def test_built_in_sources_are_recorded_without_the_machines_paths(own_file: Path) -> None:
    path = next(path for path in builtin_files() if path.stem == "tiled_matmul")
    assert portable_source(str(path)) == "benchmarks/slm/tiled_matmul.py"
    assert portable_source(str(own_file)) == str(own_file)


def test_listing_loads_no_part_of_the_stack() -> None:
    code = (
        "import sys; from harness.patterns.registry import discover; discover();"
        "print([m for m in ('numpy', 'dpctl', 'numba', 'numba_dpex', 'dpnp', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
