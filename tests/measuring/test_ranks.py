"""Variants that ranks of MPI run together: measured as one, checked on every rank, and lost alone."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest
from family_kit import Sender, measure
from optional import needs

FILE = Path(__file__).parents[1] / "faulty/of_ranks.py"


@pytest.fixture(scope="module")
def shared() -> Sender:
    return measure(FILE, "shared_work", budget_s=20, min_instances=2, max_blocks=12)


@pytest.fixture(scope="module")
def spoiled() -> Sender:
    return measure(FILE, "spoiled_by_one", max_blocks=12)


@needs("mpiexec")
@pytest.mark.device
@pytest.mark.slow
def test_ranks_are_measured_beside_what_runs_here(shared: Sender) -> None:
    assert {name: case["reason"] for name, case in shared.cases.items() if case["status"] != "ok"} == {}
    rows = shared.samples(state="hot")
    names = {"one", "two", "without", "exchanged", "unlike"}
    for block in {row["block"] for row in rows}:
        assert {row["case_id"] for row in rows if row["block"] == block} == names
    assert {row["instance"] for row in rows} >= {0, 1}, "arrays and kernels are made anew on the ranks, too"
    assert {row["batch"] for row in rows} == {1}, "ranks meet before each execution"


@needs("mpiexec")
@pytest.mark.device
@pytest.mark.slow
def test_every_command_has_its_rank(shared: Sender) -> None:
    events = shared.rows["events"]
    found = {name: {row["mpi_rank"] for row in events if row["case_id"] == name} for name in shared.cases}
    two = {0, 1}
    assert found == {"one": {0}, "two": two, "without": {None}, "exchanged": two, "unlike": two}
    commands = {name: {row["events"] for row in shared.samples(case_id=name, state="hot")} for name in found}
    assert commands["two"] == {2 * count for count in commands["one"]}, "those of all ranks"


@needs("mpiexec")
@pytest.mark.device
@pytest.mark.slow
def test_which_ranks_they_are_is_told(shared: Sender) -> None:
    assert shared.cases["without"]["devices"] is None
    assert shared.cases["one"]["devices"].startswith("1 rank of ")
    assert shared.cases["two"]["devices"].startswith("2 ranks of ")
    assert " on opencl:cpu:0" in shared.cases["two"]["devices"]
    assert all("double" in case["kernels"] for case in shared.cases.values())


@needs("mpiexec")
@pytest.mark.device
@pytest.mark.slow
def test_a_rank_that_ends_or_fails_costs_its_variant_only(spoiled: Sender) -> None:
    reasons = {name: (case["status"], case["reason"]) for name, case in spoiled.cases.items()}
    status, reason = reasons["dies"]
    assert status == "crashed"
    assert reason.startswith("check: the 2 ranks: one ended by SIGSEGV in ") and "of_ranks.py:" in reason
    assert reasons["raises"] == ("error", "check: rank 1 alone: RuntimeError: rank 1 has had enough")
    assert reasons["good"] == reasons["good_after"] == ("ok", "")
    assert spoiled.samples(case_id="good", state="hot"), "in ranks that came for those that were lost"


@needs("mpiexec")
@pytest.mark.device
@pytest.mark.slow
def test_results_are_checked_on_every_rank(spoiled: Sender) -> None:
    case = spoiled.cases["wrong_on_one"]
    assert case["status"] == "wrong"
    assert case["reason"].startswith("y[rank, ...]: 1024 of 2048 elements differ; first at (1, 0): 7.0 ")


@pytest.mark.device
def test_without_mpi_its_variants_are_skipped_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    done = measure(FILE, "shared_work", max_blocks=6)
    for name in ("one", "two", "exchanged", "unlike"):
        assert done.cases[name]["status"] == "skipped"
        assert done.cases[name]["reason"] == "needs MPI: pip install mpi4py mpich (there is no mpi4py)"
    assert done.cases["without"]["status"] == "ok"


def test_the_launcher_has_the_variables_of_the_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.measuring import serve
    from xebench.system import runtime

    told: dict[str, str] = {}
    monkeypatch.setattr(runtime, "set_variables", told.update)
    monkeypatch.setattr(serve, "find_launcher", lambda: "mpiexec")
    monkeypatch.setattr(os, "execv", lambda path, arguments: told.update(ran=" ".join(arguments)))
    become: Any = serve.become_launcher  # it says that it does not return
    become("level_zero:gpu:0", '{"I_MPI_OFFLOAD_PIN": "1"}', "2", "python")
    assert told["I_MPI_OFFLOAD_PIN"] == "1", "what a variant asks for comes last"
    assert (told["I_MPI_OFFLOAD"], told["ran"]) == ("1", "mpiexec -n 2 python")


@pytest.mark.parametrize(
    ("code", "printed", "status"),
    [
        (11, "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)", -11),  # MPICH
        (9, "=   KILLED BY SIGNAL: 9 (Killed)\n=   KILLED BY SIGNAL: 6 (Aborted)", -6),  # Intel's
        (139, "prterun noticed that process rank 1 exited", -11),  # Open MPI
        (137, "EXIT STRING: Killed (signal 9)", -9),
        (3, "", 3),
    ],
)
def test_how_the_first_rank_ended_is_read_from_what_launchers_say(code: int, printed: str, status: int) -> None:
    from xebench.measuring.places import status_of

    assert status_of(code, printed) == status
