"""The command ``xebench list``."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import JSON, PATHS, show


@click.command("list")
@click.argument("names", nargs=-1)
@PATHS
@JSON
def list_patterns(names: tuple[str, ...], paths: tuple[Path, ...], as_json: bool) -> None:
    """The patterns; NAMES are names, chapters or catalogue ids, with * and ?."""
    from harness.patterns.registry import discover, select
    from harness.report import patterns_text as view

    infos = select(discover(paths), names)
    show(view.as_json(infos) if as_json else view.as_text(infos))
