"""Findings of an examination: one statement, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["ok", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        topic: ``python``, ``packages``, ``runtime``, ``opencl``, ``level zero`` or ``devices``.
        status: ``ok``, ``warning`` (usable all the same) or ``error``.
        title: what was looked at, in a few words.
        detail: what was found, one line.
        next_step: what mends it, one line; empty if there is nothing to do.
    """

    topic: str
    status: Severity
    title: str
    detail: str
    next_step: str = ""

    def as_line(self) -> str:
        """The finding as the one line of an error message."""
        line = f"{self.title}: {self.detail}"
        return f"{line}: {self.next_step}" if self.next_step else line
