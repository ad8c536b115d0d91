"""Print the declarations of one pattern file as JSON, read with the real packages: ``python -m ... FILE``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from harness import runtime
from harness.errors import XebenchError
from harness.patterns.declaration import describe
from harness.patterns.registry import load_file


def main(path: str) -> int:
    """Print one JSON list; on an error one line on standard error and its exit status."""
    try:
        runtime.load()
        print(json.dumps([describe(pattern).to_json() for pattern in load_file(Path(path))]))
    except XebenchError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
