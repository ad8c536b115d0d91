"""The loop over a family, with a place that has no device: what it asks for, and what it makes of the replies."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from xebench.measuring.correctness import Expected
from xebench.measuring.device_worker import Lost
from xebench.measuring.family import FamilyLoop, Plan
from xebench.measuring.machine_monitor import RoundClock
from xebench.measuring.messages import Stage, TableRows
from xebench.measuring.place import Checked, Contents, OnePlace, Started, VariantRun
from xebench.measuring.samples import RowStream
from xebench.measuring.sampling import Sampling
from xebench.measuring.stopping import Instances
from xebench.patterns.pattern import Variant
from xebench.records.events import EventTimes
from xebench.session.recorder import MeasuredSample
from xebench.vocabulary import State, Status

RIGHT = np.arange(1, 5, dtype=np.float32)
#: Of every variant, unless a test says otherwise.
TIMES_NS = 1_000_000


class FakePlace:
    """Variants that take so long, and write so much; a test changes them by name.

    Attributes:
        asked: what was asked of it.
        fails: by variant and what is asked: an error.
        writes: by variant: what it makes of the outputs as they were.
        spoils: variants that change the input x when they are sampled.
        clock_s: seconds that all of it took so far.
        lasts_s: by what is asked: how many each takes; none by default.
        data_sets: of the instances.
    """

    is_there = True

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.fails: dict[tuple[str, str], BaseException] = {}
        self.writes: dict[str, Callable[[np.ndarray], np.ndarray]] = {}
        self.spoils: set[str] = set()
        self.data_sets = [0]
        self._changed: list[str] = []
        self._now = 0
        self.clock_s = 0.0
        self.lasts_s: dict[str, float] = {}

    def begin(self) -> Mapping[str, Any]:
        self._ask("begin", "")
        return {}

    def start(self, variant: str, contents: Contents | None) -> Started:
        self._ask("start", variant)
        return Started(5_000, (), [{"name": variant}], None, self._written(variant, contents))

    def sample(
        self, variant: str, batch: int, flush: Callable[[], None] | None = None, *, traced: bool = False
    ) -> MeasuredSample:
        self._ask("sample", variant)
        if flush is not None:
            flush()
        self._changed = ["x"] if variant in self.spoils else self._changed
        return self._measured(batch)

    def check(self, variant: str, contents: Contents | None) -> Checked:
        self._ask("check", variant)
        return Checked(self._measured(1), self._written(variant, contents))

    def changed(self) -> Sequence[str]:
        changed, self._changed = self._changed, []
        return changed

    def renew(self, data_set: int = 0) -> None:
        self.data_sets.append(data_set)
        self._ask("renew", "")

    def end(self) -> None:
        self._ask("end", "")

    def _ask(self, what: str, variant: str) -> None:
        self.asked.append((what, variant) if variant else (what,))
        self.clock_s += self.lasts_s.get(what, 0.0)
        if error := self.fails.get((what, variant)):
            raise error

    def _written(self, variant: str, contents: Contents | None) -> Contents:
        if contents is None:
            return {}
        write = self.writes.get(variant, lambda before: RIGHT)
        return {"y": write(contents.get("y", np.zeros_like(RIGHT)))}

    def _measured(self, batch: int) -> MeasuredSample:
        executions = []
        for _ in range(batch):
            executions.append([EventTimes(self._now, self._now + 10, self._now + 10 + TIMES_NS, "kernel", "k", 0)])
            self._now += 2 * TIMES_NS
        return MeasuredSample(2 * TIMES_NS * batch, 0, executions)


class Rows:
    def __init__(self) -> None:
        self.of: dict[str, list[dict[str, Any]]] = defaultdict(list)

    def send(self, message: TableRows) -> None:
        self.of[message.table] += message.rows


class Steps:
    def __init__(self) -> None:
        self.stages: list[Stage] = []

    def show(self, variant: str | None, stage: Stage) -> None:
        if self.stages[-1:] != [stage]:
            self.stages.append(stage)


class Measurement:
    """A family of a and b, measured by the given plan."""

    def __init__(self, place: FakePlace, expected: Mapping[int, Expected] | None = None, **plan: Any) -> None:
        limits = {"budget_s": 30.0, "min_blocks": 6, "max_blocks": 24, "min_instances": 2, "few_instances": 2}
        self.sampling = Sampling(**{**limits, **plan.pop("sampling", {})})
        self.stopped_by = ""
        self.rows, self.steps, self.place = Rows(), Steps(), place
        self.clock = RoundClock(lambda: place.clock_s)
        self.runs = {name: VariantRun(Variant(name, "naive", print, (), (), "")) for name in ("a", "b")}
        device: Any = SimpleNamespace(device_class="cpu", timer_resolution_ns=1)
        stream = RowStream(self.rows, {name: name for name in self.runs}, 0)
        if expected is None:
            expected = {0: Expected(0.0, 0.0, {"y": RIGHT}, fills={"y": None})}
        self.family = FamilyLoop(
            Plan("device", "a", **plan),
            list(self.runs.values()),
            OnePlace(place),
            expected,
            stream,
            device,
            make_flusher=lambda: pytest.fail("no sample is cold"),
            show=self.steps.show,
            clock=self.clock,
        )
        self._stream = stream

    def run(self) -> Measurement:
        self.place.begin()
        self.stopped_by = self.family.measure_all(self.sampling)
        self._stream.flush()
        return self

    def outcomes(self) -> dict[str, tuple[str, str]]:
        return {name: (str(run.status), run.reason) for name, run in self.runs.items()}

    def samples(self, **wanted: Any) -> list[dict[str, Any]]:
        return [row for row in self.rows.of["samples"] if all(row[name] == value for name, value in wanted.items())]


def test_variants_are_checked_sampled_in_instances_and_checked_again() -> None:
    place = FakePlace()
    done = Measurement(place).run()
    assert set(done.outcomes().values()) == {("ok", "")}
    assert done.stopped_by == "precision"
    later = [Stage.PROBLEM, Stage.PREPARE, Stage.SAMPLE, Stage.RECHECK]
    assert done.steps.stages == [Stage.CHECK, Stage.SAMPLE, Stage.RECHECK, *later]
    assert place.asked[:3] == [("begin",), ("start", "a"), ("start", "b")]
    anew = place.asked.index(("renew",))
    assert sorted(place.asked[anew : anew + 3]) == [("renew",), ("start", "a"), ("start", "b")], "in any order"
    assert place.asked[-2:] == [("check", "a"), ("check", "b")]
    assert place.asked.count(("check", "a")) >= 2, "among the samples, too"
    assert {row["instance"] for row in done.samples(state="hot")} == {0, 1}
    for block in {row["block"] for row in done.samples(state="hot")}:
        assert {row["case_id"] for row in done.samples(block=block, state="hot")} == {"a", "b"}
    assert [row["stage"] for row in done.samples(state="compile", case_id="a")] == ["launch"]


def test_the_parts_of_a_round_add_up_to_it() -> None:
    place = FakePlace()
    place.lasts_s = {"start": 8.0, "sample": 1.0, "check": 3.0, "renew": 16.0}
    done = Measurement(place).run()
    asked = Counter(what for what, *_ in place.asked)
    built_s = asked["start"] * 5_000 / 1e9  # what a place says that its first calls took
    warm = len(done.samples(state="warmup"))
    parts = {part: round(seconds, 6) for part, seconds in done.clock.take().items() if seconds}
    assert parts == {
        "uploading": asked["renew"] * 16.0,
        "building": round(built_s, 6),
        "warming up": warm,
        "sampling": asked["sample"] - warm,
        "checking": round(asked["check"] * 3.0 + asked["start"] * 8.0 - built_s, 6),
    }
    assert round(sum(parts.values()), 5) == place.clock_s


def test_a_wrong_variant_is_not_sampled() -> None:
    place = FakePlace()
    place.writes["b"] = lambda before: RIGHT + 1
    done = Measurement(place).run()
    assert done.outcomes()["b"][0] == "wrong" and done.outcomes()["a"] == ("ok", "")
    assert not done.samples(case_id="b", state="hot") and done.samples(case_id="a", state="hot")


def test_a_variant_that_leaves_outputs_as_they_are_is_wrong() -> None:
    place = FakePlace()
    place.writes["b"] = lambda before: before
    assert Measurement(place).run().outcomes()["b"][0] == "wrong"


def test_a_variant_that_is_wrong_only_later_is_found_among_its_samples() -> None:
    place = FakePlace()
    calls = iter(range(1000))
    place.writes["b"] = lambda before: RIGHT if next(calls) == 0 else before
    status, reason = Measurement(place).run().outcomes()["b"]
    assert status == "wrong" and reason.startswith("wrong in block ") and "two calls on the same data differ" in reason


def test_instances_take_their_data_in_turn_and_are_compared_with_the_reference_of_these() -> None:
    place = FakePlace()
    place.writes = dict.fromkeys("ab", lambda before: RIGHT + place.data_sets[-1])
    other = Expected(0.0, 0.0, {"y": RIGHT + 1}, {}, {"y": None})
    expected = Expected(0.0, 0.0, {"y": RIGHT}, fills={"y": None}, other=other)
    done = Measurement(place, {0: expected}, data_sets=2).run()
    assert set(done.outcomes().values()) == {("ok", "")}
    assert {row["instance"]: row["data_set"] for row in done.samples(state="hot")} == {0: 0, 1: 1}


def test_a_variant_that_is_wrong_on_new_data_is_found_in_the_next_instance() -> None:
    place = FakePlace()
    place.writes["a"] = lambda before: RIGHT + place.data_sets[-1]
    other = Expected(0.0, 0.0, {"y": RIGHT + 1}, {}, {"y": None})
    expected = Expected(0.0, 0.0, {"y": RIGHT}, fills={"y": None}, other=other)
    done = Measurement(place, {0: expected}, data_sets=2).run()
    assert done.outcomes()["a"] == ("ok", "") and done.outcomes()["b"][0] == "wrong"


def test_the_largest_part_of_the_tolerance_that_a_right_result_used_is_kept() -> None:
    place = FakePlace()
    place.writes["b"] = lambda before: RIGHT * np.float32(1.0075)
    done = Measurement(place, {0: Expected(0.01, 0.0, {"y": RIGHT}, fills={"y": None})}).run()
    assert done.runs["a"].facts["tolerance_used"] == 0.0
    assert done.runs["b"].facts["tolerance_used"] == pytest.approx(0.75, rel=1e-3)


def test_inputs_that_are_changed_in_a_sample_cost_everyone() -> None:
    place = FakePlace()
    place.spoils.add("b")
    reason = "input x was changed in a sample, by this variant or another: declare it inout"
    assert Measurement(place).run().outcomes() == {"a": ("wrong", reason), "b": ("wrong", reason)}


@pytest.mark.parametrize(("what", "stage"), [("start", "check"), ("sample", "sample")])
def test_what_a_variant_raises_costs_itself_only(what: str, stage: str) -> None:
    place = FakePlace()
    place.fails[what, "b"] = SystemExit(3)
    done = Measurement(place).run()
    assert done.outcomes() == {"a": ("ok", ""), "b": ("error", f"{stage}: SystemExit: 3")}
    assert done.samples(case_id="a", state="hot")


def test_what_the_essential_variant_raises_is_raised_and_others_end_alone() -> None:
    place = FakePlace()
    place.fails["sample", "b"] = ValueError("not today")
    done = Measurement(place, essential="a", words={Stage.SAMPLE: "call"}).run()
    assert done.outcomes()["b"] == ("error", "call: ValueError: not today")
    for error in (ZeroDivisionError("own"), KeyboardInterrupt()):
        place.fails["sample", "a"] = error
        with pytest.raises(type(error)):
            Measurement(place, essential="a").run()


def test_with_an_essential_variant_the_loss_of_the_place_ends_the_measurement_and_names_who_was_at_work() -> None:
    place = FakePlace()
    place.fails["sample", "b"] = Lost("its process ended", Status.CRASHED)
    with pytest.raises(Lost) as caught:
        Measurement(place, essential="a").run()
    assert caught.value.variant == "b"
    done = Measurement(place).run()
    assert done.outcomes()["b"] == ("crashed", "sample: its process ended"), "else it costs its variant"


def test_results_may_be_learnt_of_a_variant_in_each_instance() -> None:
    place = FakePlace()
    instances = iter([RIGHT, RIGHT * 2])
    learnt = RIGHT

    def first(before: np.ndarray) -> np.ndarray:
        nonlocal learnt
        if place.asked[-1][0] == "start":
            learnt = next(instances)
        return learnt

    place.writes["b"], place.writes["a"] = first, lambda before: learnt
    done = Measurement(place, {0: Expected(0.0, 0.0, of="b")}).run()
    assert set(done.outcomes().values()) == {("ok", "")}
    assert place.asked[1:3] == [("start", "b"), ("start", "a")], "whose results the others need is the first"
    place = FakePlace()
    place.writes["a"] = lambda before: RIGHT + 1
    done = Measurement(place, {0: Expected(0.0, 0.0, of="b")}).run()
    assert done.outcomes()["a"][0] == "wrong"


def measured(family: FamilyLoop, *numbers: int) -> None:
    limits = Instances(Sampling(budget_s=30.0, min_blocks=6, max_blocks=6, min_instances=1)).limits
    for number in numbers:
        family.measure(number, State.HOT, limits)


def test_a_later_round_goes_on_counting() -> None:
    done = Measurement(FakePlace(), first_block=7)
    measured(done.family, 3, 4)
    done.family.close()
    assert {row["instance"] for row in done.samples(state="hot")} == {3, 4}
    assert min(row["block"] for row in done.samples(state="warmup")) == 7


def test_a_later_round_goes_on_with_the_data_of_its_instances() -> None:
    place = FakePlace()
    place.data_sets = [1]
    place.writes = dict.fromkeys("ab", lambda before: RIGHT + place.data_sets[-1])
    other = Expected(0.0, 0.0, {"y": RIGHT + 1}, {}, {"y": None})
    expected = Expected(0.0, 0.0, {"y": RIGHT}, fills={"y": None}, other=other)
    done = Measurement(place, {0: expected}, data_sets=2)
    measured(done.family, 3, 4)
    done.family.close()
    assert set(done.outcomes().values()) == {("ok", "")}
    assert {row["instance"]: row["data_set"] for row in done.samples(state="hot")} == {3: 1, 4: 0}
