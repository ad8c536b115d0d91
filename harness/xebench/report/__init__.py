"""Text for people: the formats of a run's report (`xebench.report.formats`), and a view of everything else.

Nothing here measures or judges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

__all__ = [
    "View",
    "claims_text",
    "comparison",
    "console",
    "formats",
    "lesson_text",
    "line_diff",
    "remarks",
    "result_rows",
    "table_forms",
    "trace_events",
    "units",
]


class View(NamedTuple):
    """The functions that show a command's result, if several views share a module; a module can be a view, too.

    Attributes:
        as_text: lines and tables for a terminal.
        as_json: everything, for programs.
        ROWS: entry of the JSON that lists the rows; "" where the JSON itself does.
        SHOWN: columns of its Markdown table; none: all.
    """

    as_text: Callable[..., str]
    as_json: Callable[..., str]
    ROWS: str = ""
    SHOWN: Sequence[str] = ()
