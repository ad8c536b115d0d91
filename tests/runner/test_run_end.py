"""How long the end of a run takes, from tries of it."""

from typing import Any

from xebench.runner.run_end import LAST_S, EndTrials


class Writer:
    """Takes a second for each 100 bytes of its journal."""

    def __init__(self) -> None:
        self.journal_bytes, self.now, self.tried = 200, 0.0, []

    def write_tables(self) -> None:
        self.now += self.journal_bytes / 100
        self.tried.append(self.journal_bytes)


def test_the_end_is_tried_at_once_and_whenever_the_rows_have_doubled() -> None:
    writer: Any = Writer()
    trials = EndTrials(writer, clock=lambda: writer.now)
    expected = []
    for writer.journal_bytes in (200, 300, 399, 400, 700):
        expected.append(trials.seconds())
    assert expected == [2 + LAST_S, 3 + LAST_S, 3.99 + LAST_S, 4 + LAST_S, 7 + LAST_S]
    assert writer.tried == [200, 400]
