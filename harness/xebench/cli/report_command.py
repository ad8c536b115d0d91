"""The command ``xebench report``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from xebench.cli.options import VERBOSE, path_option
from xebench.cli.output import show, write
from xebench.report import formats


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(formats.names()), default="text", show_default=True)
@path_option("--output", "File to write; standard output otherwise.")
@VERBOSE
def report(folder: Path, form: str, output: Path | None, verbose: bool) -> None:
    """Show the run in FOLDER again."""
    from xebench.tables import load_run
    from xebench.tables.run import telling_damage

    options: dict[str, Any] = {"verbose": verbose} if form == "text" else {}
    if options and output is not None:  # what is written is UTF-8, whatever the terminal is
        options |= {"colour": False, "encoding": "utf-8"}
    with telling_damage(folder):
        text = formats.render(load_run(folder), form, **options)
    if output is None:
        show(text, coloured=form == "text")
    else:
        write(output, text)
