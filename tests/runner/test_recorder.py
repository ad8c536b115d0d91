"""The session's record of commands, with fake events."""

from __future__ import annotations

from harness.runner.recorder import Recorder


class Event:
    def __init__(self, submit: int, start: int, end: int) -> None:
        self._times = (submit, start, end)
        self.waited = False

    def wait(self) -> None:
        self.waited = True

    def times(self) -> tuple[int, int, int]:
        assert self.waited, "times were read before the command was over"
        return self._times


def test_commands_are_read_after_they_were_waited_for() -> None:
    recorder = Recorder()
    recorder.begin()
    recorder.add("kernel", "triad", 0, Event(10, 20, 30))
    recorder.add("copy", "memcpy", 1, Event(0, 40, 50))
    first, second = recorder.collect()
    assert (first.kind, first.name, first.queue, first.submit_ns, first.start_ns, first.end_ns) == (
        "kernel",
        "triad",
        0,
        10,
        20,
        30,
    )
    assert second.submit_ns is None, "a missing time of submission must not count as the clock's zero"


def test_library_work_lies_between_its_barriers() -> None:
    recorder = Recorder()
    first, last = Event(1, 5, 6), Event(7, 20, 21)
    first.wait()
    recorder.add_bracket("sum", 0, first, last)
    (command,) = recorder.collect()
    assert (command.kind, command.submit_ns, command.start_ns, command.end_ns) == ("library", 1, 6, 20)


def test_a_new_sample_forgets_the_last() -> None:
    recorder = Recorder()
    recorder.add("kernel", "triad", 0, Event(1, 2, 3))
    recorder.begin()
    assert recorder.collect() == []


def test_waiting_again_asks_only_what_is_new() -> None:
    class Counting(Event):
        waits = 0

        def wait(self) -> None:
            super().wait()
            self.waits += 1

    recorder = Recorder()
    first, second = Counting(1, 2, 3), Counting(4, 5, 6)
    recorder.add("kernel", "a", 0, first)
    recorder.wait()
    recorder.add("kernel", "b", 0, second)
    recorder.wait()
    assert (first.waits, second.waits) == (1, 1)
    assert len(recorder.collect()) == 2
