"""Speed-ups drawn with characters."""

from __future__ import annotations

import pytest

from xebench.report.console import axis, bar, cells_for

CELLS = 17  # two for each doubling


@pytest.mark.parametrize(("room", "cells"), [(17, 17), (24, 17), (25, 25), (32, 25)])
def test_each_doubling_has_as_many_characters(room: int, cells: int) -> None:
    assert cells_for(room) == cells


def test_numbers_stand_over_their_place() -> None:
    assert axis(CELLS) == "1/4 1   4  16  64"
    assert len(axis(25)) == 25


@pytest.mark.parametrize(
    ("ends", "drawn"),
    [
        ((4.0, 2.0, 8.0), "    │ ━━●━━      "),
        ((1.0, 1.0, 1.0), "    ●            "),
        ((0.5, 0.5, 0.5), "  ● │            "),
        ((2.0, None, None), "    │ ○          "),
        ((0.01, 0.009, 0.011), "◀   │            "),
        ((1000.0, 900.0, 1100.0), "    │           ▶"),
        ((32.0, 16.0, 65.0), "    │       ━━●━▶"),
        ((1000.0, None, None), "    │           ▶"),
        ((None, None, None), "                 "),
    ],
)
def test_what_is_beyond_the_axis_has_an_arrow(
    ends: tuple[float | None, float | None, float | None], drawn: str
) -> None:
    assert bar(*ends, CELLS) == drawn
