"""The code that Intel's GPU compiler makes of a pattern's kernels, by the figures that come with xebench.

They are of the project's own patterns, made by ``python -m tools.pages.generated_code_data`` without a GPU.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, Final

#: Headings and columns of the table.
COLUMNS: Final = {
    "SIMD width": "simd_width",
    "registers": "grf_count",
    "spilled bytes": "spill_bytes",
    "SLM bytes": "slm_bytes",
    "instructions": "instructions",
    "global loads": "loads_global",
    "global stores": "stores_global",
    "global atomics": "atomics_global",
    "SLM loads": "loads_slm",
    "SLM stores": "stores_slm",
}
#: GPUs that are shown: Max and Arc.
_GPUS: Final = ("pvc", "dg2")


def compiler() -> str:
    """The compiler that made them, the newest of those that did."""
    newest = read()[-1]
    return f"ocloc {newest['version']}"


def figures(pattern: str) -> list[tuple[str, str, str, Sequence[Any]]]:
    """Variant, kernel, GPU and the cells of `COLUMNS`, of each kernel of a pattern that compiled."""
    return [
        (row["variant"], row["kernel"], row["gpu"], [row[column] for column in COLUMNS.values()])
        for row in _rows().get(pattern, [])
    ]


@cache
def _rows() -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in read()[-1]["rows"]:
        if row["status"] == "ok" and row["gpu"] in _GPUS:
            found.setdefault(row["pattern"], []).append(row)
    return found


@cache
def read() -> list[Mapping[str, Any]]:
    """The kept results, a compiler each, oldest first."""
    # data of the room above, not its code
    text = resources.files("xebench").joinpath("isa", "data", "isa_suite.json").read_text(encoding="utf-8")
    data: list[Mapping[str, Any]] = json.loads(text)
    return data
