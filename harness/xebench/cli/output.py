"""Shared output of all commands: print results, write files, and end with one line after a user's error.

Imports click and nothing heavy.
"""

from __future__ import annotations

import errno
import io
import os
import re
import shutil
import signal
import sys
import textwrap
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from xebench.errors import XebenchError, describe_error, escape_controls, from_here, suggestion

if TYPE_CHECKING:
    from xebench.report import View

#: Colours of a terminal, which `xebench.report.console` adds to a text.
_COLOUR = re.compile(r"(\x1b\[[0-9;]*m)")


def show(text: str, *, coloured: bool = False) -> None:
    """Print a result, or write it to the file of ``--output``.

    If the reader of standard output is gone, the command goes on to its exit status.

    Args:
        text: the result; characters that a terminal would obey are shown instead.
        coloured: True if the text has the colours of `xebench.report.console`, which stay.

    Raises:
        XebenchError: the file, or the one that standard output is, cannot be written.
    """
    parts = _COLOUR.split(text) if coloured else [text]
    parts[::2] = map(escape_controls, parts[::2])
    file = result_file()
    if file is not None:
        write(file, "".join(parts[::2]).rstrip("\n") + "\n")
        return
    if sys.__stdout__ is None:
        raise _unprintable(OSError(errno.EBADF, "standard output is closed"))
    try:
        click.echo("".join(parts))
    except OSError as error:
        unprintable = _unprintable(error)
        if isinstance(error, BrokenPipeError):
            return
        raise unprintable from None


def _unprintable(error: OSError) -> XebenchError:
    """The error for a standard output that cannot be written; what is left in its buffer is dropped."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return XebenchError(f"the result cannot be printed ({error.strerror}): redirect it elsewhere")


def show_view(view: ModuleType | View, form: str, *content: Any) -> None:
    """Print a result by a view of `xebench.report` in one of the forms of `xebench.report.table_forms`; see `show`."""
    if form == "text":  # without a further import, so that text shows at once
        show(view.as_text(*content))
        return
    from xebench.report.table_forms import render

    show(render(view, form, *content))


def result_file() -> Path | None:
    """The file of ``--output``, in which a command shows its result; None: standard output."""
    file: Path | None = _asked("result_file")
    return file


def is_quiet() -> bool:
    """True if the command was asked to be quiet."""
    return bool(_asked("quiet"))


def _asked(name: str) -> Any:
    """The value of an option of `xebench.cli.options` that every command may have."""
    context = click.get_current_context(silent=True)
    return context.meta.get(f"xebench.{name}") if context else None


def say(text: str) -> None:
    """Print a notice on standard error, unless the command was asked to be quiet."""
    if not is_quiet():
        warn(text)


def warn(text: str) -> None:
    """Print what went wrong on standard error, as one line; a terminal wraps it between words."""
    line = from_here(escape_controls(text).replace("\n", " "))
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        line = textwrap.fill(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    click.echo(line, err=True)


@contextmanager
def blaming(run: Path) -> Iterator[None]:
    """Name the cause of an unexpected error while a run is shown: xebench, or damage that reading does not find.

    The traceback goes to standard error. Reading a table raises `RunFolderError` for damage that it finds.

    Raises:
        XebenchError: an error was raised that is not ours.
    """
    try:
        yield
    except (XebenchError, OSError):
        raise
    except Exception as error:
        click.echo(escape_controls("".join(traceback.format_exception(error))), err=True, nl=False)
        raise XebenchError(
            f"a bug of xebench, or damage of {run} ({describe_error(error)}): report the traceback above; every "
            "measurement is kept"
        ) from error


def write(path: Path, text: str) -> None:
    """Write a file that a user named, and say so on standard error. A link is not followed.

    Raises:
        XebenchError: it cannot be written.
    """
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace", opener=_no_link) as file:
            file.write(text)
    except OSError as error:
        why = "it is a link" if error.errno == errno.ELOOP else error.strerror
        raise XebenchError(f"{path} cannot be written ({why}): name another file") from None
    say(f"wrote {path}")


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


class _Lossy(io.FileIO):
    """A file that loses what cannot be written: the disk is full, or the reader is gone."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


def _open_streams() -> None:
    """Give the command streams where a shell has closed them, and let no measurement end for a lost notice."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 until the process ends
    errors = sys.__stderr__
    if errors is not None and sys.stderr is errors:
        own = io.BufferedWriter(_Lossy(errors.fileno(), "w", closefd=False))
        sys.stderr = io.TextIOWrapper(own, errors.encoding, errors.errors, line_buffering=True)


def _refuse_other_encodings() -> None:
    """Refuse arguments, and a working directory, that are not UTF-8: tables and messages could not hold them."""
    for text in (*sys.argv[1:], *([str(Path.cwd())] if Path().is_dir() else [])):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise XebenchError(f"{text!a} is not UTF-8: rename it, or work in another folder") from None


#: Characters of a path in a message.
_SHOWN: Final = 200
#: Advice on paths that the system refuses.
_OF_PATHS: Final = (errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ENOTDIR, errno.ELOOP)


class Terminated(SystemExit):
    """A signal ends the program, which on its way out ends the processes that it has started."""


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated(128 + number)


def _nearest_choice(error: click.UsageError) -> str:
    """A suggestion after a wrong value of an option; "" if no value of the option looks like it."""
    wrong = re.match(r"'(.*)' is not one of ", error.message)
    kind = error.param.type if isinstance(error, click.BadParameter) and error.param else None
    if not wrong or not isinstance(kind, click.Choice):
        return ""
    advice = suggestion(wrong[1], map(str, kind.choices), "none")
    return "" if advice == "none" else f"; {advice}"


def run_program(command: click.Command, name: str) -> None:
    """Run a command as a program; an error that a user can cause ends in one line and its exit status.

    Args:
        command: the command.
        name: name of the program in its help.
    """
    signal.signal(signal.SIGTERM, _terminate)
    _open_streams()
    try:
        _refuse_other_encodings()
        status = command.main(prog_name=name, standalone_mode=False)
    except XebenchError as error:
        warn(f"xebench: {error}")
        sys.exit(error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else name
        told = f"{error.format_message().rstrip('.')}{_nearest_choice(error)}"
        warn(f"xebench: {told}{' See' if told.endswith('?') else ': see'} {where} --help")
        sys.exit(error.exit_code)
    except (OSError, ImportError) as error:
        if os.strerror(errno.EMFILE) in str(error):  # an error of loading a library has no errno
            warn("xebench: too many files are open: raise the limit (ulimit -n 1024)")
        elif isinstance(error, OSError) and error.errno in _OF_PATHS and error.filename:
            where = str(error.filename)
            warn(f"xebench: {error.strerror}: {where[:_SHOWN]}{'...' if len(where) > _SHOWN else ''}: name another")
        elif isinstance(error, OSError) and error.errno == errno.ENOSPC and not error.filename:
            warn(f"xebench: {_unprintable(error)}")
        else:
            raise
        sys.exit(XebenchError.exit_code)
    except Terminated as stop:
        warn("xebench: stopped by SIGTERM")
        sys.exit(stop.code)
    except (click.Abort, KeyboardInterrupt):
        warn("xebench: stopped")
        sys.exit(128 + signal.SIGINT)
    sys.exit(status if isinstance(status, int) else 0)
