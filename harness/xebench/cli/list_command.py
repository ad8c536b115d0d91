"""The command ``xebench list``."""

from __future__ import annotations

from pathlib import Path

import click

from xebench.cli.options import NAMES, PATHS, table_forms
from xebench.cli.output import show_view


@click.command("list")
@NAMES
@click.option(
    "--guide",
    metavar="TEXT",
    help="Only patterns about this chapter or section of the guide; a part of its name is enough.",
)
@PATHS
@table_forms
def list_patterns(names: tuple[str, ...], guide: str | None, paths: tuple[Path, ...], form: str) -> None:
    """List the patterns; NAMES are names, chapters or catalogue ids, with * and ?."""
    from xebench.patterns.registry import discover, select, select_by_guide
    from xebench.report import patterns_text

    infos = select(discover(paths), names)
    show_view(patterns_text, form, infos if guide is None else select_by_guide(infos, guide))
