"""A family in the worker, on a device."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import pytest
from family_kit import measure
from pattern_copies import write_pattern

from xebench.measuring import family
from xebench.measuring.local import ProblemPlace
from xebench.measuring.samples import SpotChecks

pytestmark = pytest.mark.device

TESTS = Path(__file__).parents[1]
TINY = TESTS / "faulty/tiny_patterns.py"
FAULTY = TESTS / "faulty/faulty_patterns.py"


def test_short_executions_are_timed_together_the_same_number_for_every_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    # how many depends on how fast the machine is
    monkeypatch.setattr(family, "batch_size", lambda *_, **limits_of_a_block: 3)
    done = measure(TINY, "host_only")
    assert {case["status"] for case in done.cases.values()} == {"ok"}
    assert {row["batch"] for row in done.samples(state="warmup")} == {1}
    batches = {(row["case_id"], row["batch"]) for row in done.samples(state="hot")}
    assert batches == {("fill", 3), ("fill_from_the_end", 3)}


def test_what_must_be_reset_before_each_execution_is_not_batched() -> None:
    done = measure(TINY, "counted")
    assert {case["status"] for case in done.cases.values()} == {"ok"}
    assert {row["batch"] for row in done.samples()} == {1}


def test_rounds_and_instances_share_what_was_made_of_a_seed(tmp_path: Path) -> None:
    from xebench.measuring.prepare import find_pattern

    path = tmp_path / "counting.py"
    counted = EXITS.replace('at("problem")', "calls[rng.bit_generator.seed_seq.entropy] += 1")
    write_pattern(path, counted.replace("AT", "()").replace("ERROR", "AssertionError"))
    done = measure(path, "exits", rounds=2, min_instances=2)
    assert {case["status"] for case in done.cases.values()} == {"ok"}
    calls = find_pattern(str(path), "exits").make_problem.__globals__["calls"]  # type: ignore[union-attr]
    assert (calls[1], calls[2], calls["reference"]) == (1, 1, 2), "of the run's seed and the next one"


def test_a_round_of_one_instance_makes_no_second_data(tmp_path: Path) -> None:
    from xebench.measuring.prepare import find_pattern

    path = tmp_path / "counting.py"
    counted = EXITS.replace('at("problem")', "calls[rng.bit_generator.seed_seq.entropy] += 1")
    write_pattern(path, counted.replace("AT", "()").replace("ERROR", "AssertionError"))
    done = measure(path, "exits", last=False, min_instances=3, instances=1)
    assert {case["data_sets"] for case in done.cases.values()} == {1}
    calls = find_pattern(str(path), "exits").make_problem.__globals__["calls"]  # type: ignore[union-attr]
    assert (calls[1], calls[2]) == (1, 0), "of the run's seed alone"


def test_hot_and_cold_have_rows_and_blocks_of_their_own() -> None:
    done = measure(TINY, "host_only", states=["hot", "cold"], max_blocks=14)
    hot, cold = done.samples(state="hot"), done.samples(state="cold")
    assert {row["batch"] for row in cold} == {1}, "only the first execution after a flush is cold"
    assert {row["block"] for row in hot}.isdisjoint(row["block"] for row in cold)
    for rows in (hot, cold):
        assert {row["case_id"] for row in rows} == {"fill", "fill_from_the_end"}
    assert len({row["block"] for row in hot}) <= 7 and len({row["block"] for row in cold}) <= 7
    assert {case["stopped_by"] for case in done.cases.values()} <= {"precision", "budget", "max blocks"}


def test_a_variant_that_fails_while_it_is_sampled_costs_itself_only() -> None:
    done = measure(FAULTY, "fails_later")
    assert done.cases["fails_at_the_fifth_call"]["status"] == "error"
    assert done.cases["fails_at_the_fifth_call"]["stopped_by"] == ""
    assert done.cases["write_ones"]["status"] == "ok" and done.cases["write_ones"]["stopped_by"]
    numbers = [row["sample_id"] for row in done.rows["samples"]]
    assert numbers == sorted(set(numbers))
    blocks = {row["block"] for row in done.samples(case_id="write_ones") if row["block"] >= 0}
    assert blocks == set(range(max(blocks) + 1)), "what was measured before the failure is kept, in its blocks"


def test_every_stretch_of_samples_has_the_state_of_the_machine() -> None:
    done = measure(TINY, "counted", budget_s=0.3, precision=1e-9, max_blocks=10_000)
    ranges = [(row["first_sample"], row["last_sample"]) for row in done.rows["machine"]]
    sampled = [row["sample_id"] for row in done.rows["samples"] if row["state"] not in ("compile", "traced")]
    assert [number for first, last in ranges for number in range(first, last + 1)] == sampled


def test_arrays_and_kernels_are_made_anew_for_every_instance(tmp_path: Path) -> None:
    path = tmp_path / "noting.py"
    write_pattern(path, NOTING)
    done = measure(path, "noting", budget_s=20.0, max_blocks=300, min_instances=3, precision=0.5)
    assert {case["status"] for case in done.cases.values()} == {"ok"}
    hot = done.samples(state="hot")
    instances = {row["instance"] for row in hot}
    assert instances == {*range(len(instances))} and len(instances) >= 3, "more where other programs make noise"
    assert {row["instance"] for row in done.samples(state="warmup")} == instances
    for row in done.samples(state="compile"):
        assert row["instance"] is None
    # a block is of one instance, and blocks and batches go on
    blocks = sorted({(row["block"], row["instance"]) for row in hot})
    assert len({block for block, _ in blocks}) == len(blocks)
    assert [instance for _, instance in blocks] == sorted(instance for _, instance in blocks)
    assert len({row["batch"] for row in hot}) == 1
    from xebench.measuring.prepare import find_pattern

    # the variant's own preparation is done again on arrays that are other objects, while the old ones are gone
    (notes,) = [find_pattern(str(path), "noting").variants["prepared"].function.__globals__["seen"]]
    assert len(notes) == len(instances)
    assert all(alive() is None for alive in notes[:-1])


def test_a_variant_that_cannot_be_prepared_again_costs_itself_only(tmp_path: Path) -> None:
    path = tmp_path / "noting.py"
    write_pattern(path, NOTING.replace("FAILS = False", "FAILS = True"))
    done = measure(path, "noting", budget_s=20.0, max_blocks=300, min_instances=3, precision=0.5)
    assert {name: case["status"] for name, case in done.cases.items()} == {"plain": "ok", "prepared": "error"}
    assert "prepare: RuntimeError: not again" in done.cases["prepared"]["reason"]
    assert {row["instance"] for row in done.samples(state="hot", case_id="plain")} >= {0, 1, 2}
    assert {row["instance"] for row in done.samples(state="hot", case_id="prepared")} == {0}


@pytest.mark.parametrize("error", ["SystemExit(3)", "KeyboardInterrupt", "GeneratorExit"])
@pytest.mark.parametrize(
    ("stage", "at"),
    [
        ("problem", ("problem", 1)),
        ("reference", ("reference", 1)),
        ("check", ("prepare", 1)),
        ("check", ("sample", 1)),
        ("sample", ("sample", 4)),
        ("prepare", ("prepare", 2)),
    ],
)
def test_a_pattern_that_exits_is_an_error_and_never_ok(
    stage: str, at: tuple[str, int], error: str, tmp_path: Path
) -> None:
    path = tmp_path / "exits.py"
    write_pattern(path, EXITS.replace("AT", repr(at)).replace("ERROR", error))
    done = measure(path, "exits", min_instances=2, max_blocks=40)
    of_all = stage in ("problem", "reference")
    assert done.cases["exits"]["status"] == "error"
    assert done.cases["exits"]["reason"] == f"{stage}: {error.replace('(', ': ').rstrip(')')}"
    assert done.cases["plain"]["status"] == ("error" if of_all else "ok")
    assert bool(done.samples(state="hot", case_id="plain")) == (not of_all)


@pytest.mark.parametrize("error", ["Mute()", "ValueError('x' * 3_000_000)", "ValueError('\\udcff')"])
def test_an_error_that_says_too_little_or_too_much_costs_its_variant_only(error: str, tmp_path: Path) -> None:
    path = tmp_path / "exits.py"
    mute = "class Mute(Exception):\n    def __str__(self):\n        raise RuntimeError\n"
    write_pattern(path, mute + EXITS.replace("AT", "('sample', 4)").replace("ERROR", error))
    done = measure(path, "exits", max_blocks=40)
    assert {name: case["status"] for name, case in done.cases.items()} == {"plain": "ok", "exits": "error"}
    assert len(done.cases["exits"]["reason"]) < 600


def test_a_pattern_that_exits_when_it_is_checked_again_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "exits.py"
    write_pattern(path, EXITS.replace("AT", "('reset', 1)").replace("ERROR", "SystemExit"))
    from xebench.measuring.correctness import Checker

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SpotChecks, "due", lambda self, variant: False)
        patch.setattr(Checker, "verify", lambda self, variant, place: sys.exit(0))
        done = measure(path, "exits")
    assert {(case["status"], case["reason"]) for case in done.cases.values()} == {("error", "recheck: SystemExit: 0")}


EXITS = """
import numpy as np
from collections import Counter
from xebench import Pattern, Problem, output
from xebench import kernel_api as kapi
from .kernels import double

calls = Counter()

def at(name):
    calls[name] += 1
    if (name, calls[name]) == AT:
        raise ERROR

def problem(rng, n):
    at("problem")
    return Problem(x=rng.random(n).astype(np.float32), y=output(n, np.float32))

def reference(p):
    at("reference")
    return {"y": 2 * p.x}

sizes = {"n": 64}
pattern = Pattern(
    "exits", guide="none", lesson="Ends its process.", presets={"smoke": sizes, "default": sizes}, odd_sizes={}
)
pattern.problem(problem)
pattern.reference(reference)

@pattern.naive
def plain(session, p):
    session.launch(double, kapi.Range(p.n), p.x, p.y)

@pattern.optimized
def exits(session, p):
    at("prepare")

    def sample():
        at("sample")
        session.launch(double, kapi.Range(p.n), p.x, p.y)

    return sample
"""

NOTING = """
import weakref
import numpy as np
from xebench import Pattern, Problem, output
from xebench import kernel_api as kapi
from .kernels import double

FAILS = False
seen = []
sizes = {"n": 64}
pattern = Pattern(
    "noting", guide="none", lesson="Notes its arrays.", presets={"smoke": sizes, "default": sizes}, odd_sizes={}
)
pattern.problem(lambda rng, n: Problem(x=rng.random(n).astype(np.float32), y=output(n, np.float32)))
pattern.reference(lambda p: {"y": 2 * p.x})

@pattern.naive
def plain(session, p):
    session.launch(double, kapi.Range(p.n), p.x, p.y)

@pattern.optimized
def prepared(session, p):
    if FAILS and seen:
        raise RuntimeError("not again")
    seen.append(weakref.ref(p))
    return lambda: session.launch(double, kapi.Range(p.n), p.x, p.y)
"""


def test_each_variant_is_traced_after_what_counts() -> None:
    done = measure(TINY, "counted")
    traced = done.samples(state="traced")
    assert sorted(row["case_id"] for row in traced) == sorted(done.cases)
    first = min(row["sample_id"] for row in traced)
    assert {row["state"] for row in done.rows["samples"] if row["sample_id"] < first} == {"compile", "warmup", "hot"}
    for row in traced:
        events = [event for event in done.rows["events"] if event["sample_id"] == row["sample_id"]]
        commands, calls = (
            [event for event in events if ("start_ns" in event) == is_command] for is_command in (True, False)
        )
        assert len(commands) == row["events"] > 0
        assert [event["sequence"] for event in events] == list(range(len(events)))
        assert [call["kind"] for call in calls].count("execution") == 1
        for event in commands:
            assert event["submit_began_host_ns"] < event["submit_ended_host_ns"] < event["over_host_ns"]
    sampled = {row["sample_id"] for row in done.rows["samples"]} - {row["sample_id"] for row in traced}
    assert all(event["submit_began_host_ns"] is None for event in done.rows["events"] if event["sample_id"] in sampled)


@pytest.mark.parametrize(("long_ns", "executions"), [(math.inf, 3), (0, 1)])
def test_a_long_execution_is_traced_once(long_ns: float, executions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xebench.measuring.family.LONG_NS", long_ns)
    traced: list[str] = []
    sample = ProblemPlace.sample

    def counted(place: ProblemPlace, variant: str, *arguments: Any, **options: Any) -> Any:
        traced.extend([variant] if options.get("traced") else [])
        return sample(place, variant, *arguments, **options)

    monkeypatch.setattr(ProblemPlace, "sample", counted)
    done = measure(TINY, "counted")
    assert len(traced) == executions * len(done.cases)
