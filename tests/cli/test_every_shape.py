"""Every command that shows a run shows one of any shape, and every pattern file that Python reads."""

from __future__ import annotations

import codecs
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import isa_kit
import pytest
from command_kit import Here

from xebench.records.points import rows
from xebench.report import formats
from xebench.results import Run, RunWriter, load_run, schema

pytestmark = pytest.mark.device

HEAD: Final = """
import numpy as np
from xebench import Pattern, Problem, kernel, kernel_api as kapi, output


@kernel
def eighty_doubles(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = x[i] + np.float32(1)


def declare(name):
    pattern = Pattern(name, lesson="Größe.", claim="faster", presets=dict.fromkeys(("smoke", "default"), {"n": 4096}))

    @pattern.problem
    def data(rng, n):
        x = rng.random(n, dtype=np.float32)
        return Problem(x=x, y=output(n, np.float32), bytes_moved=8 * n, operations=n)

    @pattern.reference
    def expected(p):
        return {"y": p.x + 1}

    return pattern
"""

PAIR: Final = """
{0} = declare("{0}")


@{0}.naive
def plain(session, p):
    \"\"\"Größe.\"\"\"
    {1}session.launch(eighty_doubles, kapi.Range(p.n), p.x, p.y)
"""

OTHER: Final = """

@{0}.optimized
def other(session, p):
    {1}session.launch(eighty_doubles, kapi.Range(p.n), p.x, p.y)
"""

FAILS: Final = 'raise NotImplementedError("not for this")\n    '

#: Pattern files by name: their encoding, what precedes their text, and their text.
FILES: Final[Mapping[str, tuple[str, bytes, str]]] = {
    "plain": (
        "utf-8",
        b"",
        HEAD
        + PAIR.format("two_variants", "")
        + OTHER.format("two_variants", "")
        + PAIR.format("one_variant", "")
        + PAIR.format("all_failed", FAILS)
        + OTHER.format("all_failed", FAILS),
    ),
    "alone": ("utf-8", b"", HEAD + PAIR.format("alone", "")),
    "marked": ("utf-8", codecs.BOM_UTF8, HEAD + PAIR.format("marked", "") + OTHER.format("marked", "")),
    "latin": ("latin-1", b"# -*- coding: latin-1 -*-\n", HEAD + PAIR.format("latin", "") + OTHER.format("latin", "")),
}

#: Patterns by their file.
PATTERNS: Final = {
    "two_variants": "plain",
    "one_variant": "plain",
    "all_failed": "plain",
    "alone": "alone",
    "marked": "marked",
    "latin": "latin",
}

ROOFS: Final = {"bandwidth_roof_gbps": 500.0, "fp32_roof_gflops": 1e4}


def without_samples(tables: dict[str, list[dict[str, Any]]], *, of: str = "") -> None:
    """Remove the samples of the cases of a variant, or of all."""
    gone = {case["case_id"] for case in tables["cases"] if case["variant"] == of or not of}
    for table in ("samples", "events", "checks"):
        tables[table] = [row for row in tables[table] if row["case_id"] not in gone]


def skipped(tables: dict[str, list[dict[str, Any]]]) -> None:
    without_samples(tables)
    for case in tables["cases"]:
        case |= {"status": "skipped", "reason": "needs fp64, which the device has not", "stopped_by": None}


def one_block(tables: dict[str, list[dict[str, Any]]]) -> None:
    first = min(sample["block"] for sample in tables["samples"] if sample["block"] is not None)
    tables["samples"] = [sample for sample in tables["samples"] if sample["block"] in (None, first)]


def interrupted(tables: dict[str, list[dict[str, Any]]]) -> None:
    without_samples(tables, of="other")
    for case in tables["cases"]:
        if case["variant"] == "other":
            case |= {"status": "interrupted", "reason": "the run ended before", "stopped_by": None}


def without_roofs(tables: dict[str, list[dict[str, Any]]]) -> None:
    tables["devices"] = [device | dict.fromkeys(ROOFS) for device in tables["devices"]]


def unchanged(tables: dict[str, list[dict[str, Any]]]) -> None:
    pass


#: Shapes of a run: the pattern, and a change of the run's tables.
SHAPES: Final[Mapping[str, tuple[str, Callable[[dict[str, list[dict[str, Any]]]], None]]]] = {
    "two variants": ("two_variants", unchanged),
    "one variant": ("one_variant", unchanged),
    "one of two interrupted": ("two_variants", interrupted),
    "no samples": ("two_variants", without_samples),
    "all failed": ("all_failed", unchanged),
    "all skipped": ("two_variants", skipped),
    "one block": ("two_variants", one_block),
    "no roofs": ("one_variant", without_roofs),
    "byte order mark": ("marked", unchanged),
    "latin-1": ("latin", unchanged),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the pattern files, and of a run of all."""
    place = tmp_path_factory.mktemp("shapes")
    for name, (encoding, head, text) in FILES.items():
        (place / f"{name}.py").write_bytes(head + text.encode(encoding))
    return place


@pytest.fixture(scope="module")
def whole(folder: Path) -> Run:
    files = [str(folder / f"{name}.py") for name in FILES]
    command = ["run", *files, "--preset", "smoke", "--output", str(folder / "whole")]
    done = subprocess.run([sys.executable, "-m", "xebench", *command], capture_output=True, check=False, text=True)
    assert done.returncode == 1 and "2 cases failed" in done.stdout, done.stdout + done.stderr
    return load_run(folder / "whole")


@pytest.fixture
def shaped(whole: Run, tmp_path: Path) -> Callable[[str], Path]:
    """Writes the run of a shape, and gives its folder."""

    def write(shape: str) -> Path:
        pattern, change = SHAPES[shape]
        part = whole.of(pattern)
        tables = {
            table: [dict(row) for row in rows(getattr(part, table)[[*schema.columns(table, measured=True)]])]
            for table in schema.MEASURED
        }
        tables["devices"] = [device | ROOFS for device in tables["devices"]]
        change(tables)
        with RunWriter.create(tmp_path / "run", {**whole.manifest}) as writer:
            for table, content in tables.items():
                writer.append(table, content)
            return writer.finish().path

    return write


#: Shapes of which every test run makes every page; the others are nightly.
OFTEN = ("one variant", "all failed", "latin-1")


@pytest.mark.parametrize(
    "shape", [pytest.param(shape, marks=() if shape in OFTEN else pytest.mark.nightly) for shape in SHAPES]
)
def test_every_shape_of_run_is_shown_by_every_command(
    shape: str, shaped: Callable[[str], Path], folder: Path, here: Here
) -> None:
    run, (pattern, _) = shaped(shape), SHAPES[shape]
    measured = load_run(run)
    file = folder / f"{PATTERNS[pattern]}.py"
    forms = ("text", "html")
    commands: list[Sequence[object]] = [
        *(["report", run, "--format", form] for form in formats.names()),
        ["report", run, pattern],
        ["report", run, "--verbose"],
        *(["compare", run, run, "--format", form] for form in forms),
        *(["compare", run, run, "--on", "answer", "--format", form] for form in forms if len(measured.pairs)),
        *(["show", pattern, "--path", file, "--run", run, "--format", form] for form in ("text", "json")),
    ]
    for command in commands:
        done = here(*command)
        assert done.returncode == 0 and "Traceback" not in done.stderr, (command, done.stderr)
    if not len(measured.pairs):
        done = here("compare", run, run, "--on", "answer")
        assert done.returncode == 2 and "no variants are compared in" in done.stderr
    page = here("report", run, "--format", "html").stdout
    if measured.summaries["median_ns"].notna().any():
        assert f'id="{pattern}"' in page and "session.launch(eighty_doubles" in page and "Größe." in page
        assert ("fp32 operations" in page) == (shape != "no roofs")


@pytest.mark.parametrize("name", ["alone", "marked"])
def test_the_file_of_one_pattern_is_named_in_its_place(name: str, folder: Path, here: Here, tmp_path: Path) -> None:
    shown = here("show", folder / f"{name}.py")
    assert shown.returncode == 0 and "session.launch(eighty_doubles" in shown.stdout, shown.stderr
    assert shown.stdout == here("show", name, "--path", folder / f"{name}.py").stdout
    made = here("isa", folder / f"{name}.py", "--ocloc", isa_kit.fake_ocloc(tmp_path / "fake"), "--format", "json")
    assert made.returncode == 0 and f'"{name}"' in made.stdout, made.stderr


def test_a_file_of_several_patterns_asks_for_one(folder: Path, here: Here) -> None:
    done = here("show", folder / "plain.py")
    assert done.returncode == 2 and "names 3 patterns, two_variants among them: name one" in done.stderr


@pytest.mark.nightly
@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_file_has_its_generated_code(pattern: str, folder: Path, here: Here, tmp_path: Path) -> None:
    fake = isa_kit.fake_ocloc(tmp_path / "fake")
    file, page = folder / f"{PATTERNS[pattern]}.py", tmp_path / "page.html"
    for form in ("text", "json"):
        done = here("isa", pattern, "--path", file, "--ocloc", fake, "--html", page, "--format", form)
        fails = pattern == "all_failed"
        assert done.returncode == (2 if fails else 0) and "Traceback" not in done.stderr, done.stderr
        assert ("no kernel was compiled" in done.stderr) == fails and page.exists()
