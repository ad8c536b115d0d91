"""How long the end of a run takes, from tries of it."""

from typing import Any

import pytest

from xebench.runner.run import LAST_S, REPORT_PART, EndTrials


class Writer:
    """Takes a second for each 100 bytes of its journal."""

    def __init__(self) -> None:
        self.journal_bytes, self.now = 200, 0.0
        self.tried: list[int] = []

    def write_tables(self) -> None:
        self.now += self.journal_bytes / 100
        self.tried.append(self.journal_bytes)


def test_the_end_is_tried_at_once_and_whenever_the_rows_have_doubled() -> None:
    writer: Any = Writer()
    trials = EndTrials(writer, clock=lambda: writer.now)
    expected = []
    for writer.journal_bytes in (200, 300, 399, 400, 700):
        expected.append(trials.seconds())
    assert expected == pytest.approx([(1 + REPORT_PART) * tables + LAST_S for tables in (2, 3, 3.99, 4, 7)])
    assert writer.tried == [200, 400]
