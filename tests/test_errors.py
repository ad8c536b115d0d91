"""What is said of an error, whatever it is."""

from __future__ import annotations

import pytest

from xebench.errors import describe_error, first_line


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("first\nsecond"), "ValueError: first"),
        (ValueError("\n  padded  \n"), "ValueError: padded"),
        (StopIteration(), "StopIteration"),
        (Mute(), "Mute: an error that cannot say what it is"),
        (OSError("a name \udcff of bytes"), "OSError: a name ? of bytes"),
    ],
)
def test_an_error_is_one_line(error: BaseException, line: str) -> None:
    assert describe_error(error) == line


def test_a_text_of_megabytes_is_cut() -> None:
    line = first_line(ValueError("x" * 3_000_000))
    assert line.startswith("xxx") and line.endswith("...") and len(line) < 600


def test_a_line_that_ends_with_a_colon_goes_on() -> None:
    assert first_line(RuntimeError("in gemm():\nLevel-Zero error\nOn device x")) == "in gemm(): Level-Zero error"
    assert first_line(RuntimeError("nothing follows:")) == "nothing follows:"
