"""Which variant of a family the others are compared with: one rule for running, tables and generated code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

#: Roles of a baseline: the first of them that a family has.
BASELINE_ROLES: Final = ("naive", "baseline", "antipattern")

T = TypeVar("T")


def find_baseline(members: Iterable[T], role: Callable[[T], str]) -> T | None:
    """The first member with the best of ``BASELINE_ROLES``, or None.

    Args:
        members: variants of one family, or their rows.
        role: of a member.
    """
    candidates = [member for member in members if role(member) in BASELINE_ROLES]
    return min(candidates, key=lambda member: BASELINE_ROLES.index(role(member)), default=None)
