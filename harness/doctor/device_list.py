"""The devices of this machine, listed in a process of its own: ``python -m harness.doctor.device_list`` prints JSON."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from harness.children.ask import leave
from harness.errors import XebenchError
from harness.runtime import list_devices


def main() -> int:
    """Print all devices as a JSON list; on an error one line on standard error and its exit status."""
    try:
        print(json.dumps([asdict(device) for device in list_devices()]))
    except XebenchError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    leave(main())
