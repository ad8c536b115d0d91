"""The command ``xebench completion``; the words that it offers are in `xebench.cli.completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from xebench.cli.output import show
from xebench.errors import XebenchError

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
