"""Keeps the rows that a family sends, and names its functions in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from xebench.measuring.messages import TableRows
from xebench.system.runtime import DeviceInfo

#: What stands where a run has the pattern and its preset.
PATTERN: Final = "functions"
PRESET: Final = "default"


class Rows:
    """Keeps the rows that a `RowStream` makes."""

    def __init__(self) -> None:
        self._rows: dict[str, list[Mapping[str, Any]]] = {"samples": [], "events": [], "machine": []}

    def send(self, message: TableRows, /) -> None:
        """Keep some rows."""
        self._rows[message.table] += message.rows

    def of(self, table: str) -> list[Mapping[str, Any]]:
        """The rows of a table."""
        return self._rows[table]


def case_id(name: str, device: DeviceInfo) -> str:
    """The key of a function."""
    return f"{PATTERN}/{name}/{PRESET}/-/{device.device_class}"


def family_id(device: DeviceInfo) -> str:
    """The key of all functions of a comparison."""
    return f"{PATTERN}/{PRESET}/-/{device.device_class}"
