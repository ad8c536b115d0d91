"""What the seconds of a visit go into, by a clock that a test sets."""

from __future__ import annotations

import pytest

from xebench.measuring.machine_monitor import VisitClock
from xebench.vocabulary import VisitPart


class Clock:
    now = 5.0

    def __call__(self) -> float:
        return self.now


def test_every_second_belongs_to_one_part() -> None:
    clock = Clock()
    visit = VisitClock(clock)
    visit.enter(VisitPart.MAKING)
    clock.now += 2
    with visit.during(VisitPart.SAMPLING):
        clock.now += 3
        with pytest.raises(ValueError), visit.during(VisitPart.CHECKING):
            clock.now += 4
            visit.count_as(VisitPart.BUILDING, 1.5)
            raise ValueError
        clock.now += 5
    clock.now += 6
    assert visit.enter(VisitPart.ENDING) == VisitPart.MAKING
    clock.now += 7
    assert {part: value for part, value in visit.seconds().items() if value} == {
        "making": 8.0,
        "sampling": 8.0,
        "checking": 2.5,
        "building": 1.5,
        "ending": 7.0,
    }
    assert sum(visit.seconds().values()) == clock.now - 5.0
