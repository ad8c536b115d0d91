"""What the commands share: options, and how an error that a user can cause ends. Imports click and nothing heavy."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import click

from harness.errors import XebenchError

PATHS: Final = click.option(
    "--path",
    "paths",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A pattern file of your own, beside the built-in ones. May be given more than once.",
)
JSON: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")
OCLOC: Final = click.option("--ocloc", help="Intel's offline compiler.  [default: ocloc on the path]")


def given_options() -> dict[str, str]:
    """What the user gave to the running command: name of each parameter, and how it is written."""
    context = click.get_current_context()
    given = click.core.ParameterSource.COMMANDLINE
    return {
        str(one.name): one.opts[0] if isinstance(one, click.Option) else one.human_readable_name
        for one in context.command.params
        if context.get_parameter_source(str(one.name)) is given
    }


def run_command(command: click.Command, name: str) -> None:
    """Run a command as a program; an error that a user can cause ends in one line and its exit status.

    Args:
        command: the command.
        name: of the program, for its help.
    """
    try:
        command(prog_name=name)
    except XebenchError as error:
        click.echo(f"xebench: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(0)
