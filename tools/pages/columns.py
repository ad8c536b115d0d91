"""Every table and column of a run, with its unit and meaning: ``python -m tools.pages.columns > docs/data.md``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from xebench.report.table_forms import fill, table
from xebench.tables import SCHEMA_VERSION, TABLES
from xebench.tables.schema import DERIVED, MEASURED

#: What a row of each table is.
ROWS: Final = {
    "devices": "A device that the run used, with its measured roofs and the instrument's own error.",
    "cases": "A variant at a point of its parameters: what was to be measured, and what became of it.",
    "samples": "One execution that was timed, or one stage of a compilation (`state` is compile).",
    "events": "What the session recorded of one execution: a command of the device, or a call of the host.",
    "machine": "The state of the machine over a range of samples.",
    "checks": "A check of a variant's results, and the samples that it speaks for.",
    "summaries": "What analysis makes of a case in one state of the caches.",
    "pairs": "What analysis makes of a variant and what it is compared with: the speed-up and the answer.",
    "comparisons": "A case of two runs, by its times: `run.compare(later)`.",
    "pair_comparisons": "A pair of two runs, by its speed-ups and answers: `run.compare(later, on='speedup')`.",
}


def markdown() -> str:
    """The page."""
    page = fill(__package__, "columns.md.j2", version=SCHEMA_VERSION, parts=[_part(name) for name in TABLES])
    return re.sub(r"\n{3,}", "\n\n", page).rstrip("\n") + "\n"


def _part(name: str) -> dict[str, str]:
    kind = "measured" if name in MEASURED else "computed, and kept" if name in DERIVED else "computed when asked for"
    lines = table(("column", "type", "unit", "null", "meaning"), _cells(name))
    return {"name": name, "row": ROWS[name], "kind": kind, "table": "\n".join(lines)}


def _cells(name: str) -> Iterator[tuple[str, str, str, str, str]]:
    for column in TABLES[name].values():
        yield f"`{column.name}`", column.dtype, column.unit, "never" if column.required else "may be", column.meaning


if __name__ == "__main__":
    print(markdown(), end="")
