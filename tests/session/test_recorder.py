"""The session's record of commands, with fake events."""

from __future__ import annotations

from xebench.records.events import EventTimes
from xebench.session.recorder import MeasuredSample, Recorder


class Event:
    def __init__(self, submit: int, start: int, end: int) -> None:
        self._times = (submit, start, end)
        self.waits = 0

    def wait(self) -> None:
        self.waits += 1

    def times(self) -> tuple[int, int, int]:
        assert self.waits, "times were read before the command was over"
        return self._times


def test_commands_are_read_after_they_were_waited_for() -> None:
    recorder = Recorder()
    recorder.begin()
    recorder.add("kernel", "triad", 0, Event(10, 20, 30))
    recorder.add("copy", "memcpy", 1, Event(0, 40, 50))
    recorder.end_execution()
    ((first, second),) = recorder.collect()
    assert (first.kind, first.name, first.queue, first.submit_ns, first.start_ns, first.end_ns) == (
        "kernel",
        "triad",
        0,
        10,
        20,
        30,
    )
    assert second.submit_ns is None, "a missing time of submission must not count as the clock's zero"
    assert second.submitted_ns == 40


def test_library_work_lies_between_its_barriers() -> None:
    recorder = Recorder()
    first, last = Event(1, 5, 6), Event(7, 20, 21)
    first.wait()
    recorder.add_bracket("sum", 0, first, last)
    recorder.end_execution()
    ((command,),) = recorder.collect()
    assert (command.kind, command.submit_ns, command.start_ns, command.end_ns) == ("library", 1, 6, 20)


def test_a_new_sample_forgets_the_last() -> None:
    recorder = Recorder()
    recorder.add("kernel", "triad", 0, Event(1, 2, 3))
    recorder.end_execution()
    recorder.begin()
    assert recorder.collect() == []


def test_each_execution_has_its_own_commands_even_when_it_has_none() -> None:
    recorder = Recorder()
    for count in (2, 0, 1):
        for _ in range(count):
            recorder.add("kernel", "triad", 0, Event(1, 2, 3))
        recorder.end_execution()
    assert [len(execution) for execution in recorder.collect()] == [2, 0, 1]


def test_waiting_again_asks_only_what_is_new() -> None:
    recorder = Recorder()
    first, second = Event(1, 2, 3), Event(4, 5, 6)
    recorder.add("kernel", "a", 0, first)
    recorder.wait()
    recorder.add("kernel", "b", 0, second)
    recorder.end_execution()
    assert (first.waits, second.waits) == (1, 1)
    assert len(recorder.collect()[0]) == 2


def test_what_another_thread_submits_during_a_wait_is_waited_for_next() -> None:
    recorder, late = Recorder(), Event(4, 5, 6)

    class Meanwhile(Event):
        def wait(self) -> None:
            super().wait()
            recorder.add("kernel", "late", 1, late)

    recorder.add("kernel", "first", 0, Meanwhile(1, 2, 3))
    recorder.wait()
    assert late.waits == 0
    recorder.end_execution()
    assert late.waits == 1
    assert [command.name for command in recorder.collect()[0]] == ["first", "late"]


def test_what_comes_after_the_last_execution_is_no_part_of_a_sample() -> None:
    recorder = Recorder()
    recorder.end_execution()
    recorder.add("kernel", "late", 0, Event(1, 2, 3))
    assert recorder.is_late
    recorder.begin()
    assert recorder.collect() == []


def test_ranks_work_side_by_side_and_each_has_a_clock_of_its_own() -> None:
    first = MeasuredSample(80, 1, [[EventTimes(0, 10, 20, "kernel", "k", 0)]], build_ns=5, begin_ns=1000)
    second = MeasuredSample(90, 3, [[EventTimes(0, 500, 530, "copy", "c", 1, clock=1)]], build_ns=2, begin_ns=1007)
    both = MeasuredSample.of_ranks([first, second])
    assert both.begin_ns == 1000 and both.host_ns == 97, "from the first beginning to the last end"
    assert (both.late_ns, both.build_ns) == (3, 5)
    assert [(command.name, command.mpi_rank) for command in both.events] == [("k", 0), ("c", 1)]
    times = [[[(each.start_ns, each.end_ns) for each in one] for one in clock] for clock in both.times_by_clock()]
    assert times == [[[(10, 20)]], [[]], [[(500, 530)]]]
