"""What the commands share: options, and how an error that a user can cause ends. Imports click and nothing heavy."""

from __future__ import annotations

import math
import os
import signal
import sys
from pathlib import Path
from typing import Any, Final

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


class Positive(click.FloatRange):
    """A number above 0 that is finite, which click's own range does not ask for."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number", param, ctx)
        return number


def output_file(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    """A file that can be written, found out before hours of work; the callback of an option."""
    if value is not None:
        if value.is_dir():
            raise click.BadParameter(f"{value} is a folder: name a file in it")
        _check_writable(value.parent, "make it, or name a file elsewhere")
    return value


def output_folder(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    """A folder that can be written, made if there is none; the callback of an option."""
    if value is not None:
        try:
            value.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise click.BadParameter(f"{value} cannot be made ({error.strerror}): name another folder") from None
        _check_writable(value, "name another folder")
    return value


def _check_writable(folder: Path, advice: str) -> None:
    if not folder.is_dir():
        raise click.BadParameter(f"there is no folder {folder}: {advice}")
    if not os.access(folder, os.W_OK):
        raise click.BadParameter(f"the folder {folder} cannot be written: {advice}")


def write(path: Path, text: str) -> None:
    """Write a file that a user asked for, and say so on standard error.

    Raises:
        XebenchError: it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise XebenchError(f"{path} cannot be written ({error.strerror}): name another file") from None
    click.echo(f"wrote {path}", err=True)


def show(text: str) -> None:
    """Print a result. Where nobody reads it any more the command goes on to its exit status.

    Raises:
        XebenchError: standard output is a file that cannot be written.
    """
    try:
        click.echo(text)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return
        raise XebenchError(f"the result cannot be printed ({error.strerror}): print it to another place") from None


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
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        status = command.main(prog_name=name, standalone_mode=False)
    except XebenchError as error:
        click.echo(f"xebench: {error}", err=True)
        sys.exit(error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else name
        click.echo(f"xebench: {error.format_message().rstrip('.')}: see {where} --help", err=True)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("xebench: stopped", err=True)
        sys.exit(128 + signal.SIGINT)
    sys.exit(status if isinstance(status, int) else 0)
