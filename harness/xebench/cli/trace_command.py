"""The command ``xebench trace``."""

from __future__ import annotations

from pathlib import Path

import click

from xebench.cli import completion
from xebench.cli.options import output_file
from xebench.cli.output import show, write


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("pattern", shell_complete=completion.patterns)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    callback=output_file,
    help="File to write, such as trace.json; standard output otherwise.",
)
def trace(folder: Path, pattern: str, output: Path | None) -> None:
    """A timeline of PATTERN in the run in FOLDER: one execution of each variant, for ui.perfetto.dev.

    Tracks are the host's threads, with launches, waits, allocations, builds and lines of the variant, and of each queue
    its kernels and copies. Arrows lead from a command's submission to its start.
    """
    from xebench.report import trace_events
    from xebench.tables import load_run
    from xebench.tables.run import telling_damage

    with telling_damage(folder):
        text = trace_events.as_json(load_run(folder), pattern)
    if output is None:
        show(text)
    else:
        write(output, text)
