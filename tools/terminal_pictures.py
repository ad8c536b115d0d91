"""Pictures of what a command prints, in docs/img: ``python -m tools.terminal_pictures NAME COMMAND``.

The command runs in a terminal of 80 and of 100 columns; NAME-80.svg and NAME-100.svg are what stays on its screen.
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import termios
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.text import Text

FOLDER: Final = Path(__file__).resolve().parents[1] / "docs" / "img"
COLUMNS: Final = (80, 100)
#: Lines at most, from the first one.
LINES: Final = 60
#: Rich's own picture without its frame, and without the font that it fetches.
SVG: Final = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>.{unique_id}-matrix {{ font: {char_height}px/{line_height}px monospace; white-space: pre; }}
{styles}</style>
<rect width="100%" height="100%" fill="#292929"/>
<g transform="translate(9, 9)">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def printed(command: str, columns: int) -> str:
    """A terminal's text after a command, with its colours."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execvp("bash", ["bash", "-c", f"stty cols {columns} rows {LINES}; {command}"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, columns, 0, 0))
    parts = []
    while True:
        try:
            parts.append(os.read(terminal, 1 << 16))
        except OSError:  # the command has ended
            break
    os.waitpid(child, 0)
    text = re.sub(r"\x1b\[\?25[lh]", "", b"".join(parts).decode().replace("\r\n", "\n"))
    return re.sub(r"[^\n]*\n\r?\x1b\[1A\x1b\[2K|[^\n]*\r\x1b\[2K", "", text)  # without live lines that are gone


def picture(text: str, columns: int) -> str:
    """The first lines of it as SVG."""
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    lines = (Text.from_ansi(line) for line in text.splitlines())
    rows = [row for line in lines for row in line.divide(range(columns, len(line), columns)) or [line]]
    for row in rows[:LINES]:
        console.print(row, soft_wrap=True)
    return console.export_svg(code_format=SVG, font_aspect_ratio=0.61)


@click.command(help=__doc__)
@click.argument("name")
@click.argument("command")
def main(name: str, command: str) -> None:
    for columns in COLUMNS:
        file = FOLDER / f"{name}-{columns}.svg"
        text = f"\x1b[1m$ {command}\x1b[0m\n{printed(command, columns)}"
        file.write_text(picture(text, columns), encoding="utf-8")
        click.echo(f"{file.name}: {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
