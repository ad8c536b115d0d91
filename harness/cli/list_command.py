"""The command ``xebench list``."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import JSON, NAMES, PATHS
from harness.cli.output import show_view


@click.command("list")
@NAMES
@PATHS
@JSON
def list_patterns(names: tuple[str, ...], paths: tuple[Path, ...], as_json: bool) -> None:
    """The patterns; NAMES are names, chapters or catalogue ids, with * and ?."""
    from harness.patterns.registry import discover, select
    from harness.report import patterns_text

    show_view(patterns_text, as_json, select(discover(paths), names))
