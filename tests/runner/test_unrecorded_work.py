"""What variants do past their session is recorded, refused, or makes the answer undecided; never free."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from command_kit import run_quietly

import xebench
from xebench.results import Run

FILE = Path(__file__).parents[1] / "faulty/unrecorded_work.py"
pytestmark = pytest.mark.device


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    output = tmp_path_factory.mktemp("unrecorded") / "run"
    names = ("direct", "unseen", "unseen_baseline", "on_host", "slow_baseline", "--path", str(FILE))
    limits = ("--preset", "smoke", "--device", "cpu", "--max-samples", "12", "--budget", "30")
    done = run_quietly("run", *names, *limits, "--output", output)
    assert done.returncode == 1, done.stdout + done.stderr
    return xebench.load_run(output)


def commands(run: Run, variant: str) -> list[tuple[str, str]]:
    """Kind and name of each command of a variant's first sample."""
    events = run.events[run.events["case_id"].str.startswith(f"direct/{variant}/")]
    first = events[events["sample_id"] == events["sample_id"].min()].sort_values("sequence")
    return list(zip(first["kind"], first["name"], strict=True))


@pytest.mark.numba_dpex
@pytest.mark.parametrize("variant", ["sqrt_after_much_work", "call_kernel", "call_kernel_async"])
def test_kernels_of_call_kernel_are_recorded(variant: str, run: Run) -> None:
    assert commands(run, variant) == [("kernel", "much_work"), ("kernel", "sqrt")]
    kernels = run.cases.set_index(["pattern", "variant"])["kernels"]["direct", variant]
    assert "much_work" in kernels and "sqrt" in kernels


def test_library_calls_are_recorded(run: Run) -> None:
    assert commands(run, "library") == [("library", "sqrt")]
    assert commands(run, "library_operators") == [
        ("library", name) for name in ("asarray", "add", "power", "multiply", "asarray", "copy")
    ]


def test_methods_of_the_queue_are_recorded_and_the_sessions_own_use_of_them_is_not(run: Run) -> None:
    assert commands(run, "methods_of_the_queue") == [
        ("copy", "memcpy"),
        ("barrier", "barrier"),
        ("copy", "memcpy"),
        ("kernel", "sqrt"),
    ]


@pytest.mark.numba_dpex
def test_a_variant_of_which_nothing_is_recorded_is_an_error_that_says_what_to_do(run: Run) -> None:
    failed = run.cases[run.cases["status"] == "error"].set_index("variant")["reason"]
    assert dict(failed) == {
        "nothing_recorded": "sample: it recorded no command: submit its work with session.launch, "
        "session.copy or session.call",
        "begins_anew": "sample: session.begin and session.measure belong to the harness: do not call them",
    }


@pytest.mark.parametrize(
    ("variant", "doubt"),
    [
        (
            "own_queue",
            "it makes a SyclQueue of its own, whose commands are not timed: use session.new_queue()",
        ),
        (
            "other_queue",
            "ones works on a queue that is not timed: pass sycl_queue=session.queue, or use session.alloc",
        ),
    ],
)
def test_what_cannot_be_recorded_leaves_the_pair_undecided_and_says_what_to_do(
    variant: str, doubt: str, run: Run
) -> None:
    case: Any = run.cases.set_index(["pattern", "variant"]).loc[("unseen", variant)]
    assert (case["status"], case["doubt"]) == ("ok", doubt)
    pair: Any = run.pairs.set_index(["pattern", "variant"]).loc[("unseen", variant)]
    assert pair["outcome"] == "inconclusive" and f"unrecorded work?: the variant: {doubt}" in pair["reason"]


def test_the_drop_in_for_call_kernel_is_recorded(run: Run) -> None:
    assert commands(run, "by_the_drop_in") == [("kernel", "much_work"), ("kernel", "sqrt")]


@pytest.mark.numba_dpex
@pytest.mark.parametrize(
    ("pattern", "variant", "side"),
    [
        ("unseen", "compiled_host_program", "the variant"),
        ("unseen_baseline", "sqrt_after_much_work", "the baseline"),
    ],
)
def test_work_that_only_the_host_saw_leaves_the_pair_undecided(pattern: str, variant: str, side: str, run: Run) -> None:
    pair: Any = run.pairs.set_index(["pattern", "variant"]).loc[(pattern, variant)]
    assert max(pair["speedup"], 1 / pair["speedup"]) > 2, "the recorded commands alone differ"
    assert pair["outcome"] == "inconclusive"
    assert f"besides its commands {side} takes " in pair["reason"] or f"{side}'s host time" in pair["reason"]


def test_work_on_the_host_beside_a_short_kernel_leaves_the_pair_undecided(run: Run) -> None:
    pairs = run.pairs[run.pairs["pattern"] == "on_host"].set_index("variant")
    assert set(pairs.index) == {"busy", "asleep", "compiled", "in_threads", "now_and_then"}
    for variant, pair in pairs.iterrows():
        assert pair["outcome"] == "inconclusive", (variant, pair["reason"])
        assert re.search("unrecorded work.: besides its commands the variant|the variant's host time", pair["reason"])


def test_a_baseline_that_sleeps_leaves_the_pair_undecided(run: Run) -> None:
    (pair,) = (row for _, row in run.pairs.iterrows() if row["pattern"] == "slow_baseline")
    assert pair["outcome"] == "inconclusive" and "besides its commands the baseline takes" in pair["reason"]
