"""Commands that one starts with: ``xebench list`` and ``xebench completion``."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import get_completion_class

from xebench.cli.options import NAMES, PATHS, table_forms
from xebench.cli.output import show, show_view
from xebench.errors import XebenchError


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


SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that lets a SHELL complete commands, options, patterns, presets and GPUs."""
    completer = get_completion_class(shell)
    assert completer is not None  # click has all of SHELLS
    try:
        show(completer(context.find_root().command, {}, "xebench", "_XEBENCH_COMPLETE").source())
    except RuntimeError as error:  # a bash that is too old
        raise XebenchError(str(error)) from None
