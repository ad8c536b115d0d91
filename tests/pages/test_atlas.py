"""results/atlas.md and atlas.html have what every stored run answers, and say of which programs."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest
import stored

from tools.pages import atlas
from tools.pages.atlas import Cell, by_device, cell, in_words, stored_runs
from tools.pages.claims import RESULTS, Answered, Found, Said
from xebench.patterns.registry import discover
from xebench.records.claim import Claim
from xebench.results import Run, load_run, packed_run, schema

FIXTURE = Path(__file__).parents[1] / "results" / "fixtures" / "schema-6"


@pytest.fixture(scope="module")
def answered() -> Answered:
    return Answered(discover(), stored_runs(), {})


@pytest.mark.nightly
@stored.needed
def test_the_pages_are_up_to_date(answered: Answered) -> None:
    assert (RESULTS / "atlas.md").read_text(encoding="utf-8") == atlas.markdown(answered), "run 'make docs'"
    assert (RESULTS / "atlas.html").read_text(encoding="utf-8") == atlas.html(answered), "run 'make docs'"


@pytest.mark.nightly
@stored.needed
def test_every_claim_is_a_row_and_every_device_a_column(answered: Answered) -> None:
    rows, devices = atlas.rows(answered), by_device(answered.runs)
    assert len(rows) == len(answered.said) > 200
    assert {len(row.cells) for row in rows} == {len(devices)} and len(devices) >= 2
    assert sorted(name for names in devices.values() for name in names) == sorted(answered.runs)
    page = (RESULTS / "atlas.html").read_text(encoding="utf-8")
    assert not re.search(r"(?:src|href)=.?(?:https?:)?//", page), "nothing is fetched"

    class Rows(HTMLParser):
        cells = 0

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.cells += tag == "td"

    parser = Rows()
    parser.feed(page)
    chapters = {row.info.chapter for row in rows}
    of_matrix = len(chapters) * (len(devices) + len(atlas.FATES))
    assert parser.cells == len(rows) * (2 + len(devices)) + len(devices) * 9 + of_matrix


@pytest.mark.parametrize(
    ("kinds", "fate"),
    [
        (("holds", "holds", "holds"), "holds on all"),
        (("inverts", "no effect", "undecided"), "holds on none"),
        (("holds", "holds", "inverts"), "differs by class"),
        (("holds", "inverts", "inverts"), "turns within a class"),
        (("holds", "undecided", "skipped"), ""),
    ],
)
def test_the_fate_of_a_claim_over_two_gpus_and_a_cpu(kinds: tuple[str, ...], fate: str) -> None:
    assert atlas.fate([Cell("", kind) for kind in kinds], ("gpu", "gpu", "cpu")) == fate


def found(answer: str, *ends: float, older: bool = False) -> Found:
    speedup, low, high = (*ends, None, None, None)[:3]
    return Found(answer, "", speedup, {}, older, low, high)


NEW, OLD = found("holds", 2.0, 1.9, 2.1), found("inverts", 0.5, 0.4, 0.6, older=True)


@pytest.mark.parametrize(
    ("of_runs", "words", "kind"),
    [
        ([[NEW]], "holds 2.00 [1.90, 2.10]", "holds"),
        ([[OLD], [NEW]], "holds 2.00 [1.90, 2.10]", "holds"),  # an older program never counts beside today's
        ([[OLD]], "older program (inverts 0.500 [0.400, 0.600])", "older program"),
        ([[], [OLD]], "older program (inverts 0.500 [0.400, 0.600])", "older program"),
        ([[NEW, found("holds", 4.0, 3.0, 5.0)]], "holds 2.00 to 4.00 [1.90, 5.00] at 2 points", "holds"),
        (
            [[NEW], [found("inverts", 0.9, 0.8, 0.95)]],
            "holds 2.00 [1.90, 2.10]; inverts 0.900 [0.800, 0.950]",
            "inverts",
        ),
        ([[found("skipped")]], "skipped", "skipped"),
        ([[found("not asked", 2.0, 1.9, 2.1)]], "not asked", "not asked"),
        ([[]], "older program", "older program"),  # it has the pattern, but not as it is today
    ],
)
def test_a_cell(of_runs: list[list[Found]], words: str, kind: str) -> None:
    run = load_run(FIXTURE)
    said = Said(run.cases["pattern"].iloc[0], "v", Claim("faster", against="w"))
    names = [str(number) for number in range(len(of_runs))]
    made: Any = type("Made", (), {"said": [said], "runs": dict.fromkeys(names, run)})()
    made.found = {name: [each] for name, each in zip(names, of_runs, strict=True)}
    assert cell(cast(Answered, made), 0, names) == Cell(words, kind)
    made.said = [Said("another", "v", Claim("faster", against="w"))]
    if not any(of_runs):
        assert cell(cast(Answered, made), 0, names) == Cell("not in that run", "not in that run")


def test_a_number_is_shown_where_there_is_one() -> None:
    assert in_words([found("holds")]) == "holds"


def test_a_file_that_somebody_has_sent_is_a_run_too(tmp_path: Path) -> None:
    run = load_run(shutil.copytree(FIXTURE, tmp_path / "ours"))
    tables: dict[str, pd.DataFrame] = {
        table: getattr(run, table)[[*schema.columns(table)]] for table in schema.RUN_TABLES
    }
    tables["devices"] = tables["devices"].assign(name="Max 1550", device_class="gpu")
    (tmp_path / "sent").mkdir()
    packed_run.write(tmp_path / "sent" / "theirs.zip", run.manifest, tables)
    runs = stored_runs(tmp_path)
    assert set(runs) == {"ours", "sent/theirs.zip"}
    assert next(iter(by_device(runs))) == "Max 1550, GPU"
    empty = Run.of_tables(tmp_path, {"created": "2026"}, {})
    assert "cut off" not in {name for names in by_device({**runs, "cut off": empty}).values() for name in names}


def test_a_column_is_of_a_device_and_a_compiler(tmp_path: Path) -> None:
    run = load_run(shutil.copytree(FIXTURE, tmp_path / "run"))

    def compiled_by(compiler: str | None) -> Run:
        kernels = json.dumps([{"name": "k", "spirv_sha256": "0", "compiler": compiler}])
        tables = {"devices": run.devices, "cases": run.cases.assign(kernels=kernels)}
        return Run.of_tables(tmp_path, {"created": "2026"}, tables)

    compilers = {"theirs": "numba-dpex 0.23.0 (numba 0.59.1)", "ours": "numba-sycl 0.1.0 (numba 0.62)", "none": None}
    columns = by_device({name: compiled_by(compiler) for name, compiler in compilers.items()})
    device = atlas.device_of(run)
    assert columns == {f"{device}, numba-dpex 0.23.0": ["theirs", "none"], f"{device}, numba-sycl 0.1.0": ["ours"]}
