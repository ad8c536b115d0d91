"""What a silent worker is at is told now and then, and how long its steps take is known."""

from __future__ import annotations

from xebench.runner.silence import FIRST_TOLD_S, TOLD_AGAIN_S, Silence


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_silence_is_told_first_soon_and_then_seldom() -> None:
    clock, said = Clock(), list[str]()
    silence = Silence("p n=8", said.append, clock=clock)
    for _ in range(2):
        for _ in range(int(FIRST_TOLD_S + TOLD_AGAIN_S)):
            clock.now += 1
            silence.look("a", "check", 120)
        assert len(said) == 2
        assert said[0] == "p n=8: a (check): no answer for 10 s, waiting up to 120 s"
        said.clear()
        silence.heard()


def test_the_slowest_step_is_the_longest_between_two_signs_of_life() -> None:
    clock = Clock()
    silence = Silence("p", lambda text: None, clock=clock)
    silence.look(None, "problem", 120)
    clock.now += 2
    silence.look(None, "reference", 120)
    clock.now += 3
    silence.look("a", "check", 120)
    clock.now += 1
    silence.heard()
    clock.now += 50
    silence.look("a", "check", 120)
    assert silence.slowest_step_s == 3, "the step that it is at has no end yet"
