"""What commands print and write, and how an error that a user can cause ends. Imports click and nothing heavy."""

from __future__ import annotations

import errno
import os
import signal
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from xebench.errors import XebenchError


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


def show_view(view: ModuleType, as_json: bool, *content: Any) -> None:
    """Print a result by a module of `xebench.report` with ``as_text`` and ``as_json``."""
    show((view.as_json if as_json else view.as_text)(*content))


def say(text: str) -> None:
    """A line for the user that is no result."""
    click.echo(text, err=True)


def write(path: Path, text: str) -> None:
    """Write a file that a user asked for, and say so on standard error.

    Raises:
        XebenchError: it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise XebenchError(f"{path} cannot be written ({error.strerror}): name another file") from None
    say(f"wrote {path}")


def run_program(command: click.Command, name: str) -> None:
    """Run a command as a program; an error that a user can cause ends in one line and its exit status.

    Args:
        command: the command.
        name: of the program, for its help.
    """
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        status = command.main(prog_name=name, standalone_mode=False)
    except XebenchError as error:
        say(f"xebench: {error}")
        sys.exit(error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else name
        say(f"xebench: {error.format_message().rstrip('.')}: see {where} --help")
        sys.exit(error.exit_code)
    except (OSError, ImportError) as error:
        if os.strerror(errno.EMFILE) not in str(error):  # what loads a library has no number for it
            raise
        say("xebench: it may not open enough files: raise the limit (ulimit -n 1024)")
        sys.exit(XebenchError.exit_code)
    except (click.Abort, KeyboardInterrupt):
        say("xebench: stopped")
        sys.exit(128 + signal.SIGINT)
    sys.exit(status if isinstance(status, int) else 0)
