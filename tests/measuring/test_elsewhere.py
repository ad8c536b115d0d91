"""Variants with variables of their own: each in a process that has them, all in the same blocks."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from family_kit import Sender, measure

pytestmark = pytest.mark.device

FILE = Path(__file__).parents[1] / "faulty/with_variables.py"


@pytest.fixture(scope="module")
def coloured() -> Sender:
    return measure(FILE, "coloured", min_instances=2, max_blocks=12, budget_s=20.0)


def test_each_variant_has_its_variables_and_this_process_none(coloured: Sender) -> None:
    assert {name: case["reason"] for name, case in coloured.cases.items() if case["status"] != "ok"} == {}
    assert set(coloured.cases) == {"no_colour", "red", "blue", "blue_again"}
    assert "OWN_COLOUR" not in os.environ


def test_blocks_go_round_over_the_processes(coloured: Sender) -> None:
    rows = coloured.samples(state="hot")
    blocks = {row["block"] for row in rows}
    for block in blocks:
        assert {row["case_id"] for row in rows if row["block"] == block} == set(coloured.cases)
    numbers = [row["sample_id"] for row in coloured.rows["samples"]]
    assert numbers == sorted(set(numbers))
    assert len({row["instance"] for row in rows}) >= 2, "arrays and kernels are made anew elsewhere, too"
    assert all(row["device_ns"] > 0 and row["events"] == 1 for row in rows)


def test_what_was_compiled_and_launched_elsewhere_is_told(coloured: Sender) -> None:
    for name, case in coloured.cases.items():
        assert [kernel["name"] for kernel in json.loads(case["kernels"])] == ["double"], name
    events = {row["case_id"] for row in coloured.rows["events"]}
    assert events == set(coloured.cases)
    assert "build" in {row["stage"] for row in coloured.samples(case_id="red", state="compile")}


def test_a_process_that_ends_costs_its_variant_only() -> None:
    done = measure(FILE, "ends_badly", budget_s=20.0)
    assert done.cases["here"]["status"] == "ok"
    assert done.cases["kills_itself"]["status"] == "crashed"
    assert "the process with OWN_COLOUR=black: " in done.cases["kills_itself"]["reason"]
    assert done.cases["wrong_there"]["status"] == "wrong", "results are compared with the reference here"
    assert done.samples(case_id="here", state="hot")
    assert done.cases["black_too"]["status"] == "ok", done.cases["black_too"]["reason"]
    own, others = (done.samples(case_id=name, state="hot") for name in ("black_too", "here"))
    assert len(own) == len(others), "it goes on in another process"
