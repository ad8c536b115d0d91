"""Print the declarations of one pattern file as JSON, read with the real packages: ``python -m ... FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness import runtime
from harness.children.ask import answer
from harness.patterns.declaration import describe
from harness.patterns.registry import load_file


def _declarations(arguments: list[str]) -> list[dict[str, Any]]:
    runtime.load()
    (path,) = arguments
    return [describe(pattern).to_json() for pattern in load_file(Path(path))]


if __name__ == "__main__":
    answer(_declarations)
