"""What the seconds of a round go into, by a clock that a test sets."""

from __future__ import annotations

import pytest

from xebench.measuring.machine_monitor import RoundClock
from xebench.vocabulary import RoundPart


class Clock:
    now = 5.0

    def __call__(self) -> float:
        return self.now


def test_every_second_belongs_to_one_part() -> None:
    clock = Clock()
    clock_of_round = RoundClock(clock)
    clock_of_round.enter(RoundPart.MAKING)
    clock.now += 2
    with clock_of_round.during(RoundPart.SAMPLING):
        clock.now += 3
        with pytest.raises(ValueError), clock_of_round.during(RoundPart.CHECKING):
            clock.now += 4
            clock_of_round.count_as(RoundPart.BUILDING, 1.5)
            raise ValueError
        clock.now += 5
    clock.now += 6
    assert clock_of_round.enter(RoundPart.ENDING) == RoundPart.MAKING
    clock.now += 7
    taken = clock_of_round.take()
    assert {part: value for part, value in taken.items() if value} == {
        "making": 8.0,
        "sampling": 8.0,
        "checking": 2.5,
        "building": 1.5,
        "ending": 7.0,
    }
    assert sum(taken.values()) == clock.now - 5.0
    clock.now += 1
    assert clock_of_round.take() == {"ending": 1.0}, "what was taken does not come again"
