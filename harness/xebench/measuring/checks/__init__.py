"""Checks of each checked call of a variant whose finding is a column of the table `cases`.

Each module here is one, with ``find(before, one) -> value``; it is named as the column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xebench.measuring.array_check import ArrayCheck
    from xebench.measuring.place import Checked, Started


@dataclass(frozen=True)
class CheckedCall:
    """A call of a variant, with the comparison of its results.

    Attributes:
        call: the first call in an instance, or one among or after the samples.
        compared: comparison of each array; empty where none are compared.
        error_ulp: largest error of its results against a reference in higher precision; None without one.
    """

    call: Started | Checked
    compared: Sequence[ArrayCheck] = ()
    error_ulp: float | None = None

    @property
    def is_right(self) -> bool:
        """True if results were compared and none is wrong."""
        return bool(self.compared) and not any(each.fault for each in self.compared)


def find_all(facts: dict[str, Any], one: CheckedCall) -> None:
    """Bring the finding of each check up to date.

    Args:
        facts: findings of the calls before, by column; changed in place.
        one: the call.
    """
    for name, find in _checks().items():
        facts[name] = find(facts.get(name), one)


@cache
def _checks() -> dict[str, Callable[[Any, CheckedCall], Any]]:
    names = sorted(file.stem for file in Path(__file__).parent.glob("[!_]*.py"))
    return {name: import_module(f"{__name__}.{name}").find for name in names}


__all__ = ["CheckedCall", "find_all"]
