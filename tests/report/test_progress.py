"""What is told while a run goes on."""

from __future__ import annotations

import io

import pytest

from xebench.report.console import ProgressLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


RESULTS = [("optimized", "3.1x"), ("cached", "no valid sample"), ("other", "skipped: needs a GPU")]


def test_what_is_found_is_told_where_there_is_no_terminal() -> None:
    stream = io.StringIO()
    with ProgressLine(stream) as progress:
        progress.say("a notice about [opencl:cpu:0] " + 100 * "x")
        progress.stage("self-test")
        progress.family(11, 34, "slm_histogram", 100.0)
        progress.variant("plain")
        progress.finished("slm_histogram", RESULTS)
        progress.family(12, 34, "alone")
        progress.finished("alone", [])
    assert stream.getvalue().splitlines() == [
        f"xebench: a notice about [opencl:cpu:0] {100 * 'x'}",
        "12/34, 1 min 40 s left, slm_histogram: optimized 3.1x; cached: no valid sample; other: skipped: needs a GPU",
        "13/34, alone",
    ]


def test_families_that_were_skipped_are_a_line_a_reason_at_the_end() -> None:
    stream = io.StringIO()
    with ProgressLine(stream) as progress:
        progress.family(0, 7, "a", 0.0)
        for name in "abcde":
            progress.finished(name, [("v", "skipped: needs a GPU"), ("w", "skipped: needs a GPU")])
        progress.finished("f", [("v", "skipped: needs fp64")])
        progress.finished("g", [("v", "2.0x"), ("w", "skipped: needs a GPU")])
    assert stream.getvalue().splitlines() == [
        "7/7, g: v 2.0x; w: skipped: needs a GPU",
        "skipped: needs a GPU: a, b, c and 2 more",
        "skipped: needs fp64: f",
    ]


def test_a_terminal_breaks_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    stream = Terminal()
    words = [f"word{number}" for number in range(40)]
    with ProgressLine(stream) as progress:
        progress.say(" ".join(words))
    lines = [line for line in stream.getvalue().splitlines() if "word" in line]
    assert len(lines) > 1 and " ".join(lines).split()[1:] == words


def test_nothing_is_shown_if_quiet() -> None:
    for stream in (Terminal(), io.StringIO()):
        with ProgressLine(stream, quiet=True) as progress:
            progress.say("a notice")
            progress.finished("slm_histogram", RESULTS)
        assert stream.getvalue() == ""


def test_a_terminal_shows_what_how_far_and_the_time_that_is_left() -> None:
    stream = Terminal()
    with ProgressLine(stream) as progress:
        progress.family(1, 3, "convolution", 125.4)
        progress.variant("cached")
    shown = stream.getvalue()
    assert "convolution: cached" in shown and "1/3" in shown
    assert "2 min 5 s left" in shown


def test_nothing_is_said_of_a_time_that_is_not_known() -> None:
    stream = Terminal()
    with ProgressLine(stream) as progress:
        progress.stage("loading the SYCL runtime")
        progress.family(1, 3, "convolution")
    assert "left" not in stream.getvalue()


def test_a_stage_is_shown_without_a_count() -> None:
    stream = Terminal()
    with ProgressLine(stream) as progress:
        progress.stage("loading the SYCL runtime")
    assert "loading the SYCL runtime" in stream.getvalue() and "/" not in stream.getvalue()


def test_what_was_found_stays_above_the_live_line() -> None:
    stream = Terminal()
    with ProgressLine(stream) as progress:
        progress.family(0, 2, "first")
        progress.finished("first", RESULTS[:1])
        progress.family(1, 2, "second")
    assert "1/2, first: optimized 3.1x\n" in stream.getvalue()
