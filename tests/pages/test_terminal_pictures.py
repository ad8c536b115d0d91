"""Pictures of terminals have what a command leaves on the screen, and fetch nothing."""

from __future__ import annotations

from tools import terminal_pictures

#: A live line that is erased, and one that moves up to where it was.
LIVE = r"""
printf 'busy\r\033[2K'
printf 'last\n\033[?25h\r\033[1A\033[2K'
printf '\033[1mdone\033[0m <%s>\n' $(stty size)
"""


def test_live_lines_are_gone_and_the_width_is_the_terminals() -> None:
    text = terminal_pictures.printed(LIVE, 80)
    assert "busy" not in text and "last" not in text
    assert "done" in text and f"<{terminal_pictures.LINES}>" in text and "<80>" in text


def test_a_picture_escapes_its_text_breaks_long_lines_and_fetches_nothing() -> None:
    svg = terminal_pictures.picture("a <b> " + "x" * 20, 10)
    assert "&lt;b&gt;" in svg and "x" * 11 not in svg
    assert "url(http" not in svg and "@font-face" not in svg
