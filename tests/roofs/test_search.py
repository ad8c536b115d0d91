"""The search for the best form, on forms with invented times."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from xebench.errors import Unsupported
from xebench.roofs.search import SHORTEST_NS, Effort, Form, NoForm, WrongResult, grown, search

EFFORT = Effort(finalists=2, patience=3, patience_s=0.0, confirmations=1, most_s=100.0)


class Clock:
    """Seconds that pass with each sample."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Timed:
    """A form with given times, the last of which repeats; or with an error."""

    def __init__(
        self,
        name: str,
        times: Iterable[float],
        amount: float = 1.0,
        error: Exception | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._times = self._repeat(list(times))
        self.samples = 0
        self.verified = 0
        self.error = error
        self._clock = clock or Clock()
        self.form = Form({"form": name}, amount, self.run, self.verify)

    @staticmethod
    def _repeat(times: list[float]) -> Iterator[float]:
        return itertools.chain(times, itertools.repeat(times[-1] if times else math.inf))

    def run(self) -> float:
        self.samples += 1
        self._clock.now += 1.0
        return next(self._times)

    def verify(self) -> None:
        self.verified += 1
        if self.error:
            raise self.error


def test_the_best_form_is_that_with_the_least_time_for_its_amount() -> None:
    forms = [Timed("short", [10.0], amount=1), Timed("long", [40.0], amount=8), Timed("middle", [20.0], amount=3)]
    best = search([timed.form for timed in forms], EFFORT)
    assert best.form == {"form": "long"}
    assert best.best_ns == best.median_ns == 40.0
    assert best.amount == 8
    assert forms[0].samples == 1, "only finalists go on"
    assert len(best.times_ns) == forms[1].samples > 1


def test_the_winner_is_verified_again_after_its_last_sample() -> None:
    form = Timed("only", [5.0])
    search([form.form], EFFORT)
    assert form.verified == 2

    class Late(Timed):
        def verify(self) -> None:
            super().verify()
            if self.samples:
                raise WrongResult("overwritten meanwhile")

    with pytest.raises(WrongResult, match="meanwhile"):
        search([Late("late", [5.0]).form], EFFORT)


def test_wrong_forms_are_left_out_and_named() -> None:
    wrong = Timed("fast", [1.0], error=WrongResult("3 of 4 elements are wrong"))
    best = search([wrong.form, Timed("slow", [9.0]).form], EFFORT)
    assert best.form == {"form": "slow"}
    assert best.rejected == ("form fast: 3 of 4 elements are wrong",)
    assert wrong.samples == 0


def test_when_no_form_works_it_matters_why() -> None:
    lacking = Timed("a", [1.0], error=Unsupported("no such memory"))
    with pytest.raises(Unsupported, match="no such memory"):
        search([lacking.form], EFFORT)
    with pytest.raises(NoForm, match="wrong"):
        search([lacking.form, Timed("b", [1.0], error=WrongResult("all wrong")).form], EFFORT)
    with pytest.raises(Unsupported, match="no form fits"):
        search([], EFFORT)


def test_an_unexpected_error_is_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError):
        search([Timed("bug", [1.0], error=ZeroDivisionError()).form], EFFORT)


def test_samples_that_cannot_be_trusted_do_not_count() -> None:
    form = Timed("disturbed", [math.inf, math.inf, 7.0, math.inf, 6.0, 8.0])
    best = search([form.form], EFFORT)
    assert math.isfinite(best.median_ns)
    assert best.best_ns == 6.0
    with pytest.raises(NoForm, match="cannot be trusted"):
        search([Timed("never", [math.inf]).form], EFFORT)


def test_it_goes_on_while_it_gets_faster() -> None:
    times = [100.0 - step for step in range(40)]
    form = Timed("warming up", times)
    assert search([form.form], EFFORT).best_ns == times[-1]
    assert form.samples >= len(times) + EFFORT.patience


def test_it_waits_for_the_best_to_be_confirmed() -> None:
    # one lucky sample among slow ones, and the second only much later
    form = Timed("noisy", [10.0] + [20.0] * 30 + [10.0])
    best = search([form.form], replace(EFFORT, confirmations=2))
    assert form.samples >= 32
    assert best.best_ns == 10.0


def test_the_time_is_limited() -> None:
    clock = Clock()
    form = Timed("endless", (1000.0 * 0.9**step for step in range(100)), clock=clock)
    search([form.form], replace(EFFORT, most_s=5.0), clock=clock)
    assert form.samples == 1 + 5


def test_problems_grow_until_no_run_is_too_short() -> None:
    sizes: list[int] = []

    def time_of(size: int) -> float:
        sizes.append(size)
        return size * SHORTEST_NS / 7.5

    assert grown(1, 1000, time_of) == 8
    assert sorted(set(sizes)) == [1, 8], "as much longer as is needed, at once"
    assert grown(1, 6, lambda size: 1.0) == 4, "not beyond the limit"
    assert grown(16, 16, lambda size: 1.0) == 16


def test_a_time_that_nothing_confirms_is_not_taken_for_long_enough() -> None:
    # as seen on a GPU: the host's clock confirms no short run, and most of the long ones
    times = itertools.cycle([math.inf, math.inf, SHORTEST_NS / 4])
    assert grown(1, 64, lambda size: math.inf if size < 8 else size * next(times)) == 8
    assert grown(1, 64, lambda size: size * next(times)) == 4
    assert grown(1, 64, lambda size: math.inf) == 64, "the longer a run, the surer its time"
    assert grown(1, 64, lambda size: math.nan) == 64


def test_the_search_outlasts_a_neighbour_on_a_core() -> None:
    clock = Clock()

    class Milliseconds(Timed):
        def run(self) -> float:
            time_ns = super().run()
            clock.now += 0.001
            return time_ns

    # a neighbour holds one of two cores for 50 ms
    form = Milliseconds("held", [2e6] * 50 + [1e6])
    best = search([form.form], Effort(), clock=clock)
    assert best.best_ns == 1e6
    assert sum(time_ns == 1e6 for time_ns in best.times_ns) >= Effort().confirmations
