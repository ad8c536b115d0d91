"""The code of a pattern, shown only if the program at hand is the one that was measured."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from xebench.errors import XebenchError
from xebench.patterns import reading
from xebench.patterns.declaration import PatternInfo
from xebench.patterns.registry import discover
from xebench.report.result_rows import text


class SourcePrograms:
    """The patterns at hand: the project's own, and files of the user's that this machine has read before.

    Nothing that a run folder names is executed or shown: what is kept of a file of the user's must have its hash.
    """

    def __init__(self) -> None:
        try:
            self._builtin = {info.name: info for info in discover()}
        except XebenchError:  # on a machine that cannot read patterns a run can be looked at all the same
            self._builtin = {}

    def today(self, case: Mapping[str, Any]) -> PatternInfo | None:
        """The present declaration of a pattern, even if it is not the one that was measured; None without one.

        Args:
            case: a row of the table `cases`.
        """
        pattern, source = case["pattern"], _file(case)
        if Path(source).is_absolute():
            return next((info for info in _kept(source) if info.name == pattern), None)
        return self._builtin.get(pattern)

    def measured(self, case: Mapping[str, Any]) -> PatternInfo | None:
        """The program of a row of `cases`, where it is still the one at hand."""
        info = self.today(case)
        known = text(case["source_sha256"])
        return info if info and known and info.source_sha256 == known else None

    def obstacle(self, case: Mapping[str, Any]) -> str:
        """Why there is no code to show of a row of `cases`; "" where there is."""
        if self.measured(case):
            return ""
        if not self.today(case):
            return "the pattern's file is not at hand, so its code is not shown"
        if not text(case["source_sha256"]):
            return "older program: the run keeps no hash of its files, so the code that was measured is not known"
        return "older program: the pattern's file has changed since it was measured, so its code is not shown"


@cache
def _kept(source: str) -> tuple[PatternInfo, ...]:
    path = Path(source)
    return tuple(info for info in reading.remembered([path]) if reading.is_as_declared(info))


def _file(case: Mapping[str, Any]) -> str:
    """``cases.source`` without the line."""
    file, _, line = text(case["source"]).rpartition(":")
    return file if line.isdecimal() else text(case["source"])
