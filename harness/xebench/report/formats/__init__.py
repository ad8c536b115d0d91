"""The formats of a run's report: each module here is one, with ``render(run) -> str``.

It is named as the format, with ``_`` where that has ``-``.
A module is imported when its format is used, so that the names alone cost nothing.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xebench.tables import Run


def names() -> list[str]:
    """All formats, in alphabetical order."""
    return sorted(file.stem.replace("_", "-") for file in Path(__file__).parent.glob("[!_]*.py"))


def render(run: Run, name: str, **options: Any) -> str:
    """A run in the format of that name, without a newline at the end.

    Args:
        run: any run.
        name: of the format.
        options: what that format takes besides.
    """
    return str(import_module(f"{__name__}.{name.replace('-', '_')}").render(run, **options))


__all__ = ["text"]
