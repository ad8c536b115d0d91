"""Errors a user can cause: one line that names the cause and the next step, and an exit status."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from numba_sycl.errors import BrokenEnvironment, Refused, Unsupported, suggestion
from numba_sycl.errors import UserError as XebenchError

__all__ = [
    "BrokenEnvironment",
    "NoDevice",
    "PatternError",
    "Refused",
    "RunFolderError",
    "SharedModule",
    "TooLarge",
    "Unsupported",
    "XebenchError",
    "describe_error",
    "escape_controls",
    "first_line",
    "from_here",
    "suggestion",
    "whole_text",
]

#: Characters of an error's text that are shown: the compiler's own messages fit.
_LONGEST: Final = 500

#: What a terminal obeys, or hides, instead of showing it: control characters but for tabs and newlines, characters
#: without a shape, halves of characters, and those that turn the direction of writing.
_UNSHOWN: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def escape_controls(text: str) -> str:
    """A text with every character that a terminal would obey or hide written as JSON has it.

    So a text that is JSON means the same as before. Tabs and newlines stay.
    """
    return _UNSHOWN.sub(_as_json, text)


def _as_json(match: re.Match[str]) -> str:
    import json  # few texts need it, and `xebench list` would take longer

    return json.dumps(match[0])[1:-1]


def whole_text(error: BaseException) -> str:
    """All that an error says, without what a terminal would obey."""
    try:
        text = str(error).strip()
    except Exception:
        return "an error that cannot say what it is"
    return escape_controls(text.encode(errors="replace").decode())


def first_line(error: BaseException) -> str:
    """The first line of an error's message, shortened if very long.

    A line that ends with a colon is joined with the next one: MKL's errors name the call first.
    """
    line, _, rest = whole_text(error).partition("\n")
    while line.rstrip().endswith(":") and rest:
        following, _, rest = rest.partition("\n")
        line = f"{line.rstrip()} {following.strip()}"
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


def from_here(text: str) -> str:
    """A text whose paths below the working directory are relative to it."""
    with suppress(OSError):  # it was removed
        return text.replace(f"{Path.cwd()}/", "")
    return text


def some_of(names: Sequence[str], most: int = 3) -> str:
    """The first names, and how many more there are: ``a, b, c and 4 more``."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def describe_error(error: BaseException) -> str:
    """An error that is not ours in one line: its type, and what it says if it says anything."""
    return ": ".join(filter(None, (type(error).__name__, first_line(error))))


class NoDevice(XebenchError):
    """No SYCL device here fits the request."""

    exit_code = 3


class RunFolderError(XebenchError):
    """A run folder is missing, damaged, or of a newer schema."""


class PatternError(XebenchError):
    """A pattern file breaks a rule of the declarative API."""


class SharedModule(PatternError):
    """Two revisions differ in a module that one process cannot have twice, so they are not compared."""

    exit_code = 6


class TooLarge(Refused):
    """The device's memory is too small for a problem."""
