"""Look-ups and calls that are made when somebody asks for what they give."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


class Later:
    """What a look-up or a call will give."""

    def __init__(self, resolve: Callable[[], Any]) -> None:
        self._resolve = resolve

    def __getattr__(self, name: str) -> Later:
        if name.startswith("__"):  # Python's own, such as the code of a function: it has none
            raise AttributeError(name)
        return Later(lambda: getattr(self._resolve(), name))

    def __call__(self, *arguments: Any, **options: Any) -> Later:
        def resolve() -> Any:
            given = {name: resolved(value) for name, value in options.items()}
            return self._resolve()(*map(resolved, arguments), **given)

        return Later(resolve)


def resolved(value: Any) -> Any:
    """The thing itself."""
    return value._resolve() if isinstance(value, Later) else value


def module(name: str) -> Later:
    """A module by its full name."""
    return Later(lambda: import_module(name))
