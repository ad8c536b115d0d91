"""The doctor's child, since a bad driver may abort or hang: ``python -m harness.doctor devices`` prints JSON.

``python -m harness.doctor self-test FILTER`` prints the failures of a device's self-test as a JSON list.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

from harness import runtime
from harness.children.ask import leave
from harness.errors import XebenchError


def devices() -> list[dict[str, Any]]:
    """Every device that can be measured."""
    return [asdict(device) for device in runtime.list_devices()]


def self_test(device: str) -> list[str]:
    """What a device computes wrong."""
    runtime.load()
    from harness.doctor.self_test_kernels import run_checks

    return run_checks(device)


def main(request: str, *arguments: str) -> int:
    """Print the answer as JSON; on an error one line on standard error, and its exit status."""
    try:
        print(json.dumps(self_test(*arguments) if request == "self-test" else devices()))
    except XebenchError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    leave(main(*sys.argv[1:]))
