"""Options that commands share."""

from __future__ import annotations

import click
import pytest

from xebench.cli.options import Duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("540", 540.0), ("0.5", 0.5), ("9m", 540.0), ("1h30m", 5400.0), ("9M30S", 570.0), (60.0, 60.0)],
)
def test_a_duration_is_a_number_of_seconds_or_has_units(text: str | float, seconds: float) -> None:
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["", "m", "9x", "-9m", "nan", "inf", "1:30"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        Duration().convert(text, None, None)
