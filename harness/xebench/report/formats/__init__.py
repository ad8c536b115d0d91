"""The formats of a run's report: each module here is one, with ``render(run) -> str``.

It is named as the format, with ``_`` where that has ``-``. Two modules have several formats, each with a function.
A module is imported when its format is used, so that the names alone cost nothing.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from xebench.results import Run


#: Formats that share a module: its name. Their functions are ``render_csv`` and so on.
_SHARED: Final = {
    **dict.fromkeys(("markdown", "text"), "human_readable"),
    **dict.fromkeys(("csv", "json", "pytest-benchmark"), "machine_readable"),
    **dict.fromkeys(("github-action-benchmark", "github-action-speedups"), "machine_readable"),
}


def names() -> list[str]:
    """All formats, in alphabetical order."""
    modules = {file.stem for file in Path(__file__).parent.glob("[!_]*.py")} - {*_SHARED.values()}
    return sorted((*(module.replace("_", "-") for module in modules), *_SHARED))


def render(run: Run, name: str, **options: Any) -> str:
    """A run in the format of that name, without a newline at the end.

    Args:
        run: any run.
        name: name of the format.
        options: further arguments of that format.
    """
    own = name.replace("-", "_")
    module, function = (_SHARED[name], f"render_{own}") if name in _SHARED else (own, "render")
    return str(getattr(import_module(f"{__name__}.{module}"), function)(run, **options))


__all__ = ["human_readable"]
