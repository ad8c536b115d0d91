"""The command ``xebench report``."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import path_option
from harness.cli.output import show, write
from harness.report import formats


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(formats.names()), default="text", show_default=True)
@path_option("--output", "File to write; standard output otherwise.")
def report(folder: Path, form: str, output: Path | None) -> None:
    """Show the run in FOLDER again."""
    from harness.records import load_run

    text = formats.render(load_run(folder), form)
    if output is None:
        show(text)
    else:
        write(output, text)
